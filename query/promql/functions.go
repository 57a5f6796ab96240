package promql

import (
	"context"
	"regexp"

	common "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// resultFunction makes a result of another one, all series and times at once.
type resultFunction func(ctx context.Context, s *source, in *computed) (*computed, error)

// functionOf returns the node of a function of all series of a vector, nil for other expressions.
func functionOf(expr parser.Expr) *node {
	if e, ok := expr.(*parser.Call); ok && e.Func.Name == "label_replace" {
		return appliedTo(e.Args[0], labelReplace(e))
	} else if ok && e.Func.Name == "histogram_quantile" {
		return appliedTo(e.Args[1], histogramQuantile(e))
	}
	return nil
}

func appliedTo(arg parser.Expr, f resultFunction) *node {
	if left := nodeOf(arg); f != nil && left != nil {
		return &node{left: left, function: f}
	}
	return nil
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

// labelReplace is nil if the engine has to report a wrong parameter.
func labelReplace(call *parser.Call) resultFunction {
	p, ok := texts(call.Args[1:])
	if !ok || !common.UTF8Validation.IsValidLabelName(p[0]) {
		return nil
	}
	pattern, err := regexp.Compile("^(?s:" + p[3] + ")$")
	if err != nil {
		return nil
	}
	return func(_ context.Context, _ *source, in *computed) (*computed, error) {
		builder, known := labels.NewBuilder(labels.EmptyLabels()), make(map[uint64]bool, len(in.matrix))
		for i := range in.matrix {
			of := &in.matrix[i].Metric
			text := of.Get(p[2])
			if found := pattern.FindStringSubmatchIndex(text); found != nil {
				builder.Reset(*of)
				*of = builder.Set(p[0], string(pattern.ExpandString(nil, p[1], text, found))).Labels()
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
