package index

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"gnocco/model"
)

// ChangeArchivePolicy replaces a policy by what change makes of it, whatever that changes, and starts the reaggregation of its
// metrics, in one write. The reaggregation is nil if archives stay as they are.
func (s *Store) ChangeArchivePolicy(ctx context.Context, name string, now time.Time,
	change func(old *model.ArchivePolicy) (*model.ArchivePolicy, error)) (p *model.ArchivePolicy, job *model.Reaggregation, err error) {
	err = s.writeCatalog(ctx, func(old *catalog, b *pebble.Batch) (*catalog, error) {
		was := old.policies[name]
		if was == nil {
			return nil, model.NotFound(model.NounArchivePolicy, name)
		}
		changed, err := change(was)
		if err != nil {
			return nil, err
		}
		made := *changed
		p, job = &made, nil
		p.Unsettled = was.Unsettled || !was.Plan().Equal(p.Plan())
		if !was.Plan().Equal(p.Plan()) {
			if job, err = s.startReaggregation(b, &model.Reaggregation{ID: model.ReaggregationOfPolicy(name), ArchivePolicy: name}, now); err != nil {
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

// ReaggregatePolicy starts the reaggregation of a policy's metrics as they are.
func (s *Store) ReaggregatePolicy(ctx context.Context, name string, now time.Time) (job *model.Reaggregation, err error) {
	err = s.writeCatalog(ctx, func(old *catalog, b *pebble.Batch) (_ *catalog, err error) {
		was := old.policies[name]
		if was == nil {
			return nil, model.NotFound(model.NounArchivePolicy, name)
		}
		p := *was
		p.Unsettled = true
		if job, err = s.startReaggregation(b, &model.Reaggregation{ID: model.ReaggregationOfPolicy(name), ArchivePolicy: name}, now); err != nil {
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

// changedPolicy shows the policy in force to who asks for its metrics.
func (s *Store) changedPolicy(name string) {
	if p := s.catalog.Load().policies[name]; p != nil {
		s.cache.replacePolicy(p)
	}
	s.wakeReaggregations()
}

// ChangeMetric gives a metric another archive policy, or the one that it has, and starts its reaggregation, in one write.
func (s *Store) ChangeMetric(ctx context.Context, id uuid.UUID, policy string, now time.Time) (m *model.Metric, job *model.Reaggregation, err error) {
	err = s.write(ctx, func(c *change) error {
		was, err := s.readMetric(id)
		if err != nil {
			return err
		}
		if was.Deleted {
			return model.NotFound(model.NounMetric, id.String())
		}
		is := *was
		if is.ArchivePolicy = s.catalog.Load().policies[policy]; is.ArchivePolicy == nil {
			return model.NotFound(model.NounArchivePolicy, policy)
		}
		is.Unsettled = true
		m = &is
		if err := c.Delete(policyMetricKey(was.ArchivePolicy.Name, id), nil); err != nil {
			return err
		}
		if err := c.Set(policyMetricKey(policy, id), nil, nil); err != nil {
			return err
		}
		if err := c.Set(idKey(prefixMetric, id), appendMetric(nil, &is), nil); err != nil {
			return err
		}
		job, err = s.startReaggregation(c.Batch, &model.Reaggregation{ID: model.ReaggregationOfMetric(id), Metric: id}, now)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	s.cache.remove([]uuid.UUID{id})
	s.wakeReaggregations()
	return m, job, nil
}

// startReaggregation writes a job that starts, from the beginning. mu is held.
func (s *Store) startReaggregation(b *pebble.Batch, job *model.Reaggregation, now time.Time) (*model.Reaggregation, error) {
	earlier, err := s.Reaggregation(job.ID)
	if err != nil && !errors.Is(err, model.ErrNotFound) && !s.skipCorrupt(err) {
		return nil, err
	}
	if earlier != nil {
		job.Run = earlier.Run + 1
	}
	job.State, job.Started = model.ReaggregationRunning, now.UTC()
	return job, setJSON(b, idKey(prefixReaggregation, job.ID), job)
}

// Reaggregation returns one by its ID, or a model.ErrNotFound.
func (s *Store) Reaggregation(id uuid.UUID) (*model.Reaggregation, error) {
	value, err := s.get(idKey(prefixReaggregation, id))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, model.NotFound(model.NounReaggregation, id.String())
	}
	if err != nil {
		return nil, fmt.Errorf("index: read reaggregation %s: %w", id, err)
	}
	job := new(model.Reaggregation)
	if err := decodeJSON(value, job); err != nil {
		return nil, fmt.Errorf("reaggregation %s: %w", id, err)
	}
	return job, nil
}

// Reaggregations returns all that are known, the latest first. Of those that are done the oldest are forgotten. The changes that
// they are about can be seen by then.
func (s *Store) Reaggregations(ctx context.Context) ([]*model.Reaggregation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readReaggregations(ctx)
}

// CurrentMetrics returns metrics as they are kept, not as they were cached a moment ago; those that are deleted or unknown are left
// out. What it returns need not be durable yet.
func (s *Store) CurrentMetrics(ids []uuid.UUID) (metrics []*model.Metric, err error) {
	for _, id := range ids {
		m, err := s.readMetric(id)
		if errors.Is(err, model.ErrNotFound) || err == nil && m.Deleted || err != nil && s.skipCorrupt(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		metrics = append(metrics, m)
	}
	return metrics, nil
}

func (s *Store) readReaggregations(ctx context.Context) ([]*model.Reaggregation, error) {
	var jobs []*model.Reaggregation
	err := s.scan(ctx, []byte{prefixReaggregation}, nil, func(key, value []byte) (bool, error) {
		job := new(model.Reaggregation)
		if err := decodeJSON(value, job); err != nil {
			s.skipCorrupt(fmt.Errorf("reaggregation %x: %w", key[1:], err))
			return true, nil
		}
		jobs = append(jobs, job)
		return true, nil
	})
	slices.SortFunc(jobs, func(a, b *model.Reaggregation) int {
		return cmp.Or(b.Started.Compare(a.Started), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return jobs, err
}

// errRestarted says that a reaggregation was started anew or cancelled meanwhile. It is a model.ErrInvalid.
var errRestarted = fmt.Errorf("%w: reaggregation is another by now", model.ErrInvalid)

// current returns the job as it is stored, if it is the same run, and running. mu is held.
func (s *Store) current(job *model.Reaggregation) error {
	stored, err := s.Reaggregation(job.ID)
	if err != nil {
		return err
	}
	if stored.Run != job.Run || stored.State != model.ReaggregationRunning {
		return errRestarted
	}
	return nil
}

// AdvanceReaggregation keeps how far one has come. It is a model.ErrInvalid if that was started anew or cancelled.
func (s *Store) AdvanceReaggregation(ctx context.Context, job *model.Reaggregation) error {
	return s.write(ctx, func(c *change) error {
		if err := s.current(job); err != nil {
			return err
		}
		return setJSON(c.Batch, idKey(prefixReaggregation, job.ID), job)
	})
}

// CancelReaggregation ends one that runs. What it has not come to keeps its form, and goes on so, until it is started again.
func (s *Store) CancelReaggregation(ctx context.Context, id uuid.UUID, now time.Time) (job *model.Reaggregation, err error) {
	err = s.write(ctx, func(c *change) error {
		if job, err = s.Reaggregation(id); err != nil {
			return err
		}
		if job.State != model.ReaggregationRunning {
			return nil
		}
		job.State, job.Finished = model.ReaggregationCancelled, now.UTC()
		return setJSON(c.Batch, idKey(prefixReaggregation, id), job)
	})
	return job, err
}

// FinishReaggregation ends one that has come to all metrics. If none has failed, their archives have the form that their policy
// says, and nobody looks any more. It is a model.ErrInvalid if it was started anew or cancelled.
func (s *Store) FinishReaggregation(ctx context.Context, job *model.Reaggregation, now time.Time) error {
	job.State, job.Finished = model.ReaggregationDone, now.UTC()
	if job.Metric != uuid.Nil {
		return s.finishMetric(ctx, job)
	}
	err := s.writeCatalog(ctx, func(old *catalog, b *pebble.Batch) (*catalog, error) {
		if err := s.current(job); err != nil {
			return nil, err
		}
		if err := setJSON(b, idKey(prefixReaggregation, job.ID), job); err != nil {
			return nil, err
		}
		was := old.policies[job.ArchivePolicy]
		if was == nil || job.Failed > 0 {
			return old, nil
		}
		p := *was
		p.Unsettled = false
		return old.with(&p), setArchivePolicy(b, &p)
	})
	if err == nil {
		s.changedPolicy(job.ArchivePolicy)
	}
	return err
}

func (s *Store) finishMetric(ctx context.Context, job *model.Reaggregation) error {
	err := s.write(ctx, func(c *change) error {
		if err := s.current(job); err != nil {
			return err
		}
		if err := s.forgetReaggregations(ctx, c.Batch); err != nil {
			return err
		}
		if err := setJSON(c.Batch, idKey(prefixReaggregation, job.ID), job); err != nil {
			return err
		}
		m, err := s.readMetric(job.Metric)
		if errors.Is(err, model.ErrNotFound) || err == nil && job.Failed > 0 {
			return nil
		}
		if err != nil {
			return err
		}
		m.Unsettled = false
		return c.Set(idKey(prefixMetric, m.ID), appendMetric(nil, m), nil)
	})
	if err == nil {
		s.cache.remove([]uuid.UUID{job.Metric})
	}
	return err
}

// maxFinishedReaggregations of single metrics are kept, to be looked at.
const maxFinishedReaggregations = 1000

// forgetReaggregations removes those of single metrics that were done first, while there are too many.
func (s *Store) forgetReaggregations(ctx context.Context, b *pebble.Batch) error {
	jobs, err := s.readReaggregations(ctx)
	if err != nil {
		return err
	}
	jobs = slices.DeleteFunc(jobs, func(job *model.Reaggregation) bool {
		return job.Metric == uuid.Nil || job.State != model.ReaggregationDone || job.Failed > 0
	})
	for _, job := range jobs[min(len(jobs), maxFinishedReaggregations):] {
		if err := b.Delete(idKey(prefixReaggregation, job.ID), nil); err != nil {
			return err
		}
	}
	return nil
}

// MetricsOfPolicy returns the IDs of up to limit (0: all) metrics of a policy behind one (zero: from the first), ascending, those
// marked deleted too.
func (s *Store) MetricsOfPolicy(ctx context.Context, name string, after uuid.UUID, limit int) (ids []uuid.UUID, err error) {
	prefix := policyMetricPrefix(name)
	var from []byte
	if after != uuid.Nil {
		from = append(policyMetricKey(name, after), 0)
	}
	err = s.scan(ctx, prefix, from, func(key, _ []byte) (bool, error) {
		if id, ok := lastID(key); ok && len(key) == len(prefix)+len(id) {
			ids = append(ids, id)
		}
		return limit == 0 || len(ids) < limit, nil
	})
	return ids, err
}

// ReaggregationsChanged carries a token once one may have been started.
func (s *Store) ReaggregationsChanged() <-chan struct{} { return s.reaggregations }

func (s *Store) wakeReaggregations() {
	select {
	case s.reaggregations <- struct{}{}:
	default:
	}
}
