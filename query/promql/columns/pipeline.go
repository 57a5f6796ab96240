package columns

import (
	"math"
	"slices"

	common "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"
	"github.com/prometheus/prometheus/schema"
)

// Pipeline is a selector, a function over its range, operations on each value, an aggregation and operations on its
// values. All but the selector may be missing.
type Pipeline struct {
	Selector *parser.VectorSelector
	Inner    parser.Expr          // instead of a selector
	Subquery *parser.SubqueryExpr // of Inner, at its own times; nil: Inner is evaluated at the times of the query
	Range    int64                // ms; 0: no range

	call          *parser.Call // over the range
	args          parser.Expressions
	parameters    []float64 // of call, but for the range
	direct        bool      // see Direct
	before, after operations
	aggregation   *parser.AggregateExpr // nil: none
	grouping      []string              // of aggregation, sorted
	most          int                   // series of a group that it chooses; 0: it chooses none
	quantile      float64               // that it is of a group; negative: none
}

// absent is what a row has at times without a value. No operation on numbers gives this NaN.
var absent = math.Float64frombits(value.StaleNaN)

// Absent is the value of a row where there is none.
func Absent() float64 { return absent }

// IsAbsent reports whether a row has no value.
func IsAbsent(v float64) bool { return isAbsent(v) }

func isAbsent(v float64) bool { return math.Float64bits(v) == value.StaleNaN }

// Inner reports whether an expression can be evaluated in the place of a selector; sub: as that of a subquery.
type Inner func(expr parser.Expr, sub bool) bool

// Compile returns the pipeline that an expression is, nil if it is none.
func Compile(expr parser.Expr, inner Inner) *Pipeline {
	switch e := expr.(type) {
	case *parser.ParenExpr:
		return Compile(e.Expr, inner)
	case *parser.VectorSelector:
		if isPlain(e) {
			e.Offset = e.OriginalOffset // as the engine does before it evaluates
			return &Pipeline{Selector: e}
		}
		return nil
	case *parser.Call:
		if p := ofRange(e, inner); p != nil {
			return p
		}
		if p := ofFunction(e, inner); p != nil {
			return p
		}
	case *parser.UnaryExpr:
		if e.Expr.Type() != parser.ValueTypeVector {
			return nil
		}
		if e.Op == parser.SUB {
			return Compile(e.Expr, inner).with(operation{apply: negated, drops: true})
		}
		return Compile(e.Expr, inner)
	case *parser.BinaryExpr:
		if p := ofBinary(e, inner); p != nil {
			return p
		}
	case *parser.AggregateExpr:
		most, quantile := mostOf(e), quantileOf(e)
		if p := Compile(e.Expr, inner); p != nil && p.aggregation == nil && (most > 0 || quantile >= 0 || folds(e.Op)) {
			p.aggregation, p.most, p.quantile, p.grouping = e, most, quantile, slices.Clone(e.Grouping)
			if e.Without {
				p.grouping = append(p.grouping, common.MetricNameLabel, common.MetricTypeLabel, common.MetricUnitLabel)
			}
			slices.Sort(p.grouping)
			return p
		}
		if e.Op != parser.COUNT_VALUES {
			return nil
		}
	}
	if inner(expr, false) {
		return &Pipeline{Inner: expr}
	}
	return nil
}

// IsInner reports whether the pipeline is no more than its inner expression.
func (p *Pipeline) IsInner() bool {
	return p.Inner != nil && p.Subquery == nil && len(p.before) == 0 && p.aggregation == nil
}

// offset returns how many ms earlier the selector or the subquery is asked for.
func (p *Pipeline) offset() int64 {
	switch {
	case p.Selector != nil:
		return p.Selector.Offset.Milliseconds()
	case p.Subquery != nil:
		return p.Subquery.OriginalOffset.Milliseconds()
	}
	return 0
}

// isPlain reports whether a selector has no modifier but an offset. SkipHistogramBuckets is of no account: no sample is
// a histogram.
func isPlain(s *parser.VectorSelector) bool {
	return s.Timestamp == nil && s.StartOrEnd == 0 && !s.Anchored && !s.Smoothed
}

// ofRange returns the pipeline of a function over a range, nil for others.
func ofRange(call *parser.Call, inner Inner) *Pipeline {
	if !overRanges[call.Func.Name] {
		return nil
	}
	p := &Pipeline{call: call, args: call.Args, direct: direct[call.Func.Name]}
	for i, arg := range call.Args {
		if sub, ok := arg.(*parser.SubqueryExpr); ok {
			if !isPlainSubquery(sub) || !inner(sub.Expr, true) {
				return nil
			}
			p.Inner, p.Subquery, p.Range, p.args = sub.Expr, sub, sub.Range.Milliseconds(), slices.Clone(call.Args)
			// as the engine has it
			p.args[i] = &parser.MatrixSelector{Range: sub.Range, VectorSelector: &parser.VectorSelector{}}
			continue
		}
		if matrix, ok := arg.(*parser.MatrixSelector); ok {
			selector, ok := matrix.VectorSelector.(*parser.VectorSelector)
			if !ok || !isPlain(selector) || matrix.RangeExpr != nil || matrix.Range <= 0 {
				return nil
			}
			selector.Offset = selector.OriginalOffset
			p.Selector, p.Range = selector, matrix.Range.Milliseconds()
			continue
		}
		parameter, ok := Constant(arg)
		if !ok {
			return nil
		}
		p.parameters = append(p.parameters, parameter)
	}
	if p.Range == 0 {
		return nil
	}
	return p
}

// isPlainSubquery is isPlain of a subquery.
func isPlainSubquery(e *parser.SubqueryExpr) bool {
	return e.Timestamp == nil && e.StartOrEnd == 0 && e.RangeExpr == nil && e.StepExpr == nil &&
		e.OriginalOffsetExpr == nil && e.Range > 0
}

// Constant returns the value of an expression that is a number.
func Constant(expr parser.Expr) (float64, bool) {
	switch e := expr.(type) {
	case *parser.NumberLiteral:
		return e.Val, true
	case *parser.ParenExpr:
		return Constant(e.Expr)
	case *parser.StepInvariantExpr:
		return Constant(e.Expr)
	case *parser.UnaryExpr:
		v, ok := Constant(e.Expr)
		if e.Op == parser.SUB {
			v = -v
		}
		return v, ok
	}
	return 0, false
}

// with adds an operation on each value; a nil pipeline stays nil.
func (p *Pipeline) with(o operation) *Pipeline {
	if p != nil && p.aggregation == nil {
		p.before = append(p.before, o)
	} else if p != nil {
		p.after = append(p.after, o)
	}
	return p
}

// Aggregates reports whether rows are folded.
func (p *Pipeline) Aggregates() bool { return p.aggregation != nil }

// Function returns the name of the function over the range, "" for none.
func (p *Pipeline) Function() string {
	if p.call == nil {
		return ""
	}
	return p.call.Func.Name
}

// RangePosition returns where the first argument of the function over the range stands in the text.
func (p *Pipeline) RangePosition() posrange.PositionRange { return p.call.Args[0].PositionRange() }

// Parameter returns the first parameter of the function over the range.
func (p *Pipeline) Parameter() float64 { return p.parameters[0] }

// DropsNames reports whether rows, or the results that are rows of chosen series, lack the names of their series.
func (p *Pipeline) DropsNames() bool {
	if p.Ranks() && p.after.drop() {
		return true
	}
	return p.dropsBefore()
}

// dropsBefore reports whether rows lack the names of their series before an aggregation.
func (p *Pipeline) dropsBefore() bool {
	keeps := p.call == nil || p.call.Func.Name == "last_over_time" || p.call.Func.Name == "first_over_time"
	return !keeps || p.before.drop()
}

// DropsNamesAfter reports whether an operation after the aggregation drops the names of results.
func (p *Pipeline) DropsNamesAfter() bool { return p.after.drop() }

// Shown returns the labels of the row of a series before an aggregation.
func (p *Pipeline) Shown(of labels.Labels) labels.Labels {
	if p.dropsBefore() {
		return WithoutName(of)
	}
	return of
}

// WithoutName returns labels without those that say which metric it is.
func WithoutName(of labels.Labels) labels.Labels { return of.DropReserved(schema.IsMetadataLabel) }
