package server

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"gnocco/api"
	"gnocco/carbonara"
	"gnocco/internal/pause"
	"gnocco/internal/peer"
	"gnocco/metricd"
	"gnocco/model"
	"gnocco/storage/archive"
	"gnocco/storage/claim"
)

// archives are the sacks of the whole cluster: those that this process holds by a call, the others by a request to who does.
type archives struct {
	local   *metricd.Metricd // nil in a process that never holds sacks
	lease   claim.Lease
	holders *holders
	stale   *stale
	client  *peer.Client
	sacks   int
	reach   func(context.Context) error // returns once local takes from all incoming stores
}

// Groups implements api.Archives.
func (a *archives) Groups(ctx context.Context, read model.Read, dst *carbonara.Groups) error {
	if a.local != nil {
		err := a.localGroups(ctx, read, dst)
		if !errors.Is(err, metricd.ErrNotOwned) {
			return err
		}
	}
	return a.fetch(ctx, model.Sack(read.Metric.ID, a.sacks), []model.Read{read}, []*carbonara.Groups{dst})
}

// localGroups reads what this process holds. It is an answer only if the lease holds after it was read.
func (a *archives) localGroups(ctx context.Context, read model.Read, dst *carbonara.Groups) error {
	if err := a.local.Groups(ctx, read, dst); err != nil {
		return err
	}
	return a.valid()
}

// valid returns an error once this process may hold nothing any more.
func (a *archives) valid() error {
	if !a.lease.Valid() {
		return errors.Join(model.ErrUnavailable, a.lease.Err())
	}
	return nil
}

// fetch reads from the process that holds the sack, waiting a little if it is being handed over; if nobody answers for it, from the
// disk, if the client allows that.
func (a *archives) fetch(ctx context.Context, sack int, reads []model.Read, dst []*carbonara.Groups) error {
	return a.freshOrStale(ctx, sack,
		func(ctx context.Context) error { return a.fetchFresh(ctx, sack, reads, dst) },
		func(store *archive.Store) error { return keptGroups(store, reads, dst) })
}

// freshOrStale calls fresh; if nobody answers for the sack, and the client allows that, stale with what is on the disk.
func (a *archives) freshOrStale(ctx context.Context, sack int, fresh func(context.Context) error, stale func(*archive.Store) error) error {
	staleness := api.StalenessOf(ctx)
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
func (a *archives) fetchFresh(ctx context.Context, sack int, reads []model.Read, dst []*carbonara.Groups) error {
	return a.atHolder(ctx, sack,
		func() error {
			for i, r := range reads {
				if err := a.localGroups(ctx, r, dst[i]); err != nil {
					return err
				}
			}
			return nil
		},
		func(address string) error { return a.client.Groups(ctx, address, reads, dst) })
}

// atHolder calls here or there, depending on who holds the sack, and again if it has another holder meanwhile.
func (a *archives) atHolder(ctx context.Context, sack int, here func() error, there func(address string) error) error {
	name := SackName(sack)
	deadline := time.Now().Add(holderWait)
	for {
		if a.local != nil {
			if err := here(); !errors.Is(err, metricd.ErrNotOwned) {
				return err
			}
		}
		address, err := a.holders.await(ctx, name)
		if err != nil {
			return err
		}
		err = there(address)
		if err == nil || !errors.Is(err, model.ErrUnavailable) || time.Now().After(deadline) {
			return err
		}
		a.holders.forget(name)
		if err := pause.For(ctx, holderLook); err != nil {
			return err
		}
	}
}

// Refresh implements api.Archives. Sacks of one process are refreshed by one request.
func (a *archives) Refresh(ctx context.Context, metrics []uuid.UUID) error {
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

// refresh refreshes sacks that one process held just now; if it does not any more, one by one.
func (a *archives) refresh(ctx context.Context, sacks []int) error {
	refresh := func(sacks []int) error {
		return a.atHolder(ctx, sacks[0],
			func() error { return a.refreshLocal(ctx, sacks) },
			func(address string) error { return a.client.Refresh(ctx, address, sacks) })
	}
	if len(sacks) == 1 {
		return refresh(sacks)
	}
	if a.local != nil {
		if err := a.refreshLocal(ctx, sacks); !errors.Is(err, metricd.ErrNotOwned) {
			return err
		}
	}
	if address, err := a.holders.address(ctx, SackName(sacks[0])); err == nil && a.client.Refresh(ctx, address, sacks) == nil {
		return nil
	}
	for _, sack := range sacks {
		if err := refresh([]int{sack}); err != nil {
			return err
		}
	}
	return nil
}

// refreshLocal refreshes sacks that this process holds. An incoming store whose process has just ended is waited for a little: it is
// about to be adopted.
func (a *archives) refreshLocal(ctx context.Context, sacks []int) error {
	for deadline := time.Now().Add(holderWait); ; {
		err := a.reach(ctx)
		if err == nil {
			err = a.local.RefreshSacks(ctx, sacks)
		}
		if !errors.Is(err, model.ErrUnavailable) || errors.Is(err, metricd.ErrNotOwned) || time.Now().After(deadline) {
			return err
		}
		if err := pause.For(ctx, holderLook); err != nil {
			return err
		}
	}
}

// holder returns where a sack's holder is reached.
func (a *archives) holder(ctx context.Context, sack int) (address string, err error) {
	return a.holders.await(ctx, SackName(sack))
}

// holderOrNone is holder for a request whose answer may be stale: "" for a sack to be read from the disk.
func (a *archives) holderOrNone(ctx context.Context, sack int) (address string, err error) {
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
func (a *archives) byHolderOrNone(ctx context.Context, n int, sackOf func(i int) int) (map[string][]int, error) {
	if api.StalenessOf(ctx) == nil {
		return a.byHolder(ctx, n, sackOf, a.holder)
	}
	patience, cancel := context.WithTimeout(ctx, holderWait)
	defer cancel()
	groups, err := a.byHolder(patience, n, sackOf, a.holderOrNone)
	return groups, errors.Join(err, ctx.Err())
}

// byHolder groups n things by the process that holds their sacks, as holder says it; "" is this one.
func (a *archives) byHolder(ctx context.Context, n int, sackOf func(i int) int,
	holder func(ctx context.Context, sack int) (address string, err error)) (map[string][]int, error) {
	here := make(map[int]bool)
	if a.local != nil {
		for _, sack := range a.local.Held() {
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
