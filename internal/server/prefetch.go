package server

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"gnocco/api"
	"gnocco/carbonara"
	"gnocco/model"
)

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
	sought      carbonara.Sought // of no method: everything
}

func keyOf(r *model.Read) prefetchedKey {
	key := prefetchedKey{metric: r.Metric.ID, granularity: r.Granularity, from: r.From, to: r.To}
	names := make([]byte, len(r.Columns))
	for i, c := range r.Columns {
		names[i] = byte(c)
	}
	key.columns = string(names)
	if r.Sought != nil {
		key.sought = *r.Sought
	}
	return key
}

// maxReads bounds one request for groups: an owner answers it in one go.
const maxReads = 5000

// Prefetch implements api.Prefetcher: one request to each process that holds some of the sacks, all at once.
func (a *archives) Prefetch(ctx context.Context, queries []model.Read) (api.Archives, error) {
	byHolder, err := a.byHolderOrNone(ctx, len(queries), func(i int) int { return model.Sack(queries[i].Metric.ID, a.sacks) })
	if err != nil {
		return nil, err
	}
	mayBeStale := api.StalenessOf(ctx) != nil
	if delete(byHolder, ""); len(byHolder) == 0 {
		return a, nil
	}
	p := &prefetched{archives: a, groups: make(map[prefetchedKey]*carbonara.Groups)}
	all, ctx := errgroup.WithContext(ctx)
	for address, places := range byHolder {
		for first := 0; first < len(places); first += maxReads {
			var reads []model.Read
			var dst []*carbonara.Groups
			for _, i := range places[first:min(first+maxReads, len(places))] {
				q := &queries[i]
				key := keyOf(q)
				if p.groups[key] != nil {
					continue
				}
				groups := new(carbonara.Groups)
				p.groups[key] = groups
				reads = append(reads, *q)
				dst = append(dst, groups)
			}
			all.Go(func() error {
				err := a.fetchAll(ctx, address, reads, dst, mayBeStale)
				if !unanswered(err) || ctx.Err() != nil {
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

// fetchAll reads from one process. Is it silent where answers may be stale, what it holds is read from the disk from then on.
func (a *archives) fetchAll(ctx context.Context, address string, reads []model.Read, dst []*carbonara.Groups, mayBeStale bool) error {
	if !mayBeStale {
		return a.client.Groups(ctx, address, reads, dst)
	}
	patience, cancel := context.WithTimeout(ctx, holderWait)
	defer cancel()
	err := a.client.Groups(patience, address, reads, dst)
	if errors.Is(patience.Err(), context.DeadlineExceeded) {
		for _, r := range reads {
			a.stale.prepare(model.Sack(r.Metric.ID, a.sacks))
		}
	}
	return err
}

// fetchEach reads one by one.
func (a *archives) fetchEach(ctx context.Context, reads []model.Read, dst []*carbonara.Groups) error {
	for i := range reads {
		if err := a.fetch(ctx, model.Sack(reads[i].Metric.ID, a.sacks), reads[i:i+1], dst[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// Groups implements api.Archives.
func (p *prefetched) Groups(ctx context.Context, read model.Read, dst *carbonara.Groups) error {
	groups := p.groups[keyOf(&read)]
	if groups == nil {
		return p.archives.Groups(ctx, read, dst)
	}
	dst.Reset(read.Granularity, read.Columns)
	dst.Append(groups)
	return nil
}
