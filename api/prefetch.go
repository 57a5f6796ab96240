package api

import (
	"context"
	"time"

	"gnocco/carbonara"
	"gnocco/model"
)

// GroupsQuery is what a call of Archives.Groups asks.
type GroupsQuery struct {
	Metric      *model.Metric
	Granularity time.Duration
	Columns     []carbonara.Column
	From, To    carbonara.Timestamp
}

// A Prefetcher is an Archives that may have to ask other processes, and can ask for much at once.
type Prefetcher interface {
	Archives
	// Prefetch returns an Archives that answers these queries, from memory where they had to be asked for elsewhere.
	Prefetch(ctx context.Context, queries []GroupsQuery) (Archives, error)
}

// prefetch returns the archives to read the metrics from.
func (a *api) prefetch(ctx context.Context, found []foundMetric, granularities []time.Duration, query *aggregatesQuery) (Archives, error) {
	queries := make([]GroupsQuery, 0, len(found)*len(granularities))
	for i := range found {
		method, err := carbonara.ParseMethod(found[i].aggregation)
		if err != nil {
			return nil, err
		}
		for _, granularity := range granularities {
			queries = append(queries, GroupsQuery{found[i].metric, granularity, columnsOf(method), query.from.Floor(granularity), query.to})
		}
	}
	return a.prefetchQueries(ctx, queries)
}

// prefetchQueries returns the archives to ask these queries of.
func (a *api) prefetchQueries(ctx context.Context, queries []GroupsQuery) (Archives, error) {
	if prefetcher, ok := a.Archives.(Prefetcher); ok {
		return prefetcher.Prefetch(ctx, queries)
	}
	return a.Archives, nil
}
