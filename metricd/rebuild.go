package metricd

import (
	"context"
	"fmt"
	"sync"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/metricd/rebuild"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// Rebuild gives the archives of metrics the schema of their archive policies. Their sacks must be held. The error is a
// model.ErrUnavailable if the index, as this process sees it, has other policies for the metrics. The rebuilt archives
// are durable, and repeating Rebuild changes nothing. With an error some may be rebuilt. Measures are processed between
// two metrics.
func (p *Metricd) Rebuild(ctx context.Context, metrics []*model.Metric) (done model.RebuildCounts, err error) {
	bySack := make(map[*sack][]*model.Metric)
	for _, m := range metrics {
		s, err := p.sackOf(m.ID)
		if err != nil {
			return done, err
		}
		bySack[s] = append(bySack[s], m)
	}
	var mu sync.Mutex
	var all errgroup.Group
	for s, metrics := range bySack {
		all.Go(func() error {
			some, err := p.rebuildSack(ctx, s, metrics)
			mu.Lock()
			defer mu.Unlock()
			done.Add(some)
			return err
		})
	}
	return done, all.Wait()
}

// rebuildSack does metrics of one sack, some at a time, by turns with the others' work.
func (p *Metricd) rebuildSack(ctx context.Context, s *sack, metrics []*model.Metric) (
	done model.RebuildCounts, err error) {
	for most := rebuild.MostMetrics; len(metrics) > 0; {
		if err := p.slots.Acquire(ctx, 1); err != nil {
			return done, err
		}
		n, some, err := s.rebuild(ctx, metrics[:min(len(metrics), most)])
		p.slots.Release(1)
		if err != nil {
			return done, fmt.Errorf("metricd: rebuild in sack %d: %w", s.number, err)
		}
		done.Add(some)
		p.instruments.rebuilt.WithLabelValues(resultChanged).Add(float64(some.Changed))
		p.instruments.rebuilt.WithLabelValues(resultUnchanged).Add(float64(some.Unchanged))
		p.instruments.rebuilt.WithLabelValues(resultFailed).Add(float64(some.Failed))
		metrics = metrics[n:]
		// Resampling the metrics that did not fit was wasted: no more than this at once, and then twice as many again.
		most = min(2*n, rebuild.MostMetrics)
	}
	return done, nil
}

// rebuild does the first n metrics in one commit.
func (s *sack) rebuild(ctx context.Context, metrics []*model.Metric) (n int, done model.RebuildCounts, err error) {
	s.work.Lock()
	defer s.work.Unlock()
	if s.view.IsClosed() {
		return 0, done, notOwned(s.number)
	}
	current, err := s.agree(ctx, metrics)
	if err != nil {
		return 0, done, err
	}
	for _, m := range metrics {
		if s.heads.IsDirty(m.ID) {
			if err := s.checkpointLocked(ctx); err != nil {
				return 0, done, err
			}
			break
		}
	}
	all := s.store.NewCheckpoint()
	defer all.Close()
	changed, outcomes, err := s.rebuildArchives(ctx, current, all)
	if err != nil {
		return 0, done, err
	}
	for _, outcome := range outcomes {
		done.Add(outcome)
	}
	if len(changed) == 0 {
		return len(outcomes), done, nil
	}
	err = s.view.Commit(all, func() {
		for _, id := range changed {
			s.heads.Drop(id) // empty since the checkpoint; the next one begins with the archive as it is now
		}
	})
	if err != nil {
		return 0, model.RebuildCounts{}, err
	}
	return len(outcomes), done, nil
}

// rebuildArchives adds the rebuilds of the first metrics' archives to c, as many as it returns outcomes. A nil metric
// is gone. work is held.
func (s *sack) rebuildArchives(ctx context.Context, metrics []*model.Metric,
	c *archive.Checkpoint) (changed []uuid.UUID, outcomes []model.RebuildCounts, err error) {
	b := s.parent.rebuilds.Get().(*rebuild.Batch)
	defer s.parent.rebuilds.Put(b)
	return b.Archives(ctx, metrics, c, &rebuild.Options{
		Store: s.store, KeepsUnsettled: s.heads.KeepsUnsettled(), Resampler: s.parent.options.Resampler,
		Plain: s.parent.reader, Logger: s.parent.options.Logger, Unchanged: s.heads.Follow,
	})
}

// agree returns the metrics as the index has them, nil for those that are gone; their policies must be as expected.
func (s *sack) agree(ctx context.Context, expected []*model.Metric) ([]*model.Metric, error) {
	ids := make([]uuid.UUID, len(expected))
	for i, m := range expected {
		ids[i] = m.ID
	}
	found := make([]*model.Metric, len(ids))
	if err := s.parent.options.Index.Find(ctx, ids, found); err != nil {
		return nil, err
	}
	for i, m := range found {
		if m != nil && !(m.ArchivePolicy.Name == expected[i].ArchivePolicy.Name &&
			m.ArchivePolicy.Plan().Equal(expected[i].ArchivePolicy.Plan())) {
			return nil, fmt.Errorf("%w: metric %s has another archive policy by now", model.ErrUnavailable, m.ID)
		}
	}
	return found, nil
}
