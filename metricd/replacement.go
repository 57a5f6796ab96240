package metricd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/metricd/rebuild"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
)

// Replace takes measures out of the archives of metrics, and puts others in their place. Their sacks must be held. It
// first takes everything that its sources have for them. The result is durable. With an error some archives may be
// done.
func (p *Metricd) Replace(ctx context.Context, metrics []uuid.UUID, r *model.Replacement) (
	done model.Replaced, err error) {
	bySack := make(map[*sack][]uuid.UUID)
	for _, id := range metrics {
		s, err := p.sackOf(id)
		if err != nil {
			return done, err
		}
		bySack[s] = append(bySack[s], id)
	}
	var mu sync.Mutex
	var all errgroup.Group
	all.SetLimit(p.options.Workers)
	for s, metrics := range bySack {
		all.Go(func() error {
			some, err := s.replace(ctx, metrics, r)
			mu.Lock()
			defer mu.Unlock()
			done.Add(&some)
			return s.error(err)
		})
	}
	return done, all.Wait()
}

// replace does metrics of the sack, some at a time.
func (s *sack) replace(ctx context.Context, metrics []uuid.UUID, r *model.Replacement) (
	done model.Replaced, err error) {
	if err := s.refresh(ctx); err != nil {
		return done, err
	}
	for len(metrics) > 0 {
		if err := s.parent.slots.Acquire(ctx, 1); err != nil {
			return done, err
		}
		n, some, err := s.replaceSome(ctx, metrics, r)
		s.parent.slots.Release(1)
		if err != nil {
			return done, err
		}
		done.Add(&some)
		metrics = metrics[n:]
	}
	return done, nil
}

// How much is replaced in one commit: until then the sack's measures wait.
const (
	replacedTime  = 100 * time.Millisecond
	replacedBytes = 8 << 20
)

// replaceSome does the first n metrics in one commit.
func (s *sack) replaceSome(ctx context.Context, metrics []uuid.UUID, r *model.Replacement) (
	n int, done model.Replaced, err error) {
	s.work.Lock()
	defer s.work.Unlock()
	if s.view.IsClosed() {
		return 0, done, notOwned(s.number)
	}
	metrics = metrics[:min(len(metrics), rebuild.MostMetrics)]
	found := make([]*model.Metric, len(metrics))
	if err := s.parent.options.Index.Find(ctx, metrics, found); err != nil {
		return 0, done, err
	}
	for _, id := range metrics {
		if s.heads.IsDirty(id) {
			if err := s.checkpointLocked(ctx); err != nil {
				return 0, done, err
			}
			break
		}
	}
	c := s.store.NewCheckpoint()
	defer c.Close()
	options := &rebuild.Options{Store: s.store, KeepsUnsettled: s.heads.KeepsUnsettled(), Plain: s.parent.reader}
	started := time.Now()
	for n = 0; n < len(found) && (n == 0 || time.Since(started) < replacedTime && c.Bytes() < replacedBytes); n++ {
		if found[n] == nil {
			continue
		}
		one := s.store.NewCheckpoint()
		some, err := rebuild.Replace(ctx, options, found[n], r, one)
		if errors.Is(err, storage.ErrCorrupt) {
			s.parent.options.Logger.Error("measures not taken out of an archive", "metric", metrics[n], "error", err)
			one.Close()
			done.Add(&model.Replaced{Failed: 1, Fault: fmt.Sprintf("metric %s: %v", metrics[n], err)})
			continue
		}
		if err != nil {
			one.Close()
			return 0, model.Replaced{}, err
		}
		done.Add(&some)
		c.Add(one)
	}
	if r.DryRun || c.Bytes() == 0 {
		return n, done, nil
	}
	err = s.view.Commit(c, func() {
		for _, id := range metrics[:n] {
			s.heads.Drop(id) // empty since the checkpoint; the next one begins with the archive as it is now
		}
	})
	if err != nil {
		return 0, model.Replaced{}, err
	}
	return n, done, nil
}
