package cluster

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/model/filter"
	"github.com/gnocco-db/gnocco/storage/index"
)

// The holder of the index, and nobody else, ends resources whose metrics are silent, and deletes those that ended long
// ago.

// ResourceAges say when resources end by themselves, and are deleted. Zero: never.
type ResourceAges struct {
	// MetricInactiveAfter is how long all metrics of a resource have had no new measure when it ends.
	MetricInactiveAfter time.Duration
	// ResourceCleanupAfter is how long after its end a resource is deleted, with its metrics and all of their
	// aggregates.
	ResourceCleanupAfter time.Duration
}

// interval is how often resources are looked at: a tenth of the shorter age, and at least every five minutes.
func (a *ResourceAges) interval() time.Duration {
	interval := 5 * time.Minute
	for _, age := range []time.Duration{a.MetricInactiveAfter, a.ResourceCleanupAfter} {
		if age > 0 {
			interval = min(interval, max(age/10, 100*time.Millisecond))
		}
	}
	return interval
}

// resourcesAtOnce bounds how many resources are in memory.
const resourcesAtOnce = 1000

// resourceEnds is the background work on the resources of a held index.
type resourceEnds struct {
	ResourceAges
	index    *index.Store
	archives *Router
	logger   *slog.Logger
	stop     func()
}

func startResourceEnds(ages ResourceAges, store *index.Store, archives *Router, logger *slog.Logger) *resourceEnds {
	e := &resourceEnds{ResourceAges: ages, index: store, archives: archives, logger: logger, stop: func() {}}
	if ages != (ResourceAges{}) {
		e.stop = pause.Go(e.run)
	}
	return e
}

func (e *resourceEnds) run(ctx context.Context) {
	for range pause.Ticks(ctx, e.interval()) {
		now := carbonara.FromTime(time.Now())
		if err := errors.Join(e.endSilent(ctx, now), e.deleteExpired(ctx, now)); err != nil && ctx.Err() == nil {
			e.logger.Warn("not all resources are ended or deleted that should be; trying again", "error", err)
		}
	}
}

// endSilent ends resources all of whose metrics are silent.
func (e *resourceEnds) endSilent(ctx context.Context, now carbonara.Timestamp) error {
	if e.MetricInactiveAfter == 0 {
		return nil
	}
	before := now.Add(-e.MetricInactiveAfter)
	// A resource that was changed lately is left alone: it was revived, or its metrics have had no time for a measure.
	done := func(r *model.Resource) bool { return r.EndedAt != nil || r.RevisionStart >= before }
	ended := 0
	err := e.each(ctx, nil, func(found []*model.Resource) error {
		silent, err := e.silent(ctx, slices.DeleteFunc(found, done), before)
		if err != nil {
			return err
		}
		for _, id := range silent {
			_, err := e.index.UpdateResource(ctx, model.GenericType, id, now,
				func(r *model.Resource) (*index.MetricSet, error) {
					if done(r) {
						return nil, errChanged
					}
					r.EndedAt = &now
					return nil, nil
				})
			switch {
			case errors.Is(err, model.ErrNotFound), errors.Is(err, errChanged):
			case err != nil:
				return err
			default:
				ended++
			}
		}
		return nil
	})
	if ended > 0 {
		e.logger.Info("resources ended: their metrics are silent", "resources", ended)
	}
	return err
}

// silent returns those of the resources that have metrics, none of them with a measure since a time.
func (e *resourceEnds) silent(ctx context.Context, resources []*model.Resource,
	since carbonara.Timestamp) ([]uuid.UUID, error) {
	if err := e.index.AddMetrics(ctx, resources...); err != nil {
		return nil, err
	}
	var metrics []uuid.UUID
	for _, r := range resources {
		metrics = slices.AppendSeq(metrics, maps.Values(r.Metrics))
	}
	last, err := e.archives.LastMeasures(ctx, metrics)
	if err != nil {
		return nil, err
	}
	newest := make(map[uuid.UUID]carbonara.Timestamp, len(metrics))
	for i, id := range metrics {
		newest[id] = last[i]
	}
	var silent []uuid.UUID
	for _, r := range resources {
		quiet := len(r.Metrics) > 0
		for _, id := range r.Metrics {
			quiet = quiet && newest[id] < since
		}
		if quiet {
			silent = append(silent, r.ID)
		}
	}
	return silent, nil
}

// errChanged says that a resource is not what it was when it was found.
var errChanged = errors.New("the resource has changed")

// deleteExpired deletes resources that ended long ago.
func (e *resourceEnds) deleteExpired(ctx context.Context, now carbonara.Timestamp) error {
	if e.ResourceCleanupAfter == 0 {
		return nil
	}
	before := now.Add(-e.ResourceCleanupAfter)
	check := func(r *model.Resource) error {
		if r.EndedAt == nil || *r.EndedAt >= before {
			return errChanged
		}
		return nil
	}
	expired, err := filter.ParseTree(
		map[string]any{"<": map[string]any{"ended_at": before.Time().Format(time.RFC3339Nano)}})
	if err != nil {
		return err
	}
	deleted := 0
	err = e.each(ctx, expired, func(found []*model.Resource) error {
		for _, r := range found {
			err := e.index.DeleteResource(ctx, model.GenericType, r.ID, check)
			switch {
			case errors.Is(err, model.ErrNotFound), errors.Is(err, errChanged):
			case err != nil:
				return err
			default:
				deleted++
			}
		}
		return nil
	})
	if deleted > 0 {
		e.logger.Info("resources deleted: they ended long ago", "resources", deleted)
	}
	return err
}

// each calls use with all resources that match, by ID, some at a time.
func (e *resourceEnds) each(ctx context.Context, which *filter.Expr, use func([]*model.Resource) error) error {
	generic, err := e.index.ResourceType(model.GenericType)
	if err != nil {
		return err
	}
	query := index.ResourceQuery{Type: model.GenericType, Limit: resourcesAtOnce}
	if query.Filter, err = filter.Compile(which, filter.Scope{Type: generic}); err != nil {
		return err
	}
	for {
		found, err := e.index.FindResources(ctx, query)
		if err != nil || len(found) == 0 {
			return err
		}
		query.After = found[len(found)-1]
		if err := use(found); err != nil {
			return err
		}
	}
}
