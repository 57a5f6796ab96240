package promql

import (
	"context"
	"sync/atomic"

	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"gnocco/internal/budget"
)

// SampleBytes is what the engine holds of a sample.
const SampleBytes = 16

// memory is what a query has taken of the memory that requests share.
//
// The engine does not say what it allocates, but its most is known once a selector has found its series. That is a
// sample for each series and time of the selector, and, for what is computed of them, one for each series and time of
// the query. So this much is taken then. The engine itself ends a query that holds more than MaxSamples: no query takes
// more.
type memory struct {
	steps   int64 // times of the query
	samples int64 // taken so far
	taken   atomic.Int64
}

// steps returns at how many times the selector is evaluated.
func (sel *selection) steps() int64 {
	if sel.step <= 0 || sel.end < sel.first {
		return 1
	}
	return (sel.end-sel.first)/sel.step + 1
}

// takeSamples takes memory for the samples of so many series at these times, and for what is computed of them.
func (s *source) takeSamples(ctx context.Context, series, steps int64) error {
	most := int64(s.engine.options.MaxSamples) - s.samples
	if per := steps + s.steps; series <= most/per {
		most = series * per
	}
	s.samples += most
	return s.take(ctx, SampleBytes*most)
}

// cover takes memory for the samples of the series that is read. The selector's later series reuse it.
func (s *source) cover(ctx context.Context, it *iterator) error {
	more := it.bytes() - it.taken
	if more <= 0 {
		return nil
	}
	it.taken += more
	return s.take(ctx, more)
}

func (s *source) take(ctx context.Context, bytes int64) error {
	if err := budget.Of(ctx).Take(budget.Answers, bytes); err != nil {
		return err
	}
	s.taken.Add(bytes)
	return nil
}

// charged is a query that gives back the memory of its samples when it is closed.
type charged struct {
	upstream.Query
	account *budget.Account
	source  *source
}

// Close implements upstream.Query.
func (q *charged) Close() {
	q.Query.Close()
	q.account.Give(budget.Answers, q.source.taken.Swap(0))
}

// charged takes memory for what an expression computes without a selector, and returns the prepared query. It passes
// err on.
func (s *source) charged(ctx context.Context, prepared upstream.Query, err error) (upstream.Query, error) {
	if err != nil {
		return nil, err
	}
	q := &charged{prepared, budget.Of(ctx), s}
	statement := prepared.Statement().(*parser.EvalStmt)
	s.steps = 1
	if statement.Interval > 0 {
		s.steps += int64(statement.End.Sub(statement.Start) / statement.Interval)
	}
	parser.Inspect(statement.Expr, func(node parser.Node, path []parser.Node) error {
		call, isCall := node.(*parser.Call)
		if _, isNumber := node.(*parser.NumberLiteral); err == nil && (isNumber || isCall && len(call.Args) == 0) {
			err = s.takeSamples(ctx, 1, stepsAt(statement, path))
		}
		return nil
	})
	if err != nil {
		q.Close()
		return nil, err
	}
	return q, nil
}

// stepsAt returns at how many times a part of an expression is evaluated, below these nodes.
func stepsAt(statement *parser.EvalStmt, path []parser.Node) int64 {
	span, interval := statement.End.Sub(statement.Start), statement.Interval
	for _, node := range path {
		if subquery, ok := node.(*parser.SubqueryExpr); ok {
			span += subquery.Range
			if interval = subquery.Step; interval <= 0 {
				interval = defaultSubqueryStep
			}
		}
	}
	if interval <= 0 {
		return 1
	}
	return int64(span/interval) + 1
}
