package promql

import (
	"strconv"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/api/web"
)

// tree is an expression as JSON: the form that Prometheus' own page draws.
type tree map[string]any

// treeOf returns an expression's tree. The fields whose names end with Expr are null: durations that are computed are
// an experiment, which the parser has not enabled.
func treeOf(expr parser.Expr) any {
	switch e := expr.(type) {
	case *parser.AggregateExpr:
		var parameter any
		if e.Param != nil {
			parameter = treeOf(e.Param)
		}
		return tree{
			"type": "aggregation", "op": e.Op.String(), "expr": treeOf(e.Expr), "param": parameter,
			"grouping": web.OrEmpty(e.Grouping), "without": e.Without,
		}
	case *parser.BinaryExpr:
		var matching any
		if m := e.VectorMatching; m != nil {
			matching = tree{
				"card": m.Card.String(), "labels": web.OrEmpty(m.MatchingLabels), "on": m.On,
				"include": web.OrEmpty(m.Include), "fillValues": tree{"lhs": m.FillValues.LHS, "rhs": m.FillValues.RHS},
			}
		}
		return tree{
			"type": "binaryExpr", "op": e.Op.String(), "lhs": treeOf(e.LHS), "rhs": treeOf(e.RHS),
			"matching": matching, "bool": e.ReturnBool,
		}
	case *parser.Call:
		arguments := []any{}
		for _, a := range e.Args {
			arguments = append(arguments, treeOf(a))
		}
		return tree{"type": "call", "args": arguments, "func": tree{
			"name": e.Func.Name, "argTypes": e.Func.ArgTypes, "variadic": e.Func.Variadic,
			"returnType": e.Func.ReturnType,
		}}
	case *parser.MatrixSelector:
		shown := selector("matrixSelector", e.VectorSelector.(*parser.VectorSelector))
		shown["range"], shown["rangeExpr"] = e.Range.Milliseconds(), nil
		return shown
	case *parser.SubqueryExpr:
		return tree{
			"type": "subquery", "expr": treeOf(e.Expr),
			"range": e.Range.Milliseconds(), "rangeExpr": nil,
			"offset": e.OriginalOffset.Milliseconds(), "offsetExpr": nil,
			"step": e.Step.Milliseconds(), "stepExpr": nil,
			"timestamp": e.Timestamp, "startOrEnd": startOrEnd(e.StartOrEnd),
		}
	case *parser.NumberLiteral:
		return tree{"type": "numberLiteral", "val": strconv.FormatFloat(e.Val, 'f', -1, 64)}
	case *parser.ParenExpr:
		return tree{"type": "parenExpr", "expr": treeOf(e.Expr)}
	case *parser.StringLiteral:
		return tree{"type": "stringLiteral", "val": e.Val}
	case *parser.UnaryExpr:
		return tree{"type": "unaryExpr", "op": e.Op.String(), "expr": treeOf(e.Expr)}
	case *parser.VectorSelector:
		return selector("vectorSelector", e)
	}
	return nil
}

func selector(kind string, v *parser.VectorSelector) tree {
	matchers := []tree{}
	for _, m := range v.LabelMatchers {
		matchers = append(matchers, tree{"name": m.Name, "value": m.Value, "type": labels.MatchType(m.Type).String()})
	}
	return tree{
		"type": kind, "name": v.Name, "offset": v.OriginalOffset.Milliseconds(), "offsetExpr": nil,
		"matchers": matchers, "timestamp": v.Timestamp, "startOrEnd": startOrEnd(v.StartOrEnd),
		"anchored": v.Anchored, "smoothed": v.Smoothed,
	}
}

func startOrEnd(item parser.ItemType) any {
	switch item {
	case parser.START:
		return "start"
	case parser.END:
		return "end"
	}
	return nil
}
