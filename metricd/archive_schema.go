package metricd

import (
	"errors"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// The schema of an archive is the granularities and columns of the policy by which it was last processed. When a policy
// gets others, or a metric gets another policy, archives keep their schema, and measures are processed by it, until
// Rebuild writes the new one, in one synced batch each. So at any moment, whatever is interrupted, the archive itself
// tells its schema. It is read only where the index says that a schema is pending.

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
	return s.sharedPlan(planOfSchema(schema)), nil
}

// planOfSchema returns the plan that makes archives of a schema.
func planOfSchema(schema archive.Schema) *carbonara.Plan {
	granularities := make([]time.Duration, len(schema))
	for i, item := range schema {
		granularities[i] = item.Granularity
	}
	return carbonara.PlanOf(granularities, schema[0].Columns)
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
