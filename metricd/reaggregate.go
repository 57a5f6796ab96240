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
	for most := reaggregateMetrics; len(metrics) > 0; {
		if err := p.slots.Acquire(ctx, 1); err != nil {
			return done, err
		}
		n, some, err := s.reaggregate(ctx, metrics[:min(len(metrics), most)])
		p.slots.Release(1)
		if err != nil {
			return done, fmt.Errorf("metricd: reaggregate in sack %d: %w", s.number, err)
		}
		done.Add(some)
		p.metrics.reaggregated.WithLabelValues(resultChanged).Add(float64(some.Changed))
		p.metrics.reaggregated.WithLabelValues(resultUnchanged).Add(float64(some.Unchanged))
		p.metrics.reaggregated.WithLabelValues(resultFailed).Add(float64(some.Failed))
		metrics = metrics[n:]
		// What did not fit was resampled for nothing: no more than this at once, and then twice as many again.
		most = min(2*n, reaggregateMetrics)
	}
	return done, nil
}

// How much is done at a time: until then a sack's measures wait.
const (
	reaggregateMetrics  = 100
	reaggregateTime     = 100 * time.Millisecond
	reaggregateBytes    = 8 << 20
	reaggregateMeasures = 4 << 20 // resampled together: 40 ms of a core, or more
)

// reaggregate does the first n metrics in one commit.
func (s *sack) reaggregate(ctx context.Context, metrics []*model.Metric) (n int, done model.Reaggregated, err error) {
	s.work.Lock()
	defer s.work.Unlock()
	if s.closed {
		return 0, done, notOwned(s.number)
	}
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
	all := s.store.NewCheckpoint()
	changed, outcomes, err := s.convert(ctx, current, all)
	if err != nil {
		return 0, done, errors.Join(err, all.Close())
	}
	for _, outcome := range outcomes {
		done.Add(outcome)
	}
	if len(changed) == 0 {
		return len(outcomes), done, all.Close()
	}
	if err := all.Commit(); err != nil {
		return 0, model.Reaggregated{}, errors.Join(err, all.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range changed {
		delete(s.heads, id) // empty since the checkpoint; the next one begins with what the archive holds now
	}
	return len(outcomes), done, nil
}

// convert adds to c what brings the archives of the first metrics into form, nil being one that is gone: as many of them as it has
// outcomes for.
func (s *sack) convert(ctx context.Context, metrics []*model.Metric, c *archive.Checkpoint) (changed []uuid.UUID, outcomes []model.Reaggregated, err error) {
	started := time.Now()
	some := s.parent.conversions.Get().(*conversions)
	defer func() {
		some.result.Release() // others can use what it was lent
		s.parent.conversions.Put(some)
	}()
	some.reset()
	var places []int // of the conversions among the metrics
	measures := 0
	for i, m := range metrics {
		if i > 0 && (time.Since(started) > reaggregateTime/2 || measures > reaggregateMeasures) {
			break
		}
		v, err := s.conversionOf(m, some)
		switch {
		case errors.Is(err, carbonara.ErrCorrupt):
			outcomes = append(outcomes, s.notConverted(m, err))
		case err != nil:
			return nil, nil, err
		case v == nil:
			outcomes = append(outcomes, model.Reaggregated{Unchanged: 1})
		default:
			outcomes = append(outcomes, model.Reaggregated{Changed: 1})
			places = append(places, i)
			measures += v.raw.Len()
		}
	}
	if err := some.resample(ctx, s.parent.options.Resampler); err != nil {
		return nil, nil, err
	}
	for k, v := range some.all {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if k > 0 && (time.Since(started) > reaggregateTime || c.Bytes() > reaggregateBytes) {
			return changed, outcomes[:places[k]], nil
		}
		change, err := v.checkpoint(ctx, &some.memory)
		switch {
		case errors.Is(err, carbonara.ErrCorrupt):
			outcomes[places[k]] = s.notConverted(v.metric, err)
		case err != nil:
			return nil, nil, err
		default:
			changed = append(changed, v.metric.ID)
			if err := c.Add(change); err != nil {
				return nil, nil, err
			}
		}
	}
	return changed, outcomes, nil
}

func (s *sack) notConverted(m *model.Metric, err error) model.Reaggregated {
	s.parent.options.Logger.Error("archive not reaggregated; it keeps its form", "metric", m.ID, "error", err)
	return model.Reaggregated{Failed: 1, Fault: fmt.Sprintf("metric %s: %v", m.ID, err)}
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

// conversionOf returns, and adds to the others, what brings a metric's archive into form; nil if it is, or the metric is gone (nil).
func (s *sack) conversionOf(metric *model.Metric, others *conversions) (*conversion, error) {
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
	v := others.next()
	if err := v.load(s, metric, form, end); err != nil {
		return nil, err
	}
	return v, others.add(v)
}
