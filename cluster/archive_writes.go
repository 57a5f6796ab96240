package cluster

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// Backfill implements query.Archives.
func (a *Router) Backfill(ctx context.Context, to, from uuid.UUID, at carbonara.Timestamp) (
	done model.Backfilled, err error) {
	err = a.atHolder(ctx, a.Sack(to),
		func() (err error) {
			done, err = a.local.Backfill(ctx, to, from, at)
			return err
		},
		func(address string) (err error) {
			done, err = a.client.Backfill(ctx, address, to, from, at)
			return err
		})
	return done, err
}

// Backfill implements peer.LocalSacks.
func (l *localArchives) Backfill(ctx context.Context, to, from uuid.UUID, at carbonara.Timestamp) (
	model.Backfilled, error) {
	done, err := l.metricd.Backfill(ctx, to, from, at)
	if err != nil {
		return done, l.explain(err)
	}
	return done, l.valid()
}

// Content implements query.Archives.
func (a *Router) Content(ctx context.Context, r *model.ContentRequest) (c model.Content, err error) {
	err = a.atHolder(ctx, a.Sack(r.Metric),
		func() (err error) {
			c, err = a.local.Content(ctx, r)
			return err
		},
		func(address string) (err error) {
			c, err = a.client.Content(ctx, address, r)
			return err
		})
	return c, err
}

// Content implements peer.LocalSacks.
func (l *localArchives) Content(ctx context.Context, r *model.ContentRequest) (model.Content, error) {
	c, err := l.metricd.Content(ctx, r)
	if err != nil {
		return c, l.explain(err)
	}
	return c, l.valid()
}

// replacedAtOnce is how many metrics one request to a holder replaces: it answers within the time that peers wait.
const replacedAtOnce = 100

// Replace implements query.Archives: sack by sack, so that the metrics of one share commits.
func (a *Router) Replace(ctx context.Context, metrics []uuid.UUID, r *model.Replacement) (
	done model.Replaced, err error) {
	bySack := make(map[int][]uuid.UUID)
	for _, id := range metrics {
		bySack[a.Sack(id)] = append(bySack[a.Sack(id)], id)
	}
	for sack, metrics := range bySack {
		for some := range slices.Chunk(metrics, replacedAtOnce) {
			var one model.Replaced
			err := a.atHolder(ctx, sack,
				func() (err error) {
					one, err = a.local.Replace(ctx, some, r)
					return err
				},
				func(address string) (err error) {
					one, err = a.client.Replace(ctx, address, some, r)
					return err
				})
			if err != nil {
				return done, err
			}
			done.Add(&one)
		}
	}
	return done, nil
}

// Replace implements peer.LocalSacks, for metrics of one sack. It first takes what all incoming stores have, so that
// nothing that was acknowledged before is left there.
func (l *localArchives) Replace(ctx context.Context, metrics []uuid.UUID, r *model.Replacement) (
	done model.Replaced, err error) {
	if err := l.RefreshSacks(ctx, []int{model.Sack(metrics[0], l.sacks)}); err != nil {
		return done, err
	}
	if done, err = l.metricd.Replace(ctx, metrics, r); err != nil {
		return done, l.explain(err)
	}
	return done, l.valid()
}
