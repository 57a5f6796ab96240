package promql

import (
	"math"
	"slices"
	"unsafe"

	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/carbonara"
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

// quantileOverShares is quantileFunction as the engine calls it. Without shares it is the engine's own.
func quantileOverShares(vectors []upstream.Vector, matrix upstream.Matrix, args parser.Expressions,
	enh *upstream.EvalNodeHelper) (upstream.Vector, annotations.Annotations) {
	it := iteratorOf(args)
	if it == nil || len(it.shares) == 0 || len(matrix) == 0 || len(matrix[0].Floats) == 0 {
		return plainCalls[quantileFunction](vectors, matrix, args, enh)
	}
	// The engine asks for a range of samples, whose values are their places.
	from := int(matrix[0].Floats[0].F)
	q := vectors[0][0].F
	return append(enh.Out, upstream.Sample{F: quantile(q, it.shares[from:from+len(matrix[0].Floats)])}),
		noteQuantile(q, args[0].PositionRange())
}

// noteQuantile warns of a quantile that is none, as the engine does.
func noteQuantile(q float64, at posrange.PositionRange) (notes annotations.Annotations) {
	if !(q >= 0 && q <= 1) {
		notes.Add(annotations.NewInvalidQuantileWarning(q, at))
	}
	return notes
}

// combiningShares returns the quantile over ranges of an iterator that has shares.
func combiningShares(it *iterator, q float64) func(columns.Window) float64 {
	return func(w columns.Window) float64 { return quantile(q, it.shares[w.From:w.To]) }
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
		return quantileOfValues(q, values)
	}
	for _, v := range values {
		d.AddValue(v)
	}
	return d.Quantile(q)
}

// quantileOfValues is the engine's quantile, to the last bit.
func quantileOfValues(q float64, values []float64) float64 {
	slices.Sort(values)
	rank := q * float64(len(values)-1)
	low := math.Floor(rank)
	weight := rank - low
	if weight == 0 {
		return values[int(low)]
	}
	return float64(values[int(low)]*(1-weight)) + float64(values[min(int(low)+1, len(values)-1)]*weight)
}

// addShare is add for shares.
func (it *iterator) addShare(t int64, s share) {
	if it.plain {
		it.add(t, s.value)
		return
	}
	it.sketchBytes += len(s.sketch)
	it.shares = set(it.shares, it.place(t), s)
}

// appendSketches makes samples of groups' sketches; inside reports whether a time is asked for.
func (s *series) appendSketches(it *iterator, groups *carbonara.Groups, p part, inside func(int64) bool) {
	leftOut := false
	for i, start := range groups.Starts {
		t := milliseconds(start.Add(p.granularity))
		switch sketch := groups.Sketch(i); {
		case !inside(t):
		case sketch == "":
			leftOut = true
		default:
			it.addShare(t, share{sketch: sketch})
		}
	}
	if leftOut {
		s.noteLeftOut(carbonara.SketchMethod.String())
	}
}
