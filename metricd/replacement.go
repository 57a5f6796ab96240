package metricd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/metricd/heads"
	"github.com/gnocco-db/gnocco/metricd/rebuild"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// How much is replaced in one commit: until then the sack's measures wait.
const (
	replacedTime  = 100 * time.Millisecond
	replacedBytes = 8 << 20
)

// Replace takes measures out of the archives of metrics, and puts others in their place. Their sacks must be held. It
// first takes everything that its sources have for them. The result is durable. With an error some archives may be
// done.
func (p *Metricd) Replace(ctx context.Context, metrics []uuid.UUID, r *model.Replacement) (
	done model.Replaced, err error) {
	if err := p.Refresh(ctx, metrics); err != nil {
		return done, err
	}
	if r.Empty {
		return p.fill(ctx, metrics[0], r)
	}
	return rewriteAll(ctx, p, metrics, (*heads.Heads).IsDirty, r, func(s *sack, found []*model.Metric,
		c *archive.Checkpoint) (n int, changed []uuid.UUID, some model.Replaced, err error) {
		options := &rebuild.Options{Store: s.store, KeepsUnsettled: s.heads.KeepsUnsettled(), Plain: p.reader}
		started := time.Now()
		for ; n < len(found) && (n == 0 || time.Since(started) < replacedTime && c.Bytes() < replacedBytes); n++ {
			m := found[n]
			if m == nil {
				continue
			}
			one := s.store.NewCheckpoint()
			replaced, err := rebuild.Replace(ctx, options, m, r, one)
			if err != nil {
				one.Close()
				if !errors.Is(err, storage.ErrCorrupt) {
					return 0, nil, some, err
				}
				p.options.Logger.Error("measures not taken out of an archive", "metric", m.ID, "error", err)
				replaced = model.Replaced{Failed: 1, Fault: fmt.Sprintf("metric %s: %v", m.ID, err)}
			} else if c.Add(one); !r.DryRun {
				changed = append(changed, m.ID)
			}
			some.Add(&replaced)
		}
		if c.Bytes() == 0 {
			changed = nil
		}
		return n, changed, some, nil
	})
}

// fill puts measures, or groups, where the archive of a metric holds nothing, in one commit for all blocks up to the
// next one that holds something.
func (p *Metricd) fill(ctx context.Context, id uuid.UUID, r *model.Replacement) (done model.Replaced, err error) {
	s, err := p.sackOf(id)
	for err == nil && r != nil {
		given, generation := r, p.options.Index.Generation()
		err = s.rewrite(ctx, []uuid.UUID{id}, (*heads.Heads).IsDirty, &always, func(found []*model.Metric,
			c *archive.Checkpoint) ([]uuid.UUID, error) {
			if r = nil; found[0] == nil {
				return nil, nil
			}
			if given.Groups != nil {
				if err := s.settle(ctx, found[0], generation); err != nil {
					return nil, err
				}
			}
			options := &rebuild.Options{Store: s.store, KeepsUnsettled: s.heads.KeepsUnsettled(), Plain: p.reader}
			some, rest, err := rebuild.Fill(ctx, options, found[0], given, c)
			done.Add(&some)
			if r = rest; given.DryRun || c.Bytes() == 0 {
				return nil, err
			}
			return []uuid.UUID{id}, err
		})
	}
	return done, err
}

// settle has the archive know that the back window has passed what all sources have settled by now, also if no measure
// comes any more. work is held, and nothing of the metric is pending.
func (s *sack) settle(ctx context.Context, m *model.Metric, generation uint64) error {
	if err := s.heads.Load([]*model.Metric{m}, generation); err != nil {
		return err
	}
	s.heads.Follow(m)
	if s.hear(); s.heads.SettleStored(m.ID) {
		return s.checkpointLocked(ctx)
	}
	return nil
}
