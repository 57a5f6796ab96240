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
