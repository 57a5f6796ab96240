package cluster

import (
	"context"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// Sizes implements query.Archives.
func (a *Router) Sizes(ctx context.Context, metrics []uuid.UUID,
	staleness *query.Staleness) ([]model.ArchiveSize, error) {
	return figure[model.ArchiveSize]{a, (*localArchives).Sizes, (*peer.Client).Sizes, (*archive.Store).Size}.of(ctx,
		metrics, staleness)
}

// LastMeasures implements query.Archives.
func (a *Router) LastMeasures(ctx context.Context, metrics []uuid.UUID) ([]carbonara.Timestamp, error) {
	return figure[carbonara.Timestamp]{a, (*localArchives).LastMeasures, (*peer.Client).LastMeasures,
		nil}.of(ctx, metrics, nil)
}

// figure is something that the holder of a metric's sack knows about the metric.
type figure[T any] struct {
	*Router
	here  func(*localArchives, context.Context, []uuid.UUID) ([]T, error)
	there func(*peer.Client, context.Context, string, []uuid.UUID) ([]T, error)
	stale func(*archive.Store, uuid.UUID) (T, error) // nil if a fresh answer is always asked for
}

// of returns the figures of metrics: it sends one request to each process that holds some of the sacks, all at once.
func (f figure[T]) of(ctx context.Context, metrics []uuid.UUID, staleness *query.Staleness) ([]T, error) {
	sackOf := func(i int) int { return model.Sack(metrics[i], f.sacks) }
	byHolder, err := f.byHolderOrNone(ctx, len(metrics), staleness, sackOf)
	if err != nil {
		return nil, err
	}
	figures := make([]T, len(metrics))
	all, ctx := errgroup.WithContext(ctx)
	for address, places := range byHolder {
		all.Go(func() error {
			ids := make([]uuid.UUID, len(places))
			for k, i := range places {
				ids[k] = metrics[i]
			}
			found, err := f.at(ctx, address, ids)
			if unanswered(err) && ctx.Err() == nil {
				found, err = f.each(ctx, staleness, ids) // some sacks have another holder by now, or none
			}
			if err != nil {
				return err
			}
			for k, i := range places {
				figures[i] = found[k]
			}
			return nil
		})
	}
	return figures, all.Wait()
}

// at asks one process; "" is this one.
func (f figure[T]) at(ctx context.Context, address string, metrics []uuid.UUID) ([]T, error) {
	if address != "" {
		return f.there(f.client, ctx, address, metrics)
	}
	if f.local == nil {
		return nil, model.ErrUnavailable
	}
	return f.here(f.local, ctx, metrics)
}

// each asks for one metric after the other, while their sacks change hands.
func (f figure[T]) each(ctx context.Context, staleness *query.Staleness, metrics []uuid.UUID) ([]T, error) {
	figures := make([]T, len(metrics))
	for i, metric := range metrics {
		sack, own := model.Sack(metric, f.sacks), metrics[i:i+1]
		keep := func(found []T, err error) error {
			copy(figures[i:], found)
			return err
		}
		err := f.freshOrStale(ctx, sack, staleness,
			func(ctx context.Context) error {
				return f.atHolder(ctx, sack,
					func() error { return keep(f.here(f.local, ctx, own)) },
					func(address string) error { return keep(f.there(f.client, ctx, address, own)) })
			},
			func(store *archive.Store) (err error) {
				figures[i], err = f.stale(store, metric)
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	return figures, nil
}
