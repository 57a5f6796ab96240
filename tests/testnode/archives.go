package testnode

import (
	"context"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// Archives are the query.Archives of one process that holds all sacks: its answers are always fresh.
type Archives struct{ *metricd.Metricd }

// Groups implements query.Archives.
func (a Archives) Groups(ctx context.Context, read model.Read, _ *query.Staleness, dst *carbonara.Groups) error {
	return a.Metricd.Groups(ctx, read, dst)
}

// EachGroups implements query.Archives.
func (a Archives) EachGroups(ctx context.Context, reads []model.Read, _ *query.Staleness, dst *carbonara.Groups,
	use func(i int) error) error {
	return a.Metricd.EachGroups(ctx, reads, dst, use)
}

// Prefetch implements query.Archives: there is nothing to ask for elsewhere.
func (a Archives) Prefetch(context.Context, []model.Read, *query.Staleness) (query.GroupReader, error) {
	return a, nil
}

// Sizes implements query.Archives.
func (a Archives) Sizes(ctx context.Context, metrics []uuid.UUID, _ *query.Staleness) ([]model.ArchiveSize, error) {
	return a.Metricd.Sizes(ctx, metrics)
}
