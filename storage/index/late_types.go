package index

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// LateTypes are the work of package latetypes: series that may have to move to another archive policy, as their type is
// known only now.
type LateTypes struct {
	Names   map[SeriesName]bool // to look at
	Changed []uuid.UUID         // by ChangeMetrics: their archives have to follow
}

// SeriesName is the name of a project's series.
type SeriesName struct{ Project, Name string }

// lateTypes are those that wait to be looked at.
type lateTypes struct {
	mu sync.Mutex
	LateTypes
}

// Retype has the series of names looked at: their types may be others now.
func (s *rebuildTable) Retype(names ...SeriesName) {
	s.late.mu.Lock()
	defer s.late.mu.Unlock()
	if s.late.Names == nil {
		s.late.Names = make(map[SeriesName]bool)
	}
	for _, n := range names {
		s.late.Names[n] = true
	}
	s.wake()
}

// TakeLateTypes returns what there is to look at, and forgets it.
func (s *rebuildTable) TakeLateTypes() LateTypes {
	s.late.mu.Lock()
	defer s.late.mu.Unlock()
	late := s.late.LateTypes
	s.late.LateTypes = LateTypes{}
	return late
}

// ChangeMetrics gives those of some metrics that wants still accepts another archive policy, in one write, and adds
// them to a running rebuild of this ID, or begins it. TakeLateTypes has them next.
func (s *rebuildTable) ChangeMetrics(ctx context.Context, ids []uuid.UUID, wants func(*model.Metric) bool,
	policy string, rebuild uuid.UUID, now time.Time) error {
	var changed []uuid.UUID
	err := s.log.Write(ctx, func(c *commits.Change) error {
		changed = changed[:0]
		for _, id := range ids {
			was, err := s.metrics.Read(id)
			switch {
			case errors.Is(err, model.ErrNotFound) || err != nil && s.log.SkipCorrupt(err):
			case err != nil:
				return err
			case !was.Deleted && wants(was):
				if _, err := s.setPolicy(c, was, policy); err != nil {
					return err
				}
				changed = append(changed, id)
			}
		}
		if len(changed) == 0 {
			return nil
		}
		job, err := s.Rebuild(rebuild)
		if err != nil || job.State != model.RebuildRunning {
			if job, err = s.start(c.Batch, &model.Rebuild{ID: rebuild, ArchivePolicy: policy}, now); err != nil {
				return err
			}
		}
		job.Metrics += len(changed)
		return records.SetJSON(c.Batch, keyspace.IDKey(keyspace.Rebuild, rebuild), job)
	})
	if err != nil || len(changed) == 0 {
		return err
	}
	s.metrics.Forget(changed...)
	s.late.mu.Lock()
	defer s.late.mu.Unlock()
	s.late.Changed = append(s.late.Changed, changed...)
	s.wake()
	return nil
}

// FinishChanges notes that archives of ChangeMetrics have the schema of their policy, and counts what was done. Last
// says that the rebuild is done.
func (s *rebuildTable) FinishChanges(ctx context.Context, rebuild uuid.UUID, ids []uuid.UUID, done model.RebuildCounts,
	last bool, now time.Time) error {
	err := s.log.Write(ctx, func(c *commits.Change) error {
		job, err := s.Rebuild(rebuild)
		if err != nil {
			return err
		}
		for _, id := range ids {
			m, err := s.metrics.Read(id)
			if errors.Is(err, model.ErrNotFound) || err != nil && s.log.SkipCorrupt(err) {
				continue
			}
			if err != nil {
				return err
			}
			if m.OwnSchemaPending && m.ArchivePolicy.Name == job.ArchivePolicy {
				m.OwnSchemaPending = false
				if err := c.Set(keyspace.IDKey(keyspace.Metric, id), records.AppendMetric(nil, m), nil); err != nil {
					return err
				}
			}
		}
		if job.Add(&done); last {
			job.State, job.Finished = model.RebuildDone, now.UTC()
		}
		return records.SetJSON(c.Batch, keyspace.IDKey(keyspace.Rebuild, rebuild), job)
	})
	if err == nil {
		s.metrics.Forget(ids...)
	}
	return err
}
