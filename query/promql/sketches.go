package promql

import (
	"math"
	"unsafe"

	"github.com/prometheus/prometheus/promql/parser/posrange"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/carbonara/ranked"
	"github.com/gnocco-db/gnocco/carbonara/sketch"
	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// quantileFunction is the function over time that sketches answer.
const quantileFunction = "quantile_over_time"

// share is the measures of a group, or one measure.
type share struct {
	sketch sketch.Sketch // "" for one measure
	value  float64
}

const shareBytes = int(unsafe.Sizeof(share{}))

// noteQuantile warns of a quantile that is none, as the engine does.
func noteQuantile(q float64, at posrange.PositionRange) (notes annotations.Annotations) {
	if !(q >= 0 && q <= 1) {
		notes.Add(annotations.NewInvalidQuantileWarning(q, at))
	}
	return notes
}

// combiningShares returns the quantile over ranges of an iterator that has shares. All groups that a range touches
// count whole.
func combiningShares(it *iterator, p *columns.Pipeline) func(columns.Window) float64 {
	return func(w columns.Window) float64 { return quantile(p.Parameter(), it.shares[w.From:w.To]) }
}

// quantile returns the quantile of all measures of groups: exactly if each is one measure.
func quantile(q float64, shares []share) float64 {
	switch {
	case q != q:
		return q
	case q < 0:
		return math.Inf(-1)
	case q > 1:
		return math.Inf(1)
	}
	var d sketch.Distribution
	values := make([]float64, 0, len(shares))
	for _, s := range shares {
		if s.sketch == "" {
			values = append(values, s.value)
		} else if d.Add(s.sketch) != nil {
			return math.NaN() // a sketch whose split is intact is none that was written
		}
	}
	if len(values) == len(shares) {
		return columns.Quantile(q, values, new(ranked.Values))
	}
	for _, v := range values {
		d.AddValue(v)
	}
	return d.QuantileNaNFirst(q)
}

// addShare is add for shares.
func (it *iterator) addShare(t int64, s share) {
	if it.plain {
		it.add(t, s.value)
		return
	}
	it.sketchBytes += len(s.sketch)
	it.place(t)
	it.shares = append(it.shares, s)
}

// appendSketches makes samples of groups' sketches; inside and begin as in appendMoments.
func (s *series) appendSketches(it *iterator, groups *carbonara.Groups, p part, inside func(int64) bool,
	begin func(carbonara.Timestamp) int64) {
	leftOut := false
	for i, start := range groups.Starts {
		t := milliseconds(start.Add(p.granularity))
		switch sketch := groups.Sketch(i); {
		case !inside(t):
		case sketch == "":
			leftOut = true
		default:
			it.addGroup(t, begin(start))
			it.addShare(t, share{sketch: sketch})
		}
	}
	if leftOut {
		s.noteLeftOut(carbonara.SketchMethod.String())
	}
}
