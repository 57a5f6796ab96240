package promql

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/internal/budget"
)

// sampleBytes is what the engine holds of a sample.
const sampleBytes = 16

// stepBytes is what the engine holds of each step of a subquery, with a sample or without.
const stepBytes = 16

// ErrTooManySteps says that subqueries have more steps than a query may hold.
var ErrTooManySteps = errors.New("subqueries have too many steps")

// memory is a query's share of the memory of all requests.
//
// The engine does not say what it allocates, but its most is known once a selector has found its series. That is a
// sample for each series and time of the selector, and one for each series and time of the query, its result. The query
// takes this much then. The engine itself ends a query that holds more than MaxSamples, the most that a query takes.
// The engine does not count the steps of subqueries, and allocates for all of them at once. So their memory is taken,
// and their number is bounded, before the query runs.
type memory struct {
	steps   int64 // times of the query, or of the longest subquery that repeats one result at all of its times
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

// chargeSamples charges the memory for the samples of so many series at these times, and for the results from them.
func (s *source) chargeSamples(ctx context.Context, series, steps int64) error {
	most := int64(s.engine.options.MaxSamples) - s.samples
	if per := sum(steps, s.steps); series <= most/per {
		most = series * per
	}
	s.samples += most
	return s.charge(ctx, sampleBytes*most)
}

// chargePoints charges the memory for so many more points of a result.
func (s *source) chargePoints(ctx context.Context, points *int64, more int) error {
	if *points += int64(more); *points > int64(s.engine.options.MaxSamples) {
		return upstream.ErrTooManySamples("query execution")
	}
	return s.charge(ctx, sampleBytes*int64(more))
}

// cover takes memory for the samples of the series that is read. The selector's later series reuse it.
func (s *source) cover(ctx context.Context, it *iterator) error {
	more := it.bytes() - it.taken
	if more <= 0 {
		return nil
	}
	it.taken += more
	return s.charge(ctx, more)
}

func (s *source) charge(ctx context.Context, bytes int64) error {
	if err := budget.Of(ctx).Acquire(budget.Answers, bytes); err != nil {
		return err
	}
	s.taken.Add(bytes)
	return nil
}

// charged is a query that gives back the memory of its samples when it is closed.
type charged struct {
	upstream.Query
	account   *budget.Account
	source    *source
	pipelines []*pipeline
}

// Close implements upstream.Query.
func (q *charged) Close() {
	q.Query.Close()
	q.account.Release(budget.Answers, q.source.taken.Swap(0))
}

// charged takes memory for the steps of subqueries, and for the results of expressions without a selector, and returns
// the prepared query. It passes err on.
func (s *source) charged(ctx context.Context, prepared upstream.Query, err error) (upstream.Query, error) {
	if err != nil {
		return nil, err
	}
	statement := prepared.Statement().(*parser.EvalStmt)
	q := &charged{Query: prepared, account: budget.Of(ctx), source: s}
	if err := s.chargeStatement(ctx, statement); err != nil {
		q.Close()
		return nil, err
	}
	if !s.engine.options.Upstream {
		q.pipelines = s.pipelinesOf(statement)
	}
	return q, nil
}

func (s *source) chargeStatement(ctx context.Context, statement *parser.EvalStmt) error {
	of := times{statement.End.Sub(statement.Start).Milliseconds(), statement.Interval.Milliseconds()}
	needed := needs{repeated: of.count()}
	held := needed.add(statement.Expr, of)
	if most := int64(s.engine.options.MaxSamples); held > most {
		return fmt.Errorf("%w: %d at once, %d at most", ErrTooManySteps, held, most)
	}
	if err := s.charge(ctx, stepBytes*held); err != nil {
		return err
	}
	s.steps = needed.repeated
	for _, steps := range needed.made {
		if err := s.chargeSamples(ctx, 1, steps); err != nil {
			return err
		}
	}
	return nil
}

// times are those at which a part of an expression is evaluated, in ms.
type times struct{ span, step int64 } // step 0: one time

func (t times) count() int64 {
	if t.step <= 0 {
		return 1
	}
	return sum(t.span/t.step, 1)
}

// needs is what an expression needs memory for, other than the series that it selects.
type needs struct {
	repeated int64   // most times at which one result is repeated
	made     []int64 // times of each series that is made of nothing
}

// makers are functions that have a value where their argument has none.
var makers = []string{"scalar", "absent", "absent_over_time"}

// add adds an expression that is evaluated at these times. It returns how many steps subqueries hold at most at once:
// one inside another adds to it, one beside another does not.
func (n *needs) add(node parser.Node, at times) (held int64) {
	own := int64(0)
	switch e := node.(type) {
	case *parser.StepInvariantExpr:
		n.repeated = max(n.repeated, at.count())
		at = times{}
	case *parser.SubqueryExpr:
		step := e.Step
		if step <= 0 {
			step = defaultSubqueryStep
		}
		at = times{sum(at.span, e.Range.Milliseconds()), step.Milliseconds()}
		own = at.count()
	case *parser.NumberLiteral:
		n.made = append(n.made, at.count())
	case *parser.Call:
		if len(e.Args) == 0 || slices.Contains(makers, e.Func.Name) {
			n.made = append(n.made, at.count())
		}
	}
	for child := range parser.ChildrenIter(node) {
		held = max(held, n.add(child, at))
	}
	return sum(own, held)
}

// sum is a + b, or the largest number if that is larger. Neither is negative.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
