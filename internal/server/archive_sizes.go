package server

import (
	"context"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"gnocco/model"
	"gnocco/storage/archive"
)

// Sizes implements api.ArchiveSizes: one request to each process that holds some of the sacks, all at once.
func (a *archives) Sizes(ctx context.Context, metrics []uuid.UUID) ([]archive.Size, error) {
	byHolder, err := a.byHolderOrNone(ctx, len(metrics), func(i int) int { return model.Sack(metrics[i], a.sacks) })
	if err != nil {
		return nil, err
	}
	sizes := make([]archive.Size, len(metrics))
	all, ctx := errgroup.WithContext(ctx)
	for address, places := range byHolder {
		all.Go(func() error {
			ids := make([]uuid.UUID, len(places))
			for k, i := range places {
				ids[k] = metrics[i]
			}
			found, err := a.sizesAt(ctx, address, ids)
			if unanswered(err) && ctx.Err() == nil {
				found, err = a.sizesEach(ctx, ids) // some have another holder by now, or none
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
func (a *archives) sizesAt(ctx context.Context, address string, metrics []uuid.UUID) ([]archive.Size, error) {
	if address != "" {
		return a.client.Sizes(ctx, address, metrics)
	}
	return a.localSizes(ctx, metrics)
}

// localSizes tells of what this process holds. It is an answer only if the lease holds after it was read.
func (a *archives) localSizes(ctx context.Context, metrics []uuid.UUID) ([]archive.Size, error) {
	if a.local == nil {
		return nil, model.ErrUnavailable
	}
	sizes, err := a.local.Sizes(ctx, metrics)
	if err != nil {
		return nil, err
	}
	return sizes, a.valid()
}

// sizesEach asks one by one, for metrics of sacks that change hands.
func (a *archives) sizesEach(ctx context.Context, metrics []uuid.UUID) ([]archive.Size, error) {
	sizes := make([]archive.Size, len(metrics))
	for i, metric := range metrics {
		sack, own := model.Sack(metric, a.sacks), metrics[i:i+1]
		keep := func(found []archive.Size, err error) error {
			copy(sizes[i:], found)
			return err
		}
		err := a.freshOrStale(ctx, sack,
			func(ctx context.Context) error {
				return a.atHolder(ctx, sack,
					func() error { return keep(a.localSizes(ctx, own)) },
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
