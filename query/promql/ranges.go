package promql

import (
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// samples returns an iterator's samples as pipelines have them.
func (it *iterator) samples(of labels.Labels, p *columns.Pipeline) *columns.Samples {
	s := &columns.Samples{Labels: of, Times: it.times, Begins: it.begins, Values: it.values}
	switch {
	case len(it.moments) > 0:
		s.Combine = combining(it, p.Function())
	case len(it.counts) > 0:
		s.Combine = combiningCounters(it, s, p.Function(), p.Range)
	case len(it.shares) > 0:
		s.Combine = combiningShares(it, p)
	}
	return s
}

// mark chooses what the engine sees of a range that needs more than the values of samples: a mark at each time of the
// function at which its range touches a sample. The function then goes to the samples themselves.
func (sel *selection) mark(it *iterator) {
	repeats := false
	for i := 1; i < len(it.times) && !repeats; i++ {
		repeats = it.times[i] == it.times[i-1]
	}
	if sel.length == 0 || sel.function == "" || sel.extended || !repeats && it.begins == nil &&
		len(it.moments)+len(it.counts)+len(it.shares) == 0 && (it.native == nil || !it.native.grouped) {
		return
	}
	first, step := sel.first, max(sel.step, 1)
	if sel.offset != nil {
		if ahead := (first + *sel.offset) % step; ahead > 0 {
			first += step - ahead
		}
	}
	of, c := columns.Samples{Times: it.times, Begins: it.begins}, columns.Cursor{}
	it.marks = make([]int64, 0, (sel.end-first)/step+1)
	for t := first; t <= sel.end; t += step {
		if _, ok := c.Window(&of, t-sel.length, t, t); ok {
			it.marks = append(it.marks, t)
		}
	}
}

// ranged is a function over the ranges of an iterator that has marks.
type ranged struct {
	memory  columns.Scratch
	samples *columns.Samples
	of      func(parameters []upstream.Vector, end, now int64) float64
}

// overRanges returns a function over ranges as the engine calls it. Of samples with marks it is that of pipelines, and
// of others the engine's own.
func overRanges(name string, plain upstream.FunctionCall) upstream.FunctionCall {
	return func(vectors []upstream.Vector, matrix upstream.Matrix, args parser.Expressions,
		enh *upstream.EvalNodeHelper) (upstream.Vector, annotations.Annotations) {
		ranges, sel := selectionOf(args)
		if sel == nil || sel.current == nil || sel.current.marks == nil || len(matrix) == 0 ||
			len(matrix[0].Floats) == 0 {
			return plain(vectors, matrix, args, enh)
		}
		it, length := sel.current, ranges.Range.Milliseconds()
		// The value of a mark is its time, which a storage in front of ours may have changed.
		now := enh.Ts + int64(matrix[0].Floats[0].F) - matrix[0].Floats[0].T
		end := now - ranges.VectorSelector.(*parser.VectorSelector).Offset.Milliseconds()
		if it.native != nil {
			return sel.overHistograms(name, end-length, end, plain, vectors, matrix, args, enh)
		}
		if it.ranged == nil {
			p := columns.OfCall(name, args, length)
			it.ranged = &ranged{samples: it.samples(matrix[0].Metric, p)}
			it.ranged.of = p.Ranges(&it.ranged.memory, it.ranged.samples)
		}
		r := it.ranged
		v := r.of(vectors, end, now)
		sel.noteCut(r.samples)
		notes := r.samples.Notes
		if len(it.shares) > 0 {
			notes.Merge(noteQuantile(vectors[0][0].F, args[0].PositionRange()))
		}
		if columns.IsAbsent(v) {
			return enh.Out, notes
		}
		return append(enh.Out, upstream.Sample{F: v}), notes
	}
}

// selectionOf returns the range that a function is called with, and its selection; nil if its samples are not ours.
func selectionOf(args parser.Expressions) (*parser.MatrixSelector, *selection) {
	i := slices.IndexFunc(args, func(e parser.Expr) bool { return e.Type() == parser.ValueTypeMatrix })
	if i < 0 {
		return nil, nil
	}
	ranges, ok := unwrap(args[i]).(*parser.MatrixSelector)
	if !ok {
		return nil, nil
	}
	selector, ok := ranges.VectorSelector.(*parser.VectorSelector)
	if !ok || len(selector.Series) == 0 {
		return nil, nil
	}
	set := selector.UnexpandedSeriesSet
	if wrapper, ok := set.(interface{ Unwrap() storage.SeriesSet }); ok { // another storage in front of ours
		set = wrapper.Unwrap()
	}
	of, ok := set.(interface{ selected() *selection }) // the engine may wrap its series
	if !ok {                                           // of a subquery
		return nil, nil
	}
	return ranges, of.selected()
}

func (s *seriesSet) selected() *selection { return s.selection }
