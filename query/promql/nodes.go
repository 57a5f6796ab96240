package promql

import (
	"cmp"
	"context"

	"github.com/prometheus/prometheus/model/timestamp"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"

	"github.com/gnocco-db/gnocco/model"
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
	step = cmp.Or(step, defaultSubqueryStep.Milliseconds())
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

// findInner evaluates the node in the place of a selector. Its results are the pipeline's series.
func (c *computation) findInner(ctx context.Context, inner *node, e evaluation) (err error) {
	if c.Subquery != nil {
		e = e.subquery(c.Subquery)
	}
	if c.inner, err = c.source.evaluate(ctx, inner, e); err != nil {
		return err
	}
	c.n = len(c.inner.matrix)
	memory := make([]series, c.n)
	for i, s := range c.inner.matrix {
		memory[i] = series{ctx: ctx, labels: s.Metric, name: s.Metric.Get(model.LabelName), place: i}
		c.all = append(c.all, &memory[i])
	}
	return nil
}

// take computes the rows of some series from inner results.
func (c *computation) take(ctx context.Context, some []*series) error {
	return eachRun(ctx, some, func(ctx context.Context, memory *scratch, run []*series) error {
		defer memory.cover(ctx)()
		for _, s := range run {
			memory.it.reset()
			for _, p := range c.inner.matrix[s.place].Floats {
				memory.it.times, memory.it.values = append(memory.it.times, p.T), append(memory.it.values, p.F)
			}
			if c.Subquery != nil {
				if err := c.compute(ctx, s, memory); err != nil {
					return err
				}
				continue
			}
			samples := columns.Samples{Labels: s.labels, Times: memory.it.times, Values: memory.it.values}
			const ownTimesAlone = 1 // ms
			c.filled[s.place-c.first], _, _ = c.Row(&memory.row, &samples, c.at, ownTimesAlone, c.row(s))
		}
		return nil
	})
}
