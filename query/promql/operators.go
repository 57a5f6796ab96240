package promql

import (
	"context"
	"slices"

	common "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/schema"

	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// operatorOf returns the node of an operator between two vectors, nil for other expressions.
func operatorOf(expr parser.Expr) *node {
	e, ok := expr.(*parser.BinaryExpr)
	if !ok || e.LHS.Type() != parser.ValueTypeVector || e.RHS.Type() != parser.ValueTypeVector ||
		e.VectorMatching.FillValues.LHS != nil || e.VectorMatching.FillValues.RHS != nil ||
		!e.Op.IsSetOperator() && columns.Operator(e.Op, e.ReturnBool) == nil {
		return nil
	}
	if left, right := nodeOf(e.LHS), nodeOf(e.RHS); left != nil && right != nil {
		return &node{operator: e, left: left, right: right}
	}
	return nil
}

// operation is an operator between the results of two nodes. Series match as a whole where the engine matches at each
// time: where that may differ, as between series of a group that follow one another, errSameLabels leaves it to the
// engine.
type operation struct {
	*parser.BinaryExpr
	source  *source
	builder *labels.Builder
	buffer  []byte
	names   []string // of the labels that match, or that do not
	result  *computed
	known   map[uint64]bool // labels of results, by hash
}

func (s *source) operate(ctx context.Context, e *parser.BinaryExpr, left, right *computed) (*computed, error) {
	o := &operation{BinaryExpr: e, source: s, builder: labels.NewBuilder(labels.EmptyLabels()),
		known:  map[uint64]bool{},
		names:  slices.Clone(e.VectorMatching.MatchingLabels),
		result: &computed{at: left.at, series: left.series + right.series, used: left.used + right.used}}
	if !e.VectorMatching.On {
		o.names = append(o.names, common.MetricNameLabel, common.MetricTypeLabel, common.MetricUnitLabel)
	}
	slices.Sort(o.names)
	o.result.notes.Merge(left.notes)
	o.result.notes.Merge(right.notes)
	if e.Op.IsSetOperator() {
		return o.result, o.combine(ctx, left.matrix, right.matrix)
	}
	return o.result, o.match(ctx, left.matrix, right.matrix)
}

// signature returns what matching series have in common.
func (o *operation) signature(of labels.Labels) string {
	if o.VectorMatching.On {
		return string(of.BytesWithLabels(o.buffer, o.names...))
	}
	return string(of.BytesWithoutLabels(o.buffer, o.names...))
}

// match computes arithmetic and comparisons.
func (o *operation) match(ctx context.Context, left, right upstream.Matrix) error {
	many, ones, swapped := left, right, o.VectorMatching.Card == parser.CardOneToMany
	if swapped {
		many, ones = right, left
	}
	bySignature := make(map[string]int, len(ones))
	for i, s := range ones {
		key := o.signature(s.Metric)
		if _, ok := bySignature[key]; ok {
			return errSameLabels
		}
		bySignature[key] = i
	}
	apply := columns.Operator(o.Op, o.ReturnBool)
	matched := map[int]bool{}
	for _, s := range many {
		i, ok := bySignature[o.signature(s.Metric)]
		if !ok {
			continue
		}
		one := ones[i]
		if o.VectorMatching.Card == parser.CardOneToOne && matched[i] {
			return errSameLabels
		}
		matched[i] = true
		var points []upstream.FPoint
		each(s.Floats, one.Floats, func(a, b *upstream.FPoint) {
			if a == nil || b == nil {
				return
			}
			x, y := a.F, b.F
			if swapped {
				x, y = y, x
			}
			if v, ok := apply(x, y); ok {
				points = append(points, upstream.FPoint{T: a.T, F: v})
			}
		})
		if err := o.add(ctx, o.shown(s.Metric, one.Metric), points); err != nil {
			return err
		}
	}
	return nil
}

// shown returns the labels of a result.
func (o *operation) shown(many, one labels.Labels) labels.Labels {
	o.builder.Reset(many)
	if o.ReturnBool || !o.Op.IsComparisonOperator() {
		schema.Metadata{}.SetToLabels(o.builder)
	}
	if o.VectorMatching.Card == parser.CardOneToOne {
		if o.VectorMatching.On {
			o.builder.Keep(o.VectorMatching.MatchingLabels...)
		} else {
			o.builder.Del(o.VectorMatching.MatchingLabels...)
		}
	}
	for _, name := range o.VectorMatching.Include {
		o.builder.Set(name, one.Get(name)) // "" deletes
	}
	return o.builder.Labels()
}

// combine computes and, or, unless.
func (o *operation) combine(ctx context.Context, left, right upstream.Matrix) error {
	first, second := left, right // those of second are there, or not, where first is
	if o.Op == parser.LOR {
		first, second = right, left
		for _, s := range left {
			if err := o.add(ctx, s.Metric, slices.Clone(s.Floats)); err != nil {
				return err
			}
		}
	}
	present := map[string][]upstream.FPoint{}
	for _, s := range second {
		key := o.signature(s.Metric)
		present[key] = union(present[key], s.Floats)
	}
	for _, s := range first {
		var points []upstream.FPoint
		each(s.Floats, present[o.signature(s.Metric)], func(a, b *upstream.FPoint) {
			if a != nil && (b != nil) == (o.Op == parser.LAND) {
				points = append(points, *a)
			}
		})
		if err := o.add(ctx, s.Metric, points); err != nil {
			return err
		}
	}
	return nil
}

// add adds a series to the result.
func (o *operation) add(ctx context.Context, shown labels.Labels, points []upstream.FPoint) error {
	hash := shown.Hash()
	if o.known[hash] {
		return errSameLabels
	}
	o.known[hash] = true
	if len(points) == 0 {
		return nil
	}
	if err := o.source.chargePoints(ctx, &o.result.points, len(points)); err != nil {
		return err
	}
	o.result.matrix = append(o.result.matrix, upstream.Series{Metric: shown, Floats: points})
	return nil
}

// union returns points at the times of either.
func union(a, b []upstream.FPoint) []upstream.FPoint {
	if len(a) == 0 {
		return b
	}
	all := make([]upstream.FPoint, 0, len(a)+len(b))
	each(a, b, func(a, b *upstream.FPoint) {
		if a == nil {
			a = b
		}
		all = append(all, *a)
	})
	return all
}

// each calls use at all times of a or b, with nil for the one that has no point then.
func each(a, b []upstream.FPoint, use func(a, b *upstream.FPoint)) {
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].T < b[0].T:
			use(&a[0], nil)
			a = a[1:]
		case len(a) == 0 || b[0].T < a[0].T:
			use(nil, &b[0])
			b = b[1:]
		default:
			use(&a[0], &b[0])
			a, b = a[1:], b[1:]
		}
	}
}
