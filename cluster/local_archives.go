package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// localArchives are the sacks that this process holds. A read of them is an answer only if the lease is still valid
// after it. An error of a sack that is not held here is a metricd.ErrNotOwned, and a peer.ErrElsewhere for other
// processes.
type localArchives struct {
	metricd *metricd.Metricd
	damaged *damagedStores
	sacks   int // of the cluster
	lease   claim.Lease
	// reach returns once metricd takes from all incoming stores, or after the deadline.
	reach func(ctx context.Context, deadline time.Time) error
	// look makes metricd take from the incoming stores that are there now, and from no others.
	look func(ctx context.Context) error
	sees func(epoch, generation uint64) // takes the least version that the index has
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
	if errors.Is(err, metricd.ErrNotOwned) && !errors.Is(err, peer.ErrElsewhere) {
		return fmt.Errorf("%w: %w", peer.ErrElsewhere, err)
	}
	return err
}
