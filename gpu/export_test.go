package gpu

// Poison makes the device fill with rubbish whatever kernels are to write, before they do.
func (r *Resampler) Poison() { r.poison = true }

// WalkFrom walks granularities of shorter groups together, too.
func (r *Resampler) WalkFrom(measures int) { r.walkFrom = measures }
