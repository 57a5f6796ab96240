package cluster

import (
	"context"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"gnocco/model"
	"gnocco/query"
	"gnocco/storage/archive"
)

// Sizes implements query.Archives: it sends one request to each process that holds some of the sacks, all at once.
func (a *Router) Sizes(ctx context.Context, metrics []uuid.UUID, staleness *query.Staleness) (
	[]model.ArchiveSize, error) {
	sackOf := func(i int) int { return model.Sack(metrics[i], a.sacks) }
	byHolder, err := a.byHolderOrNone(ctx, len(metrics), staleness, sackOf)
	if err != nil {
		return nil, err
	}
	sizes := make([]model.ArchiveSize, len(metrics))
	all, ctx := errgroup.WithContext(ctx)
	for address, places := range byHolder {
		all.Go(func() error {
			ids := make([]uuid.UUID, len(places))
			for k, i := range places {
				ids[k] = metrics[i]
			}
			found, err := a.sizesAt(ctx, address, ids)
			if unanswered(err) && ctx.Err() == nil {
				found, err = a.sizesEach(ctx, staleness, ids) // some sacks have another holder by now, or none
			}
			if err != nil {
				return err
			}
			for k, i := range places {
				sizes[i] = found[k]
			}
			return nil
		})
	}
	return sizes, all.Wait()
}

// sizesAt asks one process; "" is this one.
func (a *Router) sizesAt(ctx context.Context, address string, metrics []uuid.UUID) ([]model.ArchiveSize, error) {
	if address != "" {
		return a.client.Sizes(ctx, address, metrics)
	}
	if a.local == nil {
		return nil, model.ErrUnavailable
	}
	return a.local.sizes(ctx, metrics)
}

// sizesEach asks for one metric after the other, while their sacks change hands.
func (a *Router) sizesEach(ctx context.Context, staleness *query.Staleness, metrics []uuid.UUID) (
	[]model.ArchiveSize, error) {
	sizes := make([]model.ArchiveSize, len(metrics))
	for i, metric := range metrics {
		sack, own := model.Sack(metric, a.sacks), metrics[i:i+1]
		keep := func(found []model.ArchiveSize, err error) error {
			copy(sizes[i:], found)
			return err
		}
		err := a.freshOrStale(ctx, sack, staleness,
			func(ctx context.Context) error {
				return a.atHolder(ctx, sack,
					func() error { return keep(a.local.sizes(ctx, own)) },
					func(address string) error { return keep(a.client.Sizes(ctx, address, own)) })
			},
			func(store *archive.Store) (err error) {
				sizes[i], err = store.Size(metric)
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	return sizes, nil
}
