package index

import (
	"context"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/metrics"
	"github.com/gnocco-db/gnocco/storage/index/search"
)

// The questions that callers put to a Store, by the names that they use.
type (
	MetricQuery   = metrics.Query
	MetricSet     = metrics.Set
	SortKey       = metrics.SortKey
	ResourceQuery = search.Query
)

// Where metrics without a sort key's value stand.
const (
	NullsDefault = metrics.NullsDefault
	NullsFirst   = metrics.NullsFirst
	NullsLast    = metrics.NullsLast
)

// EachMetric calls f for all metrics that are not marked deleted.
func (s *Store) EachMetric(ctx context.Context, f func(*model.Metric)) error {
	return s.Table.EachMetric(ctx, f)
}

// FindCurrent is Find without the cache, which learns of a change once it is durable, and so after ChangesSince.
func (s *Store) FindCurrent(ids []uuid.UUID, found []*model.Metric) error {
	return s.Table.FindCurrent(ids, found)
}

// EachLiveResource calls f for all resources as they are, without their metrics, one after the other.
func (s *Store) EachLiveResource(ctx context.Context, f func(*model.Resource)) error {
	return s.Resources.EachLiveResource(ctx, f)
}
