package heads

import (
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// planOf returns the plan by which a metric's archive is continued.
func (hs *Heads) planOf(metric *model.Metric) (*carbonara.Plan, error) {
	plan := metric.ArchivePolicy.Plan()
	if !metric.SchemaPending() {
		return plan, nil
	}
	schema, err := hs.options.Store.Schema(metric.ID)
	if errors.Is(err, storage.ErrCorrupt) {
		hs.options.Logger.Error("schema of an archive does not decode; its policy's is assumed", "metric",
			metric.ID, "error", err)
		return plan, nil
	}
	if err != nil || len(schema) == 0 || schema.Matches(plan) {
		return plan, err
	}
	return hs.sharedPlan(schema.Plan()), nil
}

// sharedPlan returns plan, or one like it that other heads of the sack have. The worker calls it.
func (hs *Heads) sharedPlan(plan *carbonara.Plan) *carbonara.Plan {
	const most = 16 // earlier versions of policies that are being changed
	i := slices.IndexFunc(hs.plans, plan.Equal)
	if i >= 0 {
		return hs.plans[i]
	}
	if len(hs.plans) == most {
		hs.plans = hs.plans[1:]
	}
	hs.plans = append(hs.plans, plan)
	return plan
}

// Load makes the heads of those metrics that have none in memory. A nil metric is gone. The worker calls it.
func (hs *Heads) Load(metrics []*model.Metric, generation uint64) (err error) {
	walk := hs.options.Store.Walk()
	defer func() { err = errors.Join(err, walk.Close()) }()
	var loaded []*Head
	var raw Raw // memory
	for _, metric := range metrics {
		if metric == nil || hs.Get(metric.ID) != nil {
			continue
		}
		h, err := hs.loadHead(metric, &walk, &raw)
		if err != nil {
			return err
		}
		h.generation = generation
		loaded = append(loaded, h)
	}
	hs.Lock()
	defer hs.Unlock()
	for _, h := range loaded {
		hs.heads[h.metric.ID] = h
	}
	return nil
}

// loadHead makes the head of a metric from the archive. Raw is memory.
func (hs *Heads) loadHead(metric *model.Metric, walk *archive.Walk, raw *Raw) (*Head, error) {
	end, err := raw.ReadAfterEnd(walk, metric.ID, func(end carbonara.RawEnd) (carbonara.Timestamp, bool) {
		return end.Present, end.Any
	})
	if err != nil {
		return nil, err
	}
	hs.options.Corrupt(end.Corrupt)
	plan, err := hs.planOf(metric)
	if err != nil {
		return nil, err
	}
	h := &Head{hasBase: end.Any, Judge: intake.NewJudge(plan, metric.ArchivePolicy.BackWindow)}
	if end.Any {
		h.base = carbonara.Measure{Timestamp: end.Newest, Value: raw.Values[len(raw.Values)-1]}
	}
	h.Load(end.RawEnd, raw.Timestamps, h.base)
	h.setMetric(metric)
	if err := hs.loadUnsettled(h); err != nil {
		return nil, err
	}
	if h.Incomplete() {
		if h.partial, err = hs.partialGroups(metric.ID); err != nil {
			return nil, err
		}
	}
	h.complete()
	return h, nil
}

// partialGroups returns those of a metric, nil for none. If they do not decode, fewer late measures are accepted.
func (hs *Heads) partialGroups(metric uuid.UUID) (*archive.PartialGroups, error) {
	partial, err := hs.options.Store.PartialGroups(metric)
	if errors.Is(err, storage.ErrCorrupt) {
		hs.options.Corrupt(1)
		hs.options.Logger.Error("partial groups do not decode; they stay", "metric", metric, "error", err)
		return nil, nil
	}
	return partial, err
}
