package metricd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

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
	return rewriteAll(ctx, p, metrics, func(s *sack, found []*model.Metric, c *archive.Checkpoint) (
		n int, changed []uuid.UUID, some model.Replaced, err error) {
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
