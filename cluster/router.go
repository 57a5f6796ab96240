package cluster

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// Router is the sacks of the whole cluster. It calls the workers of this process for the sacks held here, and sends
// requests to the holders of the others.
type Router struct {
	local   *localArchives // nil in a process that never holds sacks
	holders *holders
	stale   *stale
	client  *peer.Client
	sacks   int // of the cluster
}

// Groups implements query.Archives.
func (a *Router) Groups(ctx context.Context, read model.Read, staleness *query.Staleness, dst *carbonara.Groups) error {
	if a.local != nil {
		err := a.local.Groups(ctx, read, dst)
		if !errors.Is(err, metricd.ErrNotOwned) {
			return err
		}
	}
	return a.fetch(ctx, model.Sack(read.Metric.ID, a.sacks), staleness, []model.Read{read}, []*carbonara.Groups{dst})
}

func (a *Router) EachGroups(ctx context.Context, reads []model.Read, staleness *query.Staleness, dst *carbonara.Groups,
	use func(i int) error) error {
	if a.local != nil {
		err := a.local.eachGroups(ctx, reads, dst, use)
		if !errors.Is(err, metricd.ErrNotOwned) {
			return err
		}
	}
	return eachGroups(ctx, a, reads, staleness, dst, use)
}

// eachGroups reads one metric after the other.
func eachGroups(ctx context.Context, from query.GroupReader, reads []model.Read, staleness *query.Staleness,
	dst *carbonara.Groups, use func(i int) error) error {
	for i := range reads {
		if err := from.Groups(ctx, reads[i], staleness, dst); err != nil {
			return err
		}
		if err := use(i); err != nil {
			return err
		}
	}
	return nil
}

func (a *Router) Sack(metric uuid.UUID) int { return model.Sack(metric, a.sacks) }

// fetch reads from the process that holds the sack, and waits a little while the sack is handed over. If no process
// answers for it, and the client allows that, fetch reads from the disk.
func (a *Router) fetch(ctx context.Context, sack int, staleness *query.Staleness,
	reads []model.Read, dst []*carbonara.Groups) error {
	return a.freshOrStale(ctx, sack, staleness,
		func(ctx context.Context) error { return a.fetchFresh(ctx, sack, reads, dst) },
		func(store *archive.Store) error { return keptGroups(ctx, store, reads, dst) })
}

// freshOrStale calls fresh. If no process answers for the sack, and the client allows that, it calls stale with a
// snapshot of the disk.
func (a *Router) freshOrStale(ctx context.Context, sack int, staleness *query.Staleness,
	fresh func(context.Context) error, stale func(*archive.Store) error) error {
	if staleness == nil {
		return fresh(ctx)
	}
	if !a.stale.has(sack) {
		patience, cancel := context.WithTimeout(ctx, holderWait)
		err := fresh(patience)
		cancel()
		if !unanswered(err) || ctx.Err() != nil {
			return err
		}
	}
	return a.stale.read(sack, staleness, stale)
}

// fetchFresh reads from the process that holds the sack.
func (a *Router) fetchFresh(ctx context.Context, sack int, reads []model.Read, dst []*carbonara.Groups) error {
	return a.atHolder(ctx, sack,
		func() error {
			for i, r := range reads {
				if err := a.local.Groups(ctx, r, dst[i]); err != nil {
					return err
				}
			}
			return nil
		},
		func(address string) error { return a.client.Groups(ctx, address, reads, dst) })
}

// atHolder calls here if this process holds the sack, else there, and calls again if the sack has another holder
// meanwhile.
func (a *Router) atHolder(ctx context.Context, sack int, here func() error, there func(address string) error) error {
	if a.local == nil {
		return a.holders.ask(ctx, datafolder.SackName(sack), there)
	}
	if err := here(); !errors.Is(err, metricd.ErrNotOwned) {
		return err
	}
	return a.holders.ask(ctx, datafolder.SackName(sack), func(address string) error {
		if err := here(); !errors.Is(err, metricd.ErrNotOwned) {
			return err
		}
		return there(address)
	})
}

// byHolder groups the numbers below n by the address of the process that holds their sacks. It is "" for this process,
// for a sack that it knows as damaged and, if the client allows stale answers, for one to be read from the disk.
func (a *Router) byHolder(ctx context.Context, n int, staleness *query.Staleness, sackOf func(i int) int) (
	map[string][]int, error) {
	patience := ctx
	if staleness != nil {
		var cancel context.CancelFunc
		patience, cancel = context.WithTimeout(ctx, holderWait)
		defer cancel()
	}
	addresses := make(map[int]string)
	if a.local != nil {
		for _, sack := range a.local.metricd.Held() {
			addresses[sack] = ""
		}
	}
	groups := make(map[string][]int)
	for i := range n {
		sack := sackOf(i)
		address, ok := addresses[sack]
		if !ok {
			var err error
			if address, err = a.holder(patience, sack, staleness != nil); err != nil {
				return nil, errors.Join(err, ctx.Err())
			}
			addresses[sack] = address
		}
		groups[address] = append(groups[address], i)
	}
	return groups, ctx.Err()
}

// holder returns the address of a sack's holder as byHolder groups by it.
func (a *Router) holder(ctx context.Context, sack int, mayBeStale bool) (address string, err error) {
	name := datafolder.SackName(sack)
	if mayBeStale && a.stale.has(sack) || a.local != nil && a.holders.damaged.of(name) != nil {
		return "", nil
	}
	address, err = a.holders.await(ctx, name)
	if mayBeStale && unanswered(err) {
		a.stale.prepare(sack)
		return "", nil
	}
	return address, err
}
