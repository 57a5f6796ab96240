package cluster

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

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

// EachGroups implements query.Archives.
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

// Sack implements query.Archives.
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

// answerAtHolder is atHolder for calls that return an answer.
func answerAtHolder[T any](ctx context.Context, a *Router, sack int, here func() (T, error),
	there func(address string) (T, error)) (answer T, err error) {
	err = a.atHolder(ctx, sack,
		func() (err error) { answer, err = here(); return err },
		func(address string) (err error) { answer, err = there(address); return err })
	return answer, err
}

// Refresh implements query.Archives. One request refreshes all sacks of a process.
func (a *Router) Refresh(ctx context.Context, metrics []uuid.UUID) error {
	groups, err := a.byHolder(ctx, len(metrics), func(i int) int { return model.Sack(metrics[i], a.sacks) }, a.holder)
	if err != nil {
		return err
	}
	var all errgroup.Group
	for _, places := range groups {
		seen := make(map[int]bool)
		var sacks []int
		for _, i := range places {
			if sack := model.Sack(metrics[i], a.sacks); !seen[sack] {
				seen[sack] = true
				sacks = append(sacks, sack)
			}
		}
		all.Go(func() error { return a.refresh(ctx, sacks) })
	}
	return all.Wait()
}

// refresh refreshes sacks that one process held just now. If they have moved since, it refreshes them one by one.
func (a *Router) refresh(ctx context.Context, sacks []int) error {
	refresh := func(sacks []int) error {
		return a.atHolder(ctx, sacks[0],
			func() error { return a.local.RefreshSacks(ctx, sacks) },
			func(address string) error { return a.client.Refresh(ctx, address, sacks) })
	}
	if len(sacks) == 1 {
		return refresh(sacks)
	}
	if a.local != nil {
		if err := a.local.RefreshSacks(ctx, sacks); !errors.Is(err, metricd.ErrNotOwned) {
			return err
		}
	}
	address, err := a.holders.address(ctx, datafolder.SackName(sacks[0]))
	if err == nil && a.client.Refresh(ctx, address, sacks) == nil {
		return nil
	}
	for _, sack := range sacks {
		if err := refresh([]int{sack}); err != nil {
			return err
		}
	}
	return nil
}

// holder returns the address of a sack's holder.
func (a *Router) holder(ctx context.Context, sack int) (address string, err error) {
	return a.holders.await(ctx, datafolder.SackName(sack))
}

// holderOrNone is holder for a request whose answer may be stale. It returns "" for a sack to be read from the disk.
func (a *Router) holderOrNone(ctx context.Context, sack int) (address string, err error) {
	if a.stale.has(sack) {
		return "", nil
	}
	if address, err = a.holder(ctx, sack); unanswered(err) {
		a.stale.prepare(sack)
		return "", nil
	}
	return address, err
}

// byHolderOrNone is byHolder for a request whose answer may be stale, if the client allows that.
func (a *Router) byHolderOrNone(ctx context.Context, n int, staleness *query.Staleness, sackOf func(i int) int) (
	map[string][]int, error) {
	if staleness == nil {
		return a.byHolder(ctx, n, sackOf, a.holder)
	}
	patience, cancel := context.WithTimeout(ctx, holderWait)
	defer cancel()
	groups, err := a.byHolder(patience, n, sackOf, a.holderOrNone)
	return groups, errors.Join(err, ctx.Err())
}

// byHolder groups the numbers below n by the address of the process that holds their sacks. holder finds that address;
// "" is this process.
func (a *Router) byHolder(ctx context.Context, n int, sackOf func(i int) int,
	holder func(ctx context.Context, sack int) (address string, err error)) (map[string][]int, error) {
	here := make(map[int]bool)
	if a.local != nil {
		for _, sack := range a.local.metricd.Held() {
			here[sack] = true
		}
	}
	groups := make(map[string][]int)
	addresses := make(map[int]string)
	for i := range n {
		sack := sackOf(i)
		if here[sack] {
			groups[""] = append(groups[""], i)
			continue
		}
		address, ok := addresses[sack]
		if !ok {
			var err error
			if address, err = holder(ctx, sack); err != nil {
				return nil, err
			}
			addresses[sack] = address
		}
		groups[address] = append(groups[address], i)
	}
	return groups, nil
}
