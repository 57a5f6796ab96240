package metricd

import (
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/metricd/heads"
	"github.com/gnocco-db/gnocco/metricd/rebuild"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// rewrite changes archives of the sack in one commit, by turns with the sack's other work. change gets the metrics as
// the index has them, nil for one that is gone. All measures of those that waits reports are in their archives. It adds
// to c what changes, and returns whose archives do, in the range of span.
func (s *sack) rewrite(ctx context.Context, ids []uuid.UUID, waits waiting, span *model.Replacement,
	change func(found []*model.Metric, c *archive.Checkpoint) (changed []uuid.UUID, err error)) error {
	if err := s.parent.slots.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.parent.slots.Release(1)
	s.work.Lock()
	defer s.work.Unlock()
	return s.error(s.rewriteLocked(ctx, ids, waits, span, change))
}

// waiting reports whether a metric has measures that its archive must have before it is changed.
type waiting = func(hs *heads.Heads, id uuid.UUID) bool

func (s *sack) rewriteLocked(ctx context.Context, ids []uuid.UUID, waits waiting, span *model.Replacement,
	change func(found []*model.Metric, c *archive.Checkpoint) (changed []uuid.UUID, err error)) error {
	if s.view.IsClosed() {
		return notOwned(s.number)
	}
	found := make([]*model.Metric, len(ids))
	if err := s.parent.options.Index.Find(ctx, ids, found); err != nil {
		return err
	}
	for _, m := range found {
		if m != nil {
			s.heads.Follow(m) // before it is written for the first time
		}
	}
	if slices.ContainsFunc(ids, func(id uuid.UUID) bool { return waits(s.heads, id) }) {
		if err := s.checkpointLocked(ctx); err != nil {
			return err
		}
	}
	c := s.store.NewCheckpoint()
	defer c.Close()
	changed, err := change(found, c)
	if err != nil || len(changed) == 0 {
		return err
	}
	return s.commit(c, changed, span, func() {
		for _, id := range changed {
			s.heads.Drop(id) // empty since the checkpoint; the next one begins with the archive as it is now
		}
	})
}

// rewriteAll changes the archives of any number of metrics, whose sacks must be held, and adds up what was done. change
// does the first n of some metrics of a sack, and returns whose archives it changed. It is called again for the others.
// With an error some archives may be done.
func rewriteAll[Done any, Adds interface {
	*Done
	Add(*Done)
}](ctx context.Context, p *Metricd, metrics []uuid.UUID, waits waiting, span *model.Replacement,
	change func(s *sack, found []*model.Metric, c *archive.Checkpoint) (
		n int, changed []uuid.UUID, some Done, err error)) (done Done, err error) {
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
			for most := rebuild.MostMetrics; len(metrics) > 0; {
				var n int
				var some Done
				err := s.rewrite(ctx, metrics[:min(len(metrics), most)], waits, span,
					func(found []*model.Metric, c *archive.Checkpoint) (changed []uuid.UUID, err error) {
						n, changed, some, err = change(s, found, c)
						return changed, err
					})
				if err != nil {
					return err
				}
				mu.Lock()
				Adds(&done).Add(&some)
				mu.Unlock()
				metrics = metrics[n:]
				// Preparing those that did not fit was wasted: not many more than this the next time.
				most = min(max(2*n, 1), rebuild.MostMetrics)
			}
			return nil
		})
	}
	return done, all.Wait()
}
