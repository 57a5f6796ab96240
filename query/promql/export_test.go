package promql

import (
	"context"
	"errors"

	upstream "github.com/prometheus/prometheus/promql"
)

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
