package carbonara

// SketchOf returns the sketch of values.
func SketchOf(values []float64) Sketch { return Sketch(new(sketcher).appendSketch(nil, values)) }
