package carbonara

// SketchOf returns the sketch of values.
func SketchOf(values []float64) Sketch { return Sketch(new(sketcher).appendSketch(nil, values)) }

// Sketcher makes sketches in memory of its own.
type Sketcher struct{ sketcher }

// AppendSketch appends the sketch of values.
func (s *Sketcher) AppendSketch(dst []byte, values []float64) []byte {
	return s.appendSketch(dst, values)
}
