package promql

import (
	"math"
	"strconv"

	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// Functions of ours, which no expression of a client can name. The engine tells the querier the name of the function
// around a selector, which says what to read.
const (
	countFunction  = "count_over_time of groups"
	avgFunction    = "avg_over_time of groups"
	stddevFunction = "stddev_over_time of groups"
	stdvarFunction = "stdvar_over_time of groups"
)

// Pseudo-matchers: they say how to read a series, and are no labels.
const (
	aggregationMatcher = "__aggregation__"
	granularityMatcher = "__granularity__"
	quantileMatcher    = "__quantile__"
	offsetMatcher      = "__offset__"   // in ms, of a selector in a subquery
	computedMatcher    = "__computed__" // of the result of a pipeline
)

func init() {
	upstream.FunctionCalls[countFunction] = upstream.FunctionCalls["sum_over_time"]
	upstream.FunctionCalls[avgFunction] = overMoments("avg_over_time", average)
	upstream.FunctionCalls[stddevFunction] = overMoments("stddev_over_time", deviation)
	upstream.FunctionCalls[stdvarFunction] = overMoments("stdvar_over_time", variance)
	for name, like := range map[string]string{countFunction: "sum_over_time", avgFunction: "avg_over_time",
		stddevFunction: "stddev_over_time", stdvarFunction: "stdvar_over_time"} {
		columns.Register(name, like)
	}
}

// A rewriter parses expressions and makes of them what archives answer exactly. It is the engine's parser.
type rewriter struct{ parser.Parser }

// ParseExpr implements parser.Parser.
func (r rewriter) ParseExpr(text string) (parser.Expr, error) {
	expr, err := r.Parser.ParseExpr(text)
	if err != nil {
		return nil, err
	}
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		if v, ok := node.(*parser.VectorSelector); ok && v.Timestamp == nil && v.StartOrEnd == 0 && inSubquery(path) {
			offset := v.OriginalOffset.Milliseconds()
			if v.OriginalOffsetExpr != nil {
				offset = 1 // known later only: a multiple of nothing
			}
			m := pseudoMatcher(offsetMatcher, strconv.FormatInt(offset, 10))
			// absent() answers with the labels that a selector names once.
			v.LabelMatchers = append(v.LabelMatchers, m, m)
		}
		return nil
	})
	return rewrite(expr), nil
}

func inSubquery(path []parser.Node) bool {
	for _, node := range path {
		if _, ok := node.(*parser.SubqueryExpr); ok {
			return true
		}
	}
	return false
}

func pseudoMatcher(name, value string) *labels.Matcher {
	return labels.MustNewMatcher(labels.MatchEqual, name, value)
}

// rewrite returns expr with its calls replaced.
func rewrite(expr parser.Expr) parser.Expr {
	switch e := expr.(type) {
	case *parser.AggregateExpr:
		e.Expr = rewrite(e.Expr)
		if e.Param != nil {
			e.Param = rewrite(e.Param)
		}
	case *parser.BinaryExpr:
		e.LHS, e.RHS = rewrite(e.LHS), rewrite(e.RHS)
	case *parser.ParenExpr:
		e.Expr = rewrite(e.Expr)
	case *parser.UnaryExpr:
		e.Expr = rewrite(e.Expr)
	case *parser.SubqueryExpr:
		e.Expr = rewrite(e.Expr)
	case *parser.StepInvariantExpr:
		e.Expr = rewrite(e.Expr)
	case *parser.Call:
		for i := range e.Args {
			e.Args[i] = rewrite(e.Args[i])
		}
		return rewriteCall(e)
	}
	return expr
}

// rewriteCall returns what a call of a function over time becomes. Over a subquery it stays what it is.
func rewriteCall(call *parser.Call) parser.Expr {
	if len(call.Args) == 0 {
		return call
	}
	matrix, ok := unwrap(call.Args[len(call.Args)-1]).(*parser.MatrixSelector)
	if !ok {
		return call
	}
	renamed := func(name string) *parser.Call {
		made := *call
		f := *call.Func
		f.Name = name
		made.Func = &f
		return &made
	}
	switch call.Func.Name {
	case "count_over_time":
		return renamed(countFunction)
	case "stddev_over_time":
		return renamed(stddevFunction)
	case "stdvar_over_time":
		return renamed(stdvarFunction)
	case "avg_over_time":
		return renamed(avgFunction)
	case "quantile_over_time":
		if n, ok := unwrap(call.Args[0]).(*parser.NumberLiteral); ok {
			var m carbonara.Method
			switch percent := math.Round(n.Val * 100); {
			case n.Val == 0:
				m = carbonara.Min
			case n.Val == 1:
				m = carbonara.Max
			case percent >= 1 && percent <= 99 && percent/100 == n.Val:
				m = carbonara.PercentileMethod(int(percent))
			}
			if m != 0 {
				vector := matrix.VectorSelector.(*parser.VectorSelector)
				vector.LabelMatchers = append(vector.LabelMatchers, pseudoMatcher(quantileMatcher, m.String()))
			}
		}
	}
	return call
}

// unwrap returns what parentheses hold.
func unwrap(expr parser.Expr) parser.Expr {
	for {
		switch e := expr.(type) {
		case *parser.ParenExpr:
			expr = e.Expr
		case *parser.StepInvariantExpr:
			expr = e.Expr
		default:
			return expr
		}
	}
}
