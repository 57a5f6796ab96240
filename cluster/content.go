package cluster

import (
	"context"

	"github.com/gnocco-db/gnocco/model"
)

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
