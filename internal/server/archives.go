package server

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"gnocco/api"
	"gnocco/carbonara"
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
	client  *peer.Client
	sacks   int
	reach   func(context.Context) error // returns once local takes from all incoming stores
}

// Groups implements api.Archives.
func (a *archives) Groups(ctx context.Context, metric *model.Metric, granularity time.Duration, columns []carbonara.Column,
	from, to carbonara.Timestamp, dst *carbonara.Groups) error {
	if a.local != nil {
		err := a.localGroups(ctx, metric, granularity, columns, from, to, dst)
		if !errors.Is(err, metricd.ErrNotOwned) {
			return err
		}
	}
	read := peer.Read{Metric: metric, Granularity: granularity, Columns: columns, From: from, To: to}
	return a.fetch(ctx, model.Sack(metric.ID, a.sacks), []peer.Read{read}, []*carbonara.Groups{dst})
}

// localGroups reads what this process holds. It is an answer only if the lease holds after it was read.
func (a *archives) localGroups(ctx context.Context, metric *model.Metric, granularity time.Duration, columns []carbonara.Column,
	from, to carbonara.Timestamp, dst *carbonara.Groups) error {
	if err := a.local.Groups(ctx, metric, granularity, columns, from, to, dst); err != nil {
		return err
	}
	if !a.lease.Valid() {
		return errors.Join(model.ErrUnavailable, a.lease.Err())
	}
	return nil
}

// fetch reads from sacks of the process that holds one of them, waiting a little if they are being handed over.
func (a *archives) fetch(ctx context.Context, sack int, reads []peer.Read, dst []*carbonara.Groups) error {
	return a.atHolder(ctx, sack,
		func() error {
			for i, r := range reads {
				if err := a.localGroups(ctx, r.Metric, r.Granularity, r.Columns, r.From, r.To, dst[i]); err != nil {
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
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(holderLook):
		}
	}
}

// Refresh implements api.Archives. Sacks of one process are refreshed by one request.
func (a *archives) Refresh(ctx context.Context, metrics []uuid.UUID) error {
	groups, err := a.byHolder(ctx, len(metrics), func(i int) int { return model.Sack(metrics[i], a.sacks) })
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
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(holderLook):
		}
	}
}

// byHolder groups n things by the process that holds their sacks: "" is this one.
func (a *archives) byHolder(ctx context.Context, n int, sackOf func(i int) int) (map[string][]int, error) {
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
			if address, err = a.holders.await(ctx, SackName(sack)); err != nil {
				return nil, err
			}
			addresses[sack] = address
		}
		groups[address] = append(groups[address], i)
	}
	return groups, nil
}

// prefetched answers queries from memory, and others as archives does.
type prefetched struct {
	*archives
	groups map[prefetchedKey]*carbonara.Groups
}

type prefetchedKey struct {
	metric      uuid.UUID
	granularity time.Duration
	from, to    carbonara.Timestamp
	columns     string
}

func keyOf(metric uuid.UUID, granularity time.Duration, columns []carbonara.Column, from, to carbonara.Timestamp) prefetchedKey {
	key := prefetchedKey{metric, granularity, from, to, ""}
	names := make([]byte, len(columns))
	for i, c := range columns {
		names[i] = byte(c)
	}
	key.columns = string(names)
	return key
}

// maxReads bounds one request for groups: an owner answers it in one go.
const maxReads = 5000

// Prefetch implements api.Prefetcher: one request to each process that holds some of the sacks, all at once.
func (a *archives) Prefetch(ctx context.Context, queries []api.GroupsQuery) (api.Archives, error) {
	byHolder, err := a.byHolder(ctx, len(queries), func(i int) int { return model.Sack(queries[i].Metric.ID, a.sacks) })
	if err != nil {
		return nil, err
	}
	if delete(byHolder, ""); len(byHolder) == 0 {
		return a, nil
	}
	p := &prefetched{archives: a, groups: make(map[prefetchedKey]*carbonara.Groups)}
	all, ctx := errgroup.WithContext(ctx)
	for address, places := range byHolder {
		for first := 0; first < len(places); first += maxReads {
			var reads []peer.Read
			var dst []*carbonara.Groups
			for _, i := range places[first:min(first+maxReads, len(places))] {
				q := &queries[i]
				key := keyOf(q.Metric.ID, q.Granularity, q.Columns, q.From, q.To)
				if p.groups[key] != nil {
					continue
				}
				groups := new(carbonara.Groups)
				p.groups[key] = groups
				reads = append(reads, peer.Read{Metric: q.Metric, Granularity: q.Granularity, Columns: q.Columns, From: q.From, To: q.To})
				dst = append(dst, groups)
			}
			all.Go(func() error {
				err := a.client.Groups(ctx, address, reads, dst)
				if !errors.Is(err, model.ErrUnavailable) {
					return err
				}
				return a.fetchEach(ctx, reads, dst) // some have another holder by now
			})
		}
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	return p, nil
}

// fetchEach reads one by one.
func (a *archives) fetchEach(ctx context.Context, reads []peer.Read, dst []*carbonara.Groups) error {
	for i := range reads {
		if err := a.fetch(ctx, model.Sack(reads[i].Metric.ID, a.sacks), reads[i:i+1], dst[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// Groups implements api.Archives.
func (p *prefetched) Groups(ctx context.Context, metric *model.Metric, granularity time.Duration, columns []carbonara.Column,
	from, to carbonara.Timestamp, dst *carbonara.Groups) error {
	groups := p.groups[keyOf(metric.ID, granularity, columns, from, to)]
	if groups == nil {
		return p.archives.Groups(ctx, metric, granularity, columns, from, to, dst)
	}
	dst.Reset(granularity, columns)
	dst.Append(groups)
	return nil
}

// Size implements api.ArchiveSizes. What other processes hold is told as nothing.
func (a *archives) Size(metric uuid.UUID) (archive.Size, error) {
	if a.local == nil {
		return archive.Size{}, nil
	}
	size, err := a.local.Size(metric)
	if errors.Is(err, metricd.ErrNotOwned) {
		return archive.Size{}, nil
	}
	return size, err
}
