package promql

import (
	"context"

	"github.com/prometheus/prometheus/model/timestamp"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"

	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// node is a part of an expression that is evaluated here: a pipeline, an operator between two parts, or a function of
// the left one.
type node struct {
	*columns.Pipeline
	inner       *node // of a pipeline, in the place of a selector
	operator    *parser.BinaryExpr
	left, right *node
	function    resultFunction
}

// nodeOf returns what evaluates an expression, nil if only the engine does.
func nodeOf(expr parser.Expr) *node {
	var inner *node
	p := columns.Compile(expr, innerOf(&inner))
	switch {
	case p == nil:
		return nil
	case p.IsInner():
		return inner
	}
	return &node{Pipeline: p, inner: inner}
}

// innerOf returns what finds the node in the place of a selector.
func innerOf(inner **node) columns.Inner {
	return func(e parser.Expr, sub bool) bool {
		if sub {
			*inner = nodeOf(e)
		} else if *inner = operatorOf(e); *inner == nil {
			*inner = functionOf(e)
		}
		return *inner != nil
	}
}

// evaluation says at which times a node is evaluated, and from when to when the engine says that it is.
type evaluation struct {
	at       columns.Times
	from, to int64 // ms
}

// evaluationOf returns that of a statement.
func evaluationOf(statement *parser.EvalStmt) evaluation {
	at := columns.Times{Start: timestamp.FromTime(statement.Start), N: 1}
	if statement.Interval > 0 {
		end := timestamp.FromTime(statement.End)
		at.Step, at.N = statement.Interval.Milliseconds(), 0
		if end >= at.Start && at.Step > 0 {
			at.N = int((end-at.Start)/at.Step) + 1
		}
	}
	return evaluation{at, at.Start, at.At(at.N - 1)}
}

// subquery returns that of a subquery: its times are multiples of its step.
func (e evaluation) subquery(of *parser.SubqueryExpr) evaluation {
	step, offset := of.Step.Milliseconds(), of.OriginalOffset.Milliseconds()
	if step == 0 {
		step = defaultSubqueryStep.Milliseconds()
	}
	e.from, e.to = e.from-offset-of.Range.Milliseconds(), e.to-offset
	before := e.at.Start - offset - of.Range.Milliseconds()
	start := step * (before / step)
	if start <= before {
		start += step
	}
	end := e.at.At(e.at.N-1) - offset
	e.at = columns.Times{Start: start, Step: step, N: max(0, int((end-start)/step)+1)}
	if start > end {
		e.at.N = 0
	}
	return e
}

// hints are what the engine says of a selector to those who read it.
func (e evaluation) hints(p *columns.Pipeline, longest int64) *storage.SelectHints {
	offset := p.Selector.Offset.Milliseconds()
	h := &storage.SelectHints{Start: e.from - offset, End: e.to - offset, Step: e.at.Step, Range: p.Range,
		Func: p.Function()}
	if p.Range > 0 {
		h.Start -= p.Range - 1
	} else {
		h.Start -= longest - 1
	}
	return h
}

// evaluate evaluates a node.
func (s *source) evaluate(ctx context.Context, n *node, e evaluation) (*computed, error) {
	if n.left == nil {
		return s.compute(ctx, n, e)
	}
	left, err := s.evaluate(ctx, n.left, e)
	if err != nil {
		return nil, err
	}
	if n.function != nil {
		return n.function(ctx, s, left)
	}
	right, err := s.evaluate(ctx, n.right, e)
	if err != nil {
		return nil, err
	}
	return s.operate(ctx, n.operator, left, right)
}
