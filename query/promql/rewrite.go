package promql

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// Functions of ours, which no expression of a client can name. The engine tells the querier the name of the function
// around a selector, which says what to read.
const (
	countFunction  = "count_over_time" + ofGroups
	avgFunction    = "avg_over_time" + ofGroups
	stddevFunction = "stddev_over_time" + ofGroups
	stdvarFunction = "stdvar_over_time" + ofGroups
)

// Pseudo-matchers: they say how to read a series, and are no labels.
const (
	aggregationMatcher = "__aggregation__"
	granularityMatcher = "__granularity__"
	quantileMatcher    = "__quantile__"
	offsetMatcher      = "__offset__"   // in ms, of a selector in a subquery
	extendedMatcher    = "__extended__" // of a range that its modifier makes longer
	computedMatcher    = "__computed__" // of the result of a pipeline
)

// ofGroups ends the names of our functions. Without it, a name is that of the engine's function of single measures.
const ofGroups = " of groups"

// installFunctions makes the engine's functions over ranges ours, and adds those of groups.
var installFunctions = sync.OnceFunc(func() {
	added := map[string]string{countFunction: "sum_over_time"}
	for name := range overMoments {
		added[name] = strings.TrimSuffix(name, ofGroups)
	}
	columns.Install(added, overRanges)
})

// A rewriter parses expressions and makes of them what archives answer exactly. It is the engine's parser.
type rewriter struct{ parser.Parser }

// ParseExpr implements parser.Parser.
func (r rewriter) ParseExpr(text string) (parser.Expr, error) {
	expr, err := r.Parser.ParseExpr(text)
	if err != nil {
		return nil, err
	}
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		switch n := node.(type) {
		case *parser.VectorSelector:
			if n.Anchored || n.Smoothed {
				m := pseudoMatcher(extendedMatcher, "")
				n.LabelMatchers = append(n.LabelMatchers, m, m)
			}
			if n.Timestamp == nil && n.StartOrEnd == 0 && slices.ContainsFunc(path, isSubquery) {
				offset := n.OriginalOffset.Milliseconds()
				if n.OriginalOffsetExpr != nil {
					offset = 1 // known later only: a multiple of nothing
				}
				m := pseudoMatcher(offsetMatcher, strconv.FormatInt(offset, 10))
				// absent() answers with the labels that a selector names once.
				n.LabelMatchers = append(n.LabelMatchers, m, m)
			}
		case *parser.Call:
			rewriteCall(n)
		}
		return nil
	})
	return expr, nil
}

func isSubquery(node parser.Node) bool {
	_, ok := node.(*parser.SubqueryExpr)
	return ok
}

func pseudoMatcher(name, value string) *labels.Matcher {
	return labels.MustNewMatcher(labels.MatchEqual, name, value)
}

// rewriteCall makes a call of a function over time ours. Over a subquery it stays what it is.
func rewriteCall(call *parser.Call) {
	if len(call.Args) == 0 {
		return
	}
	matrix, ok := unwrap(call.Args[len(call.Args)-1]).(*parser.MatrixSelector)
	if !ok {
		return
	}
	if name := call.Func.Name + ofGroups; upstream.FunctionCalls[name] != nil {
		f := *call.Func
		f.Name, call.Func = name, &f
		return
	}
	n, ok := unwrap(call.Args[0]).(*parser.NumberLiteral)
	if call.Func.Name != quantileFunction || !ok {
		return
	}
	var m carbonara.Method
	switch percent := math.Round(n.Val * 100); {
	case n.Val == 0:
		m = carbonara.Min
	case n.Val == 1:
		m = carbonara.Max
	case percent >= 1 && percent <= 99 && percent/100 == n.Val:
		m = carbonara.PercentileMethod(int(percent))
	default:
		return
	}
	vector := matrix.VectorSelector.(*parser.VectorSelector)
	vector.LabelMatchers = append(vector.LabelMatchers, pseudoMatcher(quantileMatcher, m.String()))
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
