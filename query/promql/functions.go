package promql

import (
	"context"
	"regexp"
	"strings"

	common "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// resultFunction makes a result of another one, all series and times at once.
type resultFunction func(ctx context.Context, s *source, in *computed) (*computed, error)

// functionOf returns the node of a function of all series of a vector, nil for other expressions.
func functionOf(expr parser.Expr) *node {
	switch e := expr.(type) {
	case *parser.AggregateExpr:
		if e.Op == parser.COUNT_VALUES {
			return appliedTo(e.Expr, countValues(e))
		}
	case *parser.Call:
		switch e.Func.Name {
		case "absent":
			return appliedTo(e.Args[0], absent(e))
		case "absent_over_time":
			var inner *node
			if p := columns.CompileRange(e, innerOf(&inner)); p != nil {
				return &node{left: &node{Pipeline: p, inner: inner}, function: absent(e)}
			}
		case "label_replace":
			return appliedTo(e.Args[0], labelReplace(e))
		case "label_join":
			return appliedTo(e.Args[0], labelJoin(e))
		case "histogram_quantile":
			return appliedTo(e.Args[1], histogramQuantile(e))
		}
	}
	return nil
}

func appliedTo(arg parser.Expr, f resultFunction) *node {
	if f == nil {
		return nil
	}
	left := nodeOf(arg)
	if left == nil {
		return nil
	}
	return &node{left: left, function: f}
}

// like returns a result without series that goes on from another one.
func (c *computed) like() *computed {
	return &computed{at: c.at, notes: c.notes, series: c.series, used: c.used}
}

// absent is 1 at the times at which no series has a value.
func absent(call *parser.Call) resultFunction {
	return func(ctx context.Context, s *source, in *computed) (*computed, error) {
		out, present := in.like(), make([]bool, in.at.N)
		for _, series := range in.matrix {
			for _, p := range series.Floats {
				present[in.at.Place(p.T)] = true
			}
		}
		var points []upstream.FPoint
		for i, any := range present {
			if !any {
				points = append(points, upstream.FPoint{T: in.at.At(i), F: 1})
			}
		}
		if len(points) == 0 {
			return out, nil
		}
		// The engine knows the labels that the selector names.
		one, _ := upstream.FunctionCalls["absent"]([]upstream.Vector{nil}, nil, call.Args, &upstream.EvalNodeHelper{})
		out.matrix = upstream.Matrix{{Metric: one[0].Metric, Floats: points}}
		return out, s.chargePoints(ctx, &out.points, len(points))
	}
}

// texts returns the values of expressions that are strings.
func texts(expressions parser.Expressions) (values []string, ok bool) {
	for _, e := range expressions {
		s, ok := unwrap(e).(*parser.StringLiteral)
		if !ok {
			return nil, false
		}
		values = append(values, s.Val)
	}
	return values, true
}

func areLabelNames(names ...string) bool {
	for _, name := range names {
		if !common.UTF8Validation.IsValidLabelName(name) {
			return false
		}
	}
	return true
}

// labelReplace and labelJoin are nil if the engine has to report a wrong parameter.
func labelReplace(call *parser.Call) resultFunction {
	p, ok := texts(call.Args[1:])
	if !ok || !areLabelNames(p[0]) {
		return nil
	}
	pattern, err := regexp.Compile("^(?s:" + p[3] + ")$")
	if err != nil {
		return nil
	}
	return labelled(p[0], func(of labels.Labels) (string, bool) {
		text := of.Get(p[2])
		found := pattern.FindStringSubmatchIndex(text)
		return string(pattern.ExpandString(nil, p[1], text, found)), found != nil
	})
}

func labelJoin(call *parser.Call) resultFunction {
	p, ok := texts(call.Args[1:])
	if !ok || !areLabelNames(p[0]) || !areLabelNames(p[2:]...) {
		return nil
	}
	parts := make([]string, len(p)-2)
	return labelled(p[0], func(of labels.Labels) (string, bool) {
		for i, name := range p[2:] {
			parts[i] = of.Get(name)
		}
		return strings.Join(parts, p[1]), true
	})
}

// labelled sets a label of each series to its text, if ok.
func labelled(name string, text func(labels.Labels) (_ string, ok bool)) resultFunction {
	return func(_ context.Context, _ *source, in *computed) (*computed, error) {
		builder, known := labels.NewBuilder(labels.EmptyLabels()), make(map[uint64]bool, len(in.matrix))
		for i := range in.matrix {
			of := &in.matrix[i].Metric
			if v, ok := text(*of); ok {
				builder.Reset(*of)
				*of = builder.Set(name, v).Labels()
			}
			hash := of.Hash()
			if known[hash] {
				return nil, errSameLabels
			}
			known[hash] = true
		}
		return in, nil
	}
}
