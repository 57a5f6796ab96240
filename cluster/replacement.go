package cluster

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

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
