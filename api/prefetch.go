package api

import (
	"context"
	"time"

	"gnocco/carbonara"
	"gnocco/model"
)

// A Prefetcher is an Archives that may have to ask other processes, and can ask for much at once.
type Prefetcher interface {
	Archives
	// Prefetch returns an Archives that answers these reads, from memory where they had to be asked for elsewhere.
	Prefetch(ctx context.Context, reads []model.Read) (Archives, error)
}

// prefetch returns the archives to read the metrics from.
func (a *api) prefetch(ctx context.Context, found []foundMetric, granularities []time.Duration, query *aggregatesQuery) (Archives, error) {
	reads := make([]model.Read, 0, len(found)*len(granularities))
	for i := range found {
		method, err := carbonara.ParseMethod(found[i].aggregation)
		if err != nil {
			return nil, err
		}
		for _, granularity := range granularities {
			reads = append(reads, readOf(found[i].metric, granularity, method, query.from, query.to))
		}
	}
	return a.prefetchReads(ctx, reads)
}

// prefetchReads returns the archives to ask for these reads.
func (a *api) prefetchReads(ctx context.Context, reads []model.Read) (Archives, error) {
	if prefetcher, ok := a.Archives.(Prefetcher); ok {
		return prefetcher.Prefetch(ctx, reads)
	}
	return a.Archives, nil
}
