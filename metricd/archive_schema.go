package metricd

import (
	"errors"
	"slices"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
)

// planOf returns the plan by which a metric's archive is continued.
func (s *sack) planOf(metric *model.Metric) (*carbonara.Plan, error) {
	plan := metric.ArchivePolicy.Plan()
	if !metric.SchemaPending() {
		return plan, nil
	}
	schema, err := s.store.Schema(metric.ID)
	if errors.Is(err, storage.ErrCorrupt) {
		s.parent.options.Logger.Error("schema of an archive does not decode; its policy's is assumed", "metric",
			metric.ID, "error", err)
		return plan, nil
	}
	if err != nil || len(schema) == 0 || schema.Matches(plan) {
		return plan, err
	}
	return s.sharedPlan(schema.Plan()), nil
}

// sharedPlan returns plan, or one like it that other heads of the sack have. work is held.
func (s *sack) sharedPlan(plan *carbonara.Plan) *carbonara.Plan {
	const most = 16 // earlier versions of policies that are being changed
	i := slices.IndexFunc(s.plans, plan.Equal)
	if i >= 0 {
		return s.plans[i]
	}
	if len(s.plans) == most {
		s.plans = s.plans[1:]
	}
	s.plans = append(s.plans, plan)
	return plan
}

// matchesPolicy reports whether the head's archive has the schema of its policy.
func (h *head) matchesPolicy() bool { return h.plan() == h.metric.ArchivePolicy.Plan() }

// follow makes the head one of a metric as the index has it now. Its plan changes if nothing was written by it yet.
func (h *head) follow(metric *model.Metric) {
	h.surveyed = h.surveyed && metric.ArchivePolicy == h.metric.ArchivePolicy
	h.setMetric(metric)
	plan := metric.ArchivePolicy.Plan()
	if h.hasBase && !h.plan().Equal(plan) {
		plan = h.plan()
	}
	h.judge.Follow(plan, metric.ArchivePolicy.BackWindow)
	h.complete()
}
