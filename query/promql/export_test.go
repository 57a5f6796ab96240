package promql

import (
	"context"
	"errors"
	"time"

	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
)

// Series is what the engine gets of a selector.
type Series = series

// SeriesSet is the series of a selector.
type SeriesSet = seriesSet

// Upstream is the engine itself, as upstream's own tests want it.
func (e *Engine) Upstream() *upstream.Engine {
	options := e.options.engine()
	options.EnableDelayedNameRemoval, options.UseStartTimestamps = true, true
	return upstream.NewEngine(options)
}

// Queryable is what a query of that engine reads from; a granularity other than 0 serves before raw measures.
func (e *Engine) Queryable(granularity time.Duration) storage.Queryable {
	return e.source(&Query{Lookback: leastLookback, Granularity: granularity})
}

// Alone is the engine without pipelines.
func (e *Engine) Alone() *Engine {
	options := e.options
	options.Upstream = true
	return New(options)
}

// Pipelines returns how many a query has.
func Pipelines(q upstream.Query) int { return len(q.(*charged).pipelines) }

// WithoutEngine makes a query fail where the engine would have to evaluate.
func WithoutEngine(q upstream.Query) {
	of := q.(*charged)
	of.Query = refusing{of.Query}
}

type refusing struct{ upstream.Query }

// Exec implements upstream.Query.
func (refusing) Exec(context.Context) *upstream.Result {
	return &upstream.Result{Err: errors.New("the engine is asked")}
}
