package metricd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"gnocco/carbonara"
	"gnocco/model"
	"gnocco/storage/archive"
)

// Reaggregate brings the archives of metrics into the form of their archive policies, as metrics say. Their sacks must be held. It
// is a model.ErrUnavailable if the index, as this process sees it, says otherwise. What it has done is durable, and done again it
// changes nothing; with an error some may be done. Measures go on to be processed between two metrics.
func (p *Metricd) Reaggregate(ctx context.Context, metrics []*model.Metric) (done model.Reaggregated, err error) {
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
			some, err := p.reaggregateSack(ctx, s, metrics)
			mu.Lock()
			defer mu.Unlock()
			done.Add(some)
			return err
		})
	}
	return done, all.Wait()
}

// reaggregateSack does metrics of one sack, some at a time, by turns with the others' work.
func (p *Metricd) reaggregateSack(ctx context.Context, s *sack, metrics []*model.Metric) (done model.Reaggregated, err error) {
	for len(metrics) > 0 {
		if err := p.slots.Acquire(ctx, 1); err != nil {
			return done, err
		}
		n, some, err := s.reaggregate(ctx, metrics)
		p.slots.Release(1)
		if err != nil {
			return done, fmt.Errorf("metricd: reaggregate in sack %d: %w", s.number, err)
		}
		done.Add(some)
		p.metrics.reaggregated.WithLabelValues(resultChanged).Add(float64(some.Changed))
		p.metrics.reaggregated.WithLabelValues(resultUnchanged).Add(float64(some.Unchanged))
		p.metrics.reaggregated.WithLabelValues(resultFailed).Add(float64(some.Failed))
		metrics = metrics[n:]
	}
	return done, nil
}

// How much is done at a time: until then a sack's measures wait.
const (
	reaggregateMetrics = 100
	reaggregateTime    = 100 * time.Millisecond
	reaggregateBytes   = 8 << 20
)

// reaggregate does the first n metrics in one commit.
func (s *sack) reaggregate(ctx context.Context, metrics []*model.Metric) (n int, done model.Reaggregated, err error) {
	s.work.Lock()
	defer s.work.Unlock()
	if s.closed {
		return 0, done, notOwned(s.number)
	}
	metrics = metrics[:min(len(metrics), reaggregateMetrics)]
	current, err := s.agree(ctx, metrics)
	if err != nil {
		return 0, done, err
	}
	for _, m := range metrics {
		if h := s.heads[m.ID]; h != nil && h.dirty {
			if err := s.checkpointLocked(ctx); err != nil {
				return 0, done, err
			}
			break
		}
	}
	started := time.Now()
	all := s.store.NewCheckpoint()
	defer func() {
		if err != nil {
			all.Close()
		}
	}()
	var changed []uuid.UUID
	for i, m := range current {
		if err := ctx.Err(); err != nil {
			return 0, done, err
		}
		if i > 0 && (time.Since(started) > reaggregateTime || all.Bytes() > reaggregateBytes) {
			break
		}
		n++
		c, err := s.conversionOf(ctx, m)
		switch {
		case errors.Is(err, carbonara.ErrCorrupt):
			s.parent.options.Logger.Error("archive not reaggregated; it keeps its form", "metric", m.ID, "error", err)
			done.Add(model.Reaggregated{Failed: 1, Fault: fmt.Sprintf("metric %s: %v", m.ID, err)})
		case err != nil:
			return 0, done, err
		case c == nil:
			done.Unchanged++
		default:
			done.Changed++
			changed = append(changed, m.ID)
			if err := all.Add(c); err != nil {
				return 0, done, err
			}
		}
	}
	if len(changed) == 0 {
		return n, done, all.Close()
	}
	if err := all.Commit(); err != nil {
		return 0, model.Reaggregated{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range changed {
		delete(s.heads, id) // empty since the checkpoint; the next one begins with what the archive holds now
	}
	return n, done, nil
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
		if m != nil && !(m.ArchivePolicy.Name == expected[i].ArchivePolicy.Name && m.ArchivePolicy.Plan().Equal(expected[i].ArchivePolicy.Plan())) {
			return nil, fmt.Errorf("%w: metric %s has another archive policy by now", model.ErrUnavailable, m.ID)
		}
	}
	return found, nil
}

// conversionOf returns what brings a metric's archive into form; nil if it is, or the metric is gone (nil).
func (s *sack) conversionOf(ctx context.Context, metric *model.Metric) (*archive.Checkpoint, error) {
	if metric == nil {
		return nil, nil
	}
	end, err := s.store.RawEnd(metric.ID)
	if err != nil {
		return nil, err
	}
	form, err := s.store.Form(metric.ID)
	if err != nil {
		return nil, err
	}
	if !end.Any || len(form) == 0 || form.Is(metric.ArchivePolicy.Plan()) {
		if h := s.heads[metric.ID]; h != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			h.follow(metric)
		}
		return nil, nil
	}
	return s.convert(ctx, metric, form, end)
}
