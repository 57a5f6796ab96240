package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// prefetched answers the prefetched reads from memory, and others as Router does.
type prefetched struct {
	*Router
	groups map[prefetchedKey]*carbonara.Groups
}

type prefetchedKey struct {
	metric      uuid.UUID
	granularity time.Duration
	from, to    carbonara.Timestamp
	lead        bool
	columns     string
}

func keyOf(r *model.Read) prefetchedKey {
	key := prefetchedKey{metric: r.Metric.ID, granularity: r.Granularity, from: r.From, to: r.To, lead: r.Lead}
	var names []byte
	for _, c := range r.Columns {
		names = c.Append(names)
	}
	key.columns = string(names)
	return key
}

// maxReads bounds one request for groups: the holder answers it as a whole.
const maxReads = 5000

// Prefetch implements query.Archives: it sends one request to each process that holds some of the sacks, all at once.
func (a *Router) Prefetch(ctx context.Context, queries []model.Read, staleness *query.Staleness) (
	query.GroupReader, error) {
	if a.local != nil && len(a.local.metricd.Held()) == a.sacks {
		return a, nil
	}
	sackOf := func(i int) int { return model.Sack(queries[i].Metric.ID, a.sacks) }
	byHolder, err := a.byHolder(ctx, len(queries), staleness, sackOf)
	if err != nil {
		return nil, err
	}
	if delete(byHolder, ""); len(byHolder) == 0 {
		return a, nil
	}
	p := &prefetched{Router: a, groups: make(map[prefetchedKey]*carbonara.Groups)}
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
				err := a.fetchAll(ctx, address, reads, dst, staleness != nil)
				if !unanswered(err) || ctx.Err() != nil {
					return err
				}
				return a.fetchEach(ctx, staleness, reads, dst) // some sacks have another holder by now
			})
		}
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	return p, nil
}

// fetchAll reads from one process. If it stays silent and stale answers are allowed, reads of its sacks come from the
// disk from then on.
func (a *Router) fetchAll(ctx context.Context, address string, reads []model.Read, dst []*carbonara.Groups,
	mayBeStale bool) error {
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

// fetchEach sends one read after the other.
func (a *Router) fetchEach(ctx context.Context, staleness *query.Staleness, reads []model.Read,
	dst []*carbonara.Groups) error {
	for i := range reads {
		sack := model.Sack(reads[i].Metric.ID, a.sacks)
		if err := a.fetch(ctx, sack, staleness, reads[i:i+1], dst[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// Groups implements query.GroupReader.
func (p *prefetched) Groups(ctx context.Context, read model.Read, staleness *query.Staleness,
	dst *carbonara.Groups) error {
	groups := p.groups[keyOf(&read)]
	if groups == nil {
		return p.Router.Groups(ctx, read, staleness, dst)
	}
	dst.Reset(read.Granularity, read.Columns)
	dst.Append(groups)
	dst.Lead, dst.Raw = groups.Lead, groups.Raw
	return budget.Of(ctx).Acquire(budget.Answers, int64(dst.Bytes()))
}

// EachGroups implements query.GroupReader: either all of a sack's metrics were prefetched or none.
func (p *prefetched) EachGroups(ctx context.Context, reads []model.Read, staleness *query.Staleness,
	dst *carbonara.Groups, use func(i int) error) error {
	if p.groups[keyOf(&reads[0])] == nil {
		return p.Router.EachGroups(ctx, reads, staleness, dst, use)
	}
	return eachGroups(ctx, p, reads, staleness, dst, use)
}
