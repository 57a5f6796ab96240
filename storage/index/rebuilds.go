package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/metrics"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// rebuildTable holds the rebuilds of archives, and the changes that start them.
type rebuildTable struct {
	log      *commits.Log
	policies *policyTable
	metrics  *metrics.Table
	changed  chan struct{} // capacity 1: some may have been started
	late     lateTypes
}

// ChangeArchivePolicy replaces a policy by the result of change, which may differ in any field. The same write starts
// the rebuild of its metrics. The rebuild is nil if archives stay as they are.
func (s *rebuildTable) ChangeArchivePolicy(ctx context.Context, name string, now time.Time,
	change func(old *model.ArchivePolicy) (*model.ArchivePolicy, error)) (p *model.ArchivePolicy,
	job *model.Rebuild, err error) {
	err = s.policies.change(ctx, func(old *policiesAndTypes, b *pebble.Batch) (*policiesAndTypes, error) {
		was := old.policies[name]
		if was == nil {
			return nil, model.NotFound(model.NounArchivePolicy, name)
		}
		changed, err := change(was)
		if err != nil {
			return nil, err
		}
		p, job = new(*changed), nil
		p.SchemaPending = was.SchemaPending || !was.Plan().Equal(p.Plan())
		if !was.Plan().Equal(p.Plan()) {
			if job, err = s.start(b, &model.Rebuild{ID: model.RebuildOfPolicy(name),
				ArchivePolicy: name}, now); err != nil {
				return nil, err
			}
		}
		return old.with(p), setArchivePolicy(b, p)
	})
	if err != nil {
		return nil, nil, err
	}
	s.changedPolicy(name)
	return p, job, nil
}

// RebuildPolicy starts the rebuild of a policy's metrics as they are.
func (s *rebuildTable) RebuildPolicy(ctx context.Context, name string, now time.Time) (job *model.Rebuild, err error) {
	err = s.policies.change(ctx, func(old *policiesAndTypes, b *pebble.Batch) (_ *policiesAndTypes, err error) {
		was := old.policies[name]
		if was == nil {
			return nil, model.NotFound(model.NounArchivePolicy, name)
		}
		p := *was
		p.SchemaPending = true
		if job, err = s.start(b, &model.Rebuild{ID: model.RebuildOfPolicy(name),
			ArchivePolicy: name}, now); err != nil {
			return nil, err
		}
		return old.with(&p), setArchivePolicy(b, &p)
	})
	if err != nil {
		return nil, err
	}
	s.changedPolicy(name)
	return job, nil
}

// changedPolicy gives cached metrics the policy in force, and wakes rebuilds.
func (s *rebuildTable) changedPolicy(name string) {
	if p := s.policies.current.Load().policies[name]; p != nil {
		s.metrics.ReplacePolicy(p)
	}
	s.wake()
}

// ChangeMetric gives a metric another archive policy, or the one that it has, and starts its rebuild, in one write.
func (s *rebuildTable) ChangeMetric(ctx context.Context, id uuid.UUID, policy string,
	now time.Time) (m *model.Metric, job *model.Rebuild, err error) {
	return s.changeMetric(ctx, id, policy, now, func() error { return nil })
}

func (s *rebuildTable) changeMetric(ctx context.Context, id uuid.UUID, policy string, now time.Time,
	check func() error) (m *model.Metric, job *model.Rebuild, err error) {
	err = s.log.Write(ctx, func(c *commits.Change) error {
		if err := check(); err != nil {
			return err
		}
		was, err := s.metrics.Read(id)
		if err != nil {
			return err
		}
		if was.Deleted {
			return model.NotFound(model.NounMetric, id.String())
		}
		if m, err = s.setPolicy(c, was, policy); err != nil {
			return err
		}
		job, err = s.start(c.Batch, &model.Rebuild{ID: model.RebuildOfMetric(id), Metric: id}, now)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	s.metrics.Forget(id)
	s.wake()
	return m, job, nil
}

// PlanMetric plans a ChangeMetric. It replaces an earlier plan, and a change replaces it. While a change of the metric
// runs, it is a model.ErrInvalid.
func (s *rebuildTable) PlanMetric(ctx context.Context, id uuid.UUID, policy string, at time.Time) (
	job *model.Rebuild, err error) {
	err = s.log.Write(ctx, func(c *commits.Change) error {
		job = &model.Rebuild{ID: model.RebuildOfMetric(id), Metric: id, ArchivePolicy: policy,
			State: model.RebuildPlanned, Metrics: 1}
		if earlier, err := s.Rebuild(job.ID); err == nil && earlier.State == model.RebuildRunning {
			return &model.FieldError{Field: "after", Reason: "a rebuild of the metric is running"}
		}
		_, err = s.start(c.Batch, job, at)
		return err
	})
	s.wake()
	return job, err
}

// StartPlan changes the metric of a plan. It is a model.ErrInvalid if there is another plan by now, or none.
func (s *rebuildTable) StartPlan(ctx context.Context, plan *model.Rebuild, now time.Time) error {
	_, _, err := s.changeMetric(ctx, plan.Metric, plan.ArchivePolicy, now, func() error {
		stored, err := s.Rebuild(plan.ID)
		if err == nil && (stored.Run != plan.Run || stored.State != model.RebuildPlanned) {
			err = errRestarted
		}
		return err
	})
	return err
}

// setPolicy gives a metric another archive policy, or the one that it has.
func (s *rebuildTable) setPolicy(c *commits.Change, was *model.Metric, policy string) (*model.Metric, error) {
	is := *was
	if is.ArchivePolicy = s.policies.current.Load().policies[policy]; is.ArchivePolicy == nil {
		return nil, model.NotFound(model.NounArchivePolicy, policy)
	}
	is.OwnSchemaPending = true
	c.TouchMetric(is.ID)
	return &is, errors.Join(c.Delete(keyspace.PolicyMetricKey(was.ArchivePolicy.Name, is.ID), nil),
		c.Set(keyspace.PolicyMetricKey(policy, is.ID), nil, nil),
		c.Set(keyspace.IDKey(keyspace.Metric, is.ID), records.AppendMetric(nil, &is), nil))
}

// start writes a job that starts, from the beginning, or that is planned. The log's lock is held.
func (s *rebuildTable) start(b *pebble.Batch, job *model.Rebuild, now time.Time) (*model.Rebuild, error) {
	earlier, err := s.Rebuild(job.ID)
	if err != nil && !errors.Is(err, model.ErrNotFound) && !s.log.SkipCorrupt(err) {
		return nil, err
	}
	if earlier != nil {
		job.Run = earlier.Run + 1
	}
	job.State, job.Started = cmp.Or(job.State, model.RebuildRunning), now.UTC()
	return job, records.SetJSON(b, keyspace.IDKey(keyspace.Rebuild, job.ID), job)
}

// Rebuild returns one by its ID, or a model.ErrNotFound.
func (s *rebuildTable) Rebuild(id uuid.UUID) (*model.Rebuild, error) {
	return read[model.Rebuild](s.log, keyspace.Rebuild, id, model.NounRebuild)
}

// Rebuilds returns all that are known, the latest first. Of those that are done the oldest are forgotten. The changes
// that they are about can be seen by then.
func (s *rebuildTable) Rebuilds(ctx context.Context) (jobs []*model.Rebuild, err error) {
	s.log.Locked(func() { jobs, err = s.readRebuilds(ctx) })
	return jobs, err
}

func (s *rebuildTable) readRebuilds(ctx context.Context) ([]*model.Rebuild, error) {
	var jobs []*model.Rebuild
	err := each(ctx, s.log, keyspace.Rebuild, uuid.Nil, func(_ []byte, job *model.Rebuild) bool {
		jobs = append(jobs, job)
		return true
	})
	slices.SortFunc(jobs, func(a, b *model.Rebuild) int {
		return cmp.Or(b.Started.Compare(a.Started), model.CompareIDs(a.ID, b.ID))
	})
	return jobs, err
}

// errRestarted says that a rebuild was started anew or cancelled meanwhile. It is a model.ErrInvalid.
var errRestarted = fmt.Errorf("%w: rebuild is another by now", model.ErrInvalid)

// checkRun returns an error unless the stored job is the same run, and running. The log's lock is held.
func (s *rebuildTable) checkRun(job *model.Rebuild) error {
	stored, err := s.Rebuild(job.ID)
	if err != nil {
		return err
	}
	if stored.Run != job.Run || stored.State != model.RebuildRunning {
		return errRestarted
	}
	return nil
}

// AdvanceRebuild keeps how far one has come. It is a model.ErrInvalid if that was started anew or cancelled.
func (s *rebuildTable) AdvanceRebuild(ctx context.Context, job *model.Rebuild) error {
	return s.log.Write(ctx, func(c *commits.Change) error {
		if err := s.checkRun(job); err != nil {
			return err
		}
		return records.SetJSON(c.Batch, keyspace.IDKey(keyspace.Rebuild, job.ID), job)
	})
}

// CancelRebuild ends a running rebuild or a plan. Archives that it has not reached keep their schema, and are processed
// by it, until the rebuild is started again.
func (s *rebuildTable) CancelRebuild(ctx context.Context, id uuid.UUID, now time.Time) (job *model.Rebuild, err error) {
	err = s.log.Write(ctx, func(c *commits.Change) error {
		if job, err = s.Rebuild(id); err != nil {
			return err
		}
		if job.State != model.RebuildRunning && job.State != model.RebuildPlanned {
			return nil
		}
		job.State, job.Finished = model.RebuildCancelled, now.UTC()
		return records.SetJSON(c.Batch, keyspace.IDKey(keyspace.Rebuild, id), job)
	})
	return job, err
}

// FinishRebuild ends one that has come to all metrics. If none has failed, their archives have the schema that their
// policy says, and nobody looks any more. It is a model.ErrInvalid if it was started anew or cancelled.
func (s *rebuildTable) FinishRebuild(ctx context.Context, job *model.Rebuild, now time.Time) error {
	job.State, job.Finished = model.RebuildDone, now.UTC()
	if job.Metric != uuid.Nil {
		return s.finishMetric(ctx, job)
	}
	err := s.policies.change(ctx, func(old *policiesAndTypes, b *pebble.Batch) (*policiesAndTypes, error) {
		if err := s.checkRun(job); err != nil {
			return nil, err
		}
		if err := records.SetJSON(b, keyspace.IDKey(keyspace.Rebuild, job.ID), job); err != nil {
			return nil, err
		}
		was := old.policies[job.ArchivePolicy]
		if was == nil || job.Failed > 0 {
			return old, nil
		}
		p := *was
		p.SchemaPending = false
		return old.with(&p), setArchivePolicy(b, &p)
	})
	if err == nil {
		s.changedPolicy(job.ArchivePolicy)
	}
	return err
}

func (s *rebuildTable) finishMetric(ctx context.Context, job *model.Rebuild) error {
	err := s.log.Write(ctx, func(c *commits.Change) error {
		if err := s.checkRun(job); err != nil {
			return err
		}
		if err := s.forgetRebuilds(ctx, c.Batch); err != nil {
			return err
		}
		if err := records.SetJSON(c.Batch, keyspace.IDKey(keyspace.Rebuild, job.ID), job); err != nil {
			return err
		}
		m, err := s.metrics.Read(job.Metric)
		if errors.Is(err, model.ErrNotFound) || err == nil && job.Failed > 0 {
			return nil
		}
		if err != nil {
			return err
		}
		m.OwnSchemaPending = false
		return c.Set(keyspace.IDKey(keyspace.Metric, m.ID), records.AppendMetric(nil, m), nil)
	})
	if err == nil {
		s.metrics.Forget(job.Metric)
	}
	return err
}

// maxFinishedRebuilds of single metrics are kept, to be looked at.
const maxFinishedRebuilds = 1000

// forgetRebuilds removes those of single metrics that were done first, while there are too many.
func (s *rebuildTable) forgetRebuilds(ctx context.Context, b *pebble.Batch) error {
	jobs, err := s.readRebuilds(ctx)
	if err != nil {
		return err
	}
	jobs = slices.DeleteFunc(jobs, func(job *model.Rebuild) bool {
		return job.Metric == uuid.Nil || job.State != model.RebuildDone || job.Failed > 0
	})
	for _, job := range jobs[min(len(jobs), maxFinishedRebuilds):] {
		if err := b.Delete(keyspace.IDKey(keyspace.Rebuild, job.ID), nil); err != nil {
			return err
		}
	}
	return nil
}

// RebuildsChanged carries a token once one may have been started.
func (s *rebuildTable) RebuildsChanged() <-chan struct{} { return s.changed }

func (s *rebuildTable) wake() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
