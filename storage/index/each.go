package index

import (
	"context"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/model/filter"
)

// EachMetric calls f for all metrics that are not marked deleted.
func (s *Store) EachMetric(ctx context.Context, f func(*model.Metric)) error {
	_, err := s.ListMetrics(ctx, MetricQuery{Visible: func(m *model.Metric) bool {
		f(m)
		return false
	}})
	return err
}

// EachLiveResource calls f for all resources as they are, without their metrics, one after the other.
func (s *Store) EachLiveResource(ctx context.Context, f func(*model.Resource)) error {
	kind, err := s.ResourceType(model.GenericType)
	if err != nil {
		return err
	}
	all, err := filter.Compile(nil, filter.Scope{Type: kind})
	if err != nil {
		return err
	}
	_, err = s.FindResources(ctx, ResourceQuery{Type: model.GenericType, Filter: all,
		Visible: func(r *model.Resource) bool {
			f(r)
			return false
		}})
	return err
}
