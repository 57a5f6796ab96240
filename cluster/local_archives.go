package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// localArchives are the sacks that this process holds. It implements peer.LocalSacks. A read of them is an answer only
// if the lease is still valid after it. An error of a sack that is not held here is a metricd.ErrNotOwned, and a
// peer.ErrElsewhere for other processes.
type localArchives struct {
	metricd *metricd.Metricd
	damaged *damagedStores
	sacks   int // of the cluster
	lease   claim.Lease
	// reach returns once metricd takes from all incoming stores, or after the deadline.
	reach func(ctx context.Context, deadline time.Time) error
}

// answered returns why an answer of metricd does not count, nil if it does.
func (l *localArchives) answered(err error) error {
	if err != nil {
		return l.explain(err)
	}
	if !l.lease.Valid() { // this process may hold nothing any more
		return errors.Join(model.ErrUnavailable, l.lease.Err())
	}
	return nil
}

// Groups reads the groups of a metric.
func (l *localArchives) Groups(ctx context.Context, read model.Read, dst *carbonara.Groups) error {
	return l.answered(l.metricd.Groups(ctx, read, dst))
}

// eachGroups reads the groups of metrics of one sack. A metricd.ErrNotOwned comes before the first use.
func (l *localArchives) eachGroups(ctx context.Context, reads []model.Read, dst *carbonara.Groups,
	use func(i int) error) error {
	return l.explain(l.metricd.EachGroups(ctx, reads, dst, use))
}

// Sizes returns the sizes of metrics' archives.
func (l *localArchives) Sizes(ctx context.Context, metrics []uuid.UUID) ([]model.ArchiveSize, error) {
	sizes, err := l.metricd.Sizes(ctx, metrics)
	return sizes, l.answered(err)
}

// LastMeasures returns the timestamps of metrics' newest measures.
func (l *localArchives) LastMeasures(ctx context.Context, metrics []uuid.UUID) ([]carbonara.Timestamp, error) {
	last, err := l.metricd.LastMeasures(ctx, metrics)
	return last, l.answered(err)
}

// Rebuild rebuilds metrics' archives. Metrics of damaged sacks count as failed: others need not wait for them.
func (l *localArchives) Rebuild(ctx context.Context, metrics []*model.Metric) (model.RebuildCounts, error) {
	served := slices.DeleteFunc(slices.Clone(metrics), func(m *model.Metric) bool {
		return l.damaged.of(datafolder.SackName(model.Sack(m.ID, l.sacks))) != nil
	})
	done, err := l.metricd.Rebuild(ctx, served)
	done.Failed += len(metrics) - len(served)
	return done, elsewhere(err)
}

// RefreshSacks refreshes sacks. If the process of an incoming store has just ended, it waits a little: the store is
// about to be opened or adopted.
func (l *localArchives) RefreshSacks(ctx context.Context, sacks []int) error {
	for deadline := time.Now().Add(holderWait); ; {
		err := l.reach(ctx, deadline)
		if err == nil {
			err = l.explain(l.metricd.RefreshSacks(ctx, sacks))
		}
		if !errors.Is(err, model.ErrUnavailable) || errors.Is(err, metricd.ErrNotOwned) || model.IsDamaged(err) ||
			time.Now().After(deadline) {
			return err
		}
		if err := pause.For(ctx, holderLook); err != nil {
			return err
		}
	}
}

// explain makes an error of a sack that is damaged, or in which bytes do not decode, a model.DamagedError.
func (l *localArchives) explain(err error) error {
	var failed *metricd.SackError
	if !errors.As(err, &failed) {
		return err
	}
	name := datafolder.SackName(failed.Sack)
	if errors.Is(err, metricd.ErrNotOwned) {
		return cmp.Or(l.damaged.of(name), elsewhere(err))
	}
	return l.damaged.unreadable(name, err)
}

// elsewhere adds to an error of a sack that is not held here that the caller should ask another process.
func elsewhere(err error) error {
	if errors.Is(err, metricd.ErrNotOwned) {
		return fmt.Errorf("%w: %w", peer.ErrElsewhere, err)
	}
	return err
}
