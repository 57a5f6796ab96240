package gpu

// Poison makes the device fill with rubbish whatever kernels are to write, before they do.
func (r *Resampler) Poison() { r.poison = true }

// WalkFrom walks granularities of shorter groups together, too.
func (r *Resampler) WalkFrom(measures int) { r.walkFrom = measures }

// Architecture makes the correlator use kernels for compute capabilities up to this major number.
func (c *Correlator) Architecture(major int) { c.most = major }

// CorrelatorArchitecture is the major number of the compute capability whose kernels a device takes.
func CorrelatorArchitecture(p Properties, most int) int { return correlImageFor(&p, most).major }
