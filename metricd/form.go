package metricd

import (
	"errors"
	"slices"
	"time"

	"gnocco/carbonara"
	"gnocco/model"
	"gnocco/storage/archive"
)

// An archive has a form: the granularities and columns of the policy by which it was last processed. When a policy gets others,
// or a metric another policy, archives keep their form, and measures are processed in that form, until Reaggregate has brought
// them into the new one, in one synced batch each. So at any moment, whatever is interrupted, the archive itself says how to go
// on with it. Only where the index says that forms may differ it is asked.

// planOf returns the plan by which a metric's archive is continued.
func (s *sack) planOf(metric *model.Metric) (*carbonara.Plan, error) {
	plan := metric.ArchivePolicy.Plan()
	if !metric.MayDiffer() {
		return plan, nil
	}
	form, err := s.store.Form(metric.ID)
	if errors.Is(err, carbonara.ErrCorrupt) {
		s.parent.options.Logger.Error("form of an archive not known; taken for its policy's", "metric", metric.ID, "error", err)
		return plan, nil
	}
	if err != nil || len(form) == 0 || form.Is(plan) {
		return plan, err
	}
	return s.sharedPlan(planOfForm(form)), nil
}

// planOfForm returns the plan that makes archives of a form.
func planOfForm(form archive.Form) *carbonara.Plan {
	granularities := make([]time.Duration, len(form))
	for i, item := range form {
		granularities[i] = item.Granularity
	}
	return carbonara.PlanOf(granularities, form[0].Columns)
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

// settled tells whether the head's archive has the form of its policy.
func (h *head) settled() bool { return h.plan == h.metric.ArchivePolicy.Plan() }

// follow makes the head one of a metric as the index has it now. Its plan changes if nothing was written by it yet.
func (h *head) follow(metric *model.Metric) {
	h.surveyed = h.surveyed && metric.ArchivePolicy == h.metric.ArchivePolicy
	h.metric = metric
	if plan := metric.ArchivePolicy.Plan(); !h.hasBase || h.plan.Equal(plan) {
		h.plan = plan
	}
	h.outgrow()
}
