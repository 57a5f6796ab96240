package carbonara

import (
	"slices"

	"github.com/gnocco-db/gnocco/carbonara/intcodec"
	"github.com/gnocco-db/gnocco/carbonara/sketch"
)

// ColumnSketch is the one column that is no number. Its value of a group is the place of the group's sketch in a list
// beside the columns, so that rows are moved, cut and dropped as those of other columns are. Only copying a row into
// other groups takes the sketch along.

// Sketch returns the sketch of a row, "" if it is not known.
func (g *Groups) Sketch(row int) sketch.Sketch {
	if places := g.Column(ColumnSketch); places != nil {
		return g.sketchAt(places[row])
	}
	return ""
}

func (g *Groups) sketchAt(place float64) sketch.Sketch {
	if i := int(place); place >= 0 && i < len(g.sketches) {
		return g.sketches[i]
	}
	return ""
}

// addSketch returns the value of ColumnSketch for a group with this sketch, "" if it is not known.
func (g *Groups) addSketch(s sketch.Sketch) float64 {
	if s == "" {
		return absent
	}
	g.sketches = append(g.sketches, s)
	g.sketchBytes += sketchHeader + len(s)
	return float64(len(g.sketches) - 1)
}

// SetSketch sets the sketch of a row; "" makes it unknown. Without ColumnSketch it does nothing.
func (g *Groups) SetSketch(row int, s sketch.Sketch) {
	if places := g.Column(ColumnSketch); places != nil {
		places[row] = g.addSketch(s)
	}
}

// taken returns the value that a column of g has for a value of other's.
func (g *Groups) taken(c Column, other *Groups, v float64) float64 {
	if c != ColumnSketch {
		return v
	}
	return g.addSketch(other.sketchAt(v))
}

const sketchHeader = 16

// SketchBytes returns the memory of the sketches.
func (g *Groups) SketchBytes() int { return g.sketchBytes }

// dropSketches forgets sketches of rows that are gone, once most are.
func (g *Groups) dropSketches() {
	if len(g.sketches) <= 2*g.Len()+64 {
		return
	}
	places := g.Column(ColumnSketch)
	had := Groups{sketches: g.sketches}
	g.sketches, g.sketchBytes = make([]sketch.Sketch, 0, g.Len()), 0
	for row, place := range places {
		places[row] = g.addSketch(had.sketchAt(place))
	}
}

// accumulateSketches computes the sketches of all runs.
func (a *arena) accumulateSketches(values []float64, out *Groups) {
	from := 0
	a.sketchBytes, a.sketchEnds = a.sketchBytes[:0], a.sketchEnds[:0]
	for _, end := range a.runEnds {
		a.sketchBytes = a.sketcher.Append(a.sketchBytes, values[from:end])
		a.sketchEnds = append(a.sketchEnds, len(a.sketchBytes))
		from = end
	}
	all, places := sketch.Sketch(a.sketchBytes), out.Column(ColumnSketch)
	out.sketches, out.sketchBytes = make([]sketch.Sketch, 0, len(a.sketchEnds)), 0
	from = 0
	for row, end := range a.sketchEnds {
		places[row] = out.addSketch(all[from:end])
		from = end
	}
}

// combineSketches sets ColumnSketch of dst, whose starts are there, from the groups of the sources: a sketch is unknown
// if one of its groups' is.
func combineSketches(dst *Groups, sources []*Groups) error {
	i, ok := slices.BinarySearch(dst.Columns, ColumnSketch)
	if !ok {
		return nil
	}
	dst.Values[i] = slices.Grow(dst.Values[i][:0], dst.Len())[:dst.Len()]
	var d sketch.Distribution
	rows := make([]int, len(sources))
	for k := range dst.Starts {
		d.Reset()
		known := true
		for j, g := range sources {
			row := rows[j]
			for rows[j] = g.rowsBelow(dst, k, row); row < rows[j]; row++ {
				s := g.Sketch(row)
				if known = known && s != ""; !known {
					continue
				}
				if err := d.Add(s); err != nil {
					return err
				}
			}
		}
		merged := sketch.Sketch("")
		if known {
			merged = d.Sketch()
		}
		dst.SetSketch(k, merged)
	}
	return nil
}

// aggregateSketches appends the p-th percentiles of groups whose sketches are known.
func (g *Groups) aggregateSketches(p int, starts []Timestamp, values []float64) ([]Timestamp, []float64) {
	var d sketch.Distribution
	for row, place := range g.Column(ColumnSketch) {
		s := g.sketchAt(place)
		if d.Reset(); s != "" && d.Add(s) == nil {
			starts, values = append(starts, g.Starts[row]), append(values, d.Percentile(float64(p)))
		}
	}
	return starts, values
}

// sketchCodecs are the codec bytes of ColumnSketch in splits of a version.
var sketchCodecs = [...]byte{splitVersion: codecFloat, splitVectorVersion: codecVectors}

// appendSketches appends the sketches of rows: for each a uvarint with its length, 0 for one that is not known, and its
// bytes.
func appendSketches(dst []byte, g *Groups, places []float64) []byte {
	for _, place := range places {
		s := g.sketchAt(place)
		dst = append(intcodec.AppendUvarint(dst, uint64(len(s))), s...)
	}
	return dst
}

// AppendSketches appends the sketches of all rows, as splits have them.
func (g *Groups) AppendSketches(dst []byte) []byte {
	return appendSketches(dst, g, g.Column(ColumnSketch))
}

// ReadSketches sets the sketches of all rows from the bytes of AppendSketches. An error wraps ErrCorrupt.
func (g *Groups) ReadSketches(src []byte) error {
	places := g.Column(ColumnSketch)
	return g.decodeSketches(places, src, len(places), 0)
}

// decodeSketches fills out with the places of sketches that are added to g: of these groups, which are all of body,
// those from one on.
func (g *Groups) decodeSketches(out []float64, body []byte, groups, from int) error {
	bodies := body
	for row := range groups {
		n, rest, ok := intcodec.ConsumeUvarint(body)
		if !ok || n > uint64(len(rest)) {
			return corrupt("sketch %d of %d", row, groups)
		}
		body = rest[n:]
		if row < from {
			bodies = body
		}
	}
	if len(body) > 0 {
		return corrupt("%d bytes after the last sketch", len(body))
	}
	all := sketch.Sketch(bodies)
	for i := range out {
		n, rest, _ := intcodec.ConsumeUvarint(bodies)
		at := len(all) - len(rest)
		out[i] = g.addSketch(all[at : at+int(n)])
		bodies = rest[n:]
	}
	return nil
}

// CheckSketches decodes the sketch of each row, whose measures the row's count counts. An error wraps ErrCorrupt.
func (g *Groups) CheckSketches() error {
	var d sketch.Distribution
	counts := g.Column(ColumnCount)
	for row, place := range g.Column(ColumnSketch) {
		s := g.sketchAt(place)
		if s == "" {
			continue
		}
		d.Reset()
		if err := d.Add(s); err != nil {
			return err
		}
		if counts != nil && !isAbsent(counts[row]) && float64(d.Count()) != counts[row] {
			return corrupt("sketch of %d measures in a group of %v", d.Count(), counts[row])
		}
	}
	return nil
}
