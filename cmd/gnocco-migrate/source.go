package main

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// errGone is the error of a metric that the source has deleted meanwhile.
var errGone = errors.New("the metric is gone")

// source is a Gnocchi, which is only read.
type source interface {
	// definitions returns all but the aggregates.
	definitions(ctx context.Context) (*definitions, error)
	// archive returns what there is of a metric, but for groups that ended before since. It may be called by several
	// goroutines. The error is errGone if there is no such metric any more.
	archive(ctx context.Context, m *model.Metric, since carbonara.Timestamp) (*archived, error)
	// backlog returns how many measures wait at the source to be processed, which archive does not show.
	backlog(ctx context.Context) (int, error)
	// changed reports whether a metric may have other aggregates than it had at a time.
	changed(m *model.Metric, at time.Time) bool
	close() error
}

// definitions are what an index holds.
type definitions struct {
	policies  []*model.ArchivePolicy
	rules     []*model.ArchivePolicyRule
	types     []*model.ResourceType // without generic
	resources []*resource
	metrics   []*model.Metric
}

// resource is a resource with its past states, oldest first.
type resource struct {
	live *model.Resource
	past []*model.Resource
}

func (d *definitions) revisions() int {
	n := len(d.resources)
	for _, r := range d.resources {
		n += len(r.past)
	}
	return n
}

// byResource returns the metrics that each resource names; those without a resource are under uuid.Nil.
func (d *definitions) byResource() map[uuid.UUID][]*model.Metric {
	metrics := make(map[uuid.UUID][]*model.Metric)
	for _, m := range d.metrics {
		id := uuid.Nil
		if m.ResourceID != nil {
			id = *m.ResourceID
		}
		metrics[id] = append(metrics[id], m)
	}
	return metrics
}

// archived is what a source has of a metric.
type archived struct {
	aggregates map[time.Duration]map[carbonara.Method]series
	raw        *series // nil where the source does not give it
	unread     int     // splits that did not decode
}

// series is timestamps, ascending, and values.
type series struct {
	timestamps []carbonara.Timestamp
	values     []float64
}

func (s *series) add(t carbonara.Timestamp, v float64) {
	s.timestamps, s.values = append(s.timestamps, t), append(s.values, v)
}

// count returns the number of aggregates.
func (a *archived) count() (n int) {
	for _, methods := range a.aggregates {
		for _, s := range methods {
			n += len(s.timestamps)
		}
	}
	return n
}

// withoutPassword returns an address as it may be kept and shown.
func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	u.User = url.User(u.User.Username())
	return u.String()
}
