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
	model.Backfilled, error) {
	return answerAtHolder(ctx, a, a.Sack(to),
		func() (model.Backfilled, error) { return a.local.Backfill(ctx, to, from, at) },
		func(address string) (model.Backfilled, error) { return a.client.Backfill(ctx, address, to, from, at) })
}

// Backfill implements peer.LocalSacks.
func (l *localArchives) Backfill(ctx context.Context, to, from uuid.UUID, at carbonara.Timestamp) (
	model.Backfilled, error) {
	done, err := l.metricd.Backfill(ctx, to, from, at)
	return done, l.answered(err)
}

// Content implements query.Archives.
func (a *Router) Content(ctx context.Context, r *model.ContentRequest) (model.Content, error) {
	return answerAtHolder(ctx, a, a.Sack(r.Metric),
		func() (model.Content, error) { return a.local.Content(ctx, r) },
		func(address string) (model.Content, error) { return a.client.Content(ctx, address, r) })
}

// Content implements peer.LocalSacks.
func (l *localArchives) Content(ctx context.Context, r *model.ContentRequest) (model.Content, error) {
	c, err := l.metricd.Content(ctx, r)
	return c, l.answered(err)
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
			one, err := answerAtHolder(ctx, a, sack,
				func() (model.Replaced, error) { return a.local.Replace(ctx, some, r) },
				func(address string) (model.Replaced, error) { return a.client.Replace(ctx, address, some, r) })
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
	done, err = l.metricd.Replace(ctx, metrics, r)
	return done, l.answered(err)
}
