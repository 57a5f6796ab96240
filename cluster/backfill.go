package cluster

import (
	"context"

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
