package sketch

// RelativeError is relativeError.
const RelativeError = relativeError

// Of returns the sketch of values.
func Of(values []float64) Sketch { return Sketch(new(Encoder).Append(nil, values)) }
