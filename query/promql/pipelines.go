package promql

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/annotations"
	"github.com/prometheus/prometheus/util/stats"

	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// pipeline is a part of a query's expression that is evaluated, or read from a recording, before the engine runs.
type pipeline struct {
	*node
	*Recording
	expr parser.Expr
	slot *parser.Expr // where it stands in the statement
}

// pipelinesOf returns the largest parts of a statement that are recorded, or nodes without such parts. Parts that are
// evaluated at other times than the query's stay with the engine.
func (s *source) pipelinesOf(statement *parser.EvalStmt) (found []*pipeline) {
	at := evaluationOf(statement).at
	var search func(slot *parser.Expr) (recorded bool)
	search = func(slot *parser.Expr) (recorded bool) {
		before, isVector := len(found), (*slot).Type() == parser.ValueTypeVector
		if isVector && s.Recorded != nil {
			if r := s.Recorded(*slot, at); r != nil {
				found = append(found, &pipeline{nil, r, *slot, slot})
				return true
			}
		}
		switch e := (*slot).(type) {
		case *parser.ParenExpr:
			recorded = search(&e.Expr)
		case *parser.UnaryExpr:
			recorded = search(&e.Expr)
		case *parser.AggregateExpr:
			recorded = search(&e.Expr)
		case *parser.BinaryExpr:
			left := search(&e.LHS)
			recorded = search(&e.RHS) || left
		case *parser.Call:
			if e.Func.Name == "info" { // reads by itself
				return false
			}
			for i := range e.Args {
				if _, ok := unwrap(e.Args[i]).(*parser.VectorSelector); !ok || !readsSelectors[e.Func.Name] {
					recorded = search(&e.Args[i]) || recorded
				}
			}
		}
		if isVector && !recorded {
			if n := nodeOf(*slot); n != nil {
				found = append(found[:before], &pipeline{n, nil, *slot, slot})
			}
		}
		return recorded
	}
	search(&statement.Expr)
	return found
}

// readsSelectors are functions of a vector to which it matters that this is a selector.
var readsSelectors = map[string]bool{"absent": true, "timestamp": true, "start_timestamp": true}

// errSameLabels says that series have the same labels without their names. The engine knows what that means.
var errSameLabels = errors.New("promql: series have the same labels without names")

// Exec implements upstream.Query.
func (q *charged) Exec(ctx context.Context) *upstream.Result {
	result := q.evaluate(ctx)
	result.Warnings.Merge(q.source.older.all())
	return result
}

func (q *charged) evaluate(ctx context.Context) *upstream.Result {
	statement := q.Statement().(*parser.EvalStmt)
	var notes annotations.Annotations
	statistics := q.Stats()
	timer := statistics.Timers.GetTimer(stats.EvalTotalTime).Start()
	for _, p := range q.pipelines {
		done, err := q.source.run(ctx, p, evaluationOf(statement))
		isAll := p.slot == &statement.Expr && p.Recording == nil
		if errors.Is(err, errSameLabels) || errors.Is(err, errHistograms) || err != nil && !isAll && ctx.Err() == nil {
			continue // of several errors, the engine decides which one is the answer
		}
		if err != nil {
			return &upstream.Result{Err: err, Warnings: notes}
		}
		statistics.Samples.IncrementSeries(done.series)
		statistics.Samples.IncrementSamplesAtStep(0, done.used)
		statistics.Samples.IncrementSamplesReadAtStep(0, done.used)
		if p.slot == &statement.Expr {
			timer.Stop()
			return done.result(statement)
		}
		notes.Merge(done.notes)
		// The engine holds a result for each series that it is given.
		if err := q.source.chargeSamples(ctx, int64(len(done.matrix)), 0); err != nil {
			return &upstream.Result{Err: err, Warnings: notes}
		}
		*p.slot = q.source.stand(p, done)
	}
	timer.Stop()
	result := q.Query.Exec(ctx)
	for _, p := range q.pipelines {
		*p.slot = p.expr
	}
	return result
}

// run evaluates a pipeline, or reads its recording.
func (s *source) run(ctx context.Context, p *pipeline, e evaluation) (*computed, error) {
	if p.Recording == nil {
		return s.evaluate(ctx, p.node, e)
	}
	matrix, notes, err := p.Read(ctx)
	done := &computed{matrix: matrix, at: e.at, notes: notes, series: int64(len(matrix))}
	if err == nil {
		done.used, s.ByRules = int64(matrix.TotalSamples()), append(s.ByRules, p.Name)
		err = s.chargePoints(ctx, &done.points, matrix.TotalSamples())
	}
	return done, err
}

// stand returns a selector that stands for the result of a pipeline. It has the pipeline's place in the text, for
// notes.
func (s *source) stand(p *pipeline, done *computed) parser.Expr {
	m := pseudoMatcher(computedMatcher, "")
	if s.computed == nil {
		s.computed = map[*labels.Matcher]*computed{}
	}
	s.computed[m] = done
	return &parser.VectorSelector{LabelMatchers: []*labels.Matcher{m}, PosRange: p.expr.PositionRange()}
}

// computed is what a pipeline gave.
type computed struct {
	matrix       upstream.Matrix
	at           columns.Times
	notes        annotations.Annotations
	series, used int64 // samples
	points       int64 // in matrix
}

// result returns the answer to a query that is one pipeline, as the engine gives it.
func (c *computed) result(statement *parser.EvalStmt) *upstream.Result {
	result := &upstream.Result{Value: c.matrix, Warnings: c.notes}
	if statement.Interval > 0 || !statement.Start.Equal(statement.End) {
		sort.Sort(c.matrix)
		return result
	}
	vector := make(upstream.Vector, len(c.matrix))
	for i, s := range c.matrix {
		vector[i] = upstream.Sample{Metric: s.Metric, F: s.Floats[0].F, T: c.at.Start}
	}
	result.Value = vector
	return result
}

// ended returns why a query ended if its context did, in the engine's words, and else the error.
func ended(ctx context.Context, err error) error {
	const during = "expression evaluation"
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return upstream.ErrQueryCanceled(during)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return upstream.ErrQueryTimeout(during)
	}
	return err
}

// expanding is an error of finding series, in the engine's words.
func expanding(ctx context.Context, err error) error {
	if err = ended(ctx, err); ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("expanding series: %w", err)
}
