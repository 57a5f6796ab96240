package metricd

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/metricd/heads"
	"github.com/gnocco-db/gnocco/metricd/rebuild"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// Rebuild gives the archives of metrics the schema of their archive policies. Their sacks must be held. The error is a
// model.ErrUnavailable if the index, as this process sees it, has other policies than these for the metrics. The
// rebuilt archives are durable, and repeating Rebuild changes nothing. With an error some may be rebuilt. Measures are
// processed between two metrics.
func (p *Metricd) Rebuild(ctx context.Context, metrics []uuid.UUID, policies []*model.ArchivePolicy) (
	done model.RebuildCounts, err error) {
	done, err = rewriteAll(ctx, p, metrics, (*heads.Heads).MustWrite, &always, func(s *sack, found []*model.Metric,
		c *archive.Checkpoint) (n int, changed []uuid.UUID, some model.RebuildCounts, err error) {
		if err := agree(found, policies); err != nil {
			return 0, nil, some, err
		}
		for i, m := range found {
			if m != nil && s.heads.WritesByPolicy(m.ID) {
				found[i] = nil // its archive has that schema
			}
		}
		b := p.rebuilds.Get().(*rebuild.Batch)
		defer p.rebuilds.Put(b)
		changed, outcomes, err := b.Archives(ctx, found, c, &rebuild.Options{
			Store: s.store, KeepsUnsettled: s.heads.KeepsUnsettled(), Resampler: p.options.Resampler,
			Plain: p.reader, Logger: p.options.Logger, Unchanged: s.heads.Follow,
		})
		for i := range outcomes {
			some.Add(&outcomes[i])
		}
		return len(outcomes), changed, some, err
	})
	p.instruments.rebuilt.WithLabelValues(resultChanged).Add(float64(done.Changed))
	p.instruments.rebuilt.WithLabelValues(resultUnchanged).Add(float64(done.Unchanged))
	p.instruments.rebuilt.WithLabelValues(resultFailed).Add(float64(done.Failed))
	return done, err
}

// agree returns an error if a metric has none of these archive policies.
func agree(found []*model.Metric, policies []*model.ArchivePolicy) error {
	for _, m := range found {
		if m != nil && !slices.ContainsFunc(policies, func(p *model.ArchivePolicy) bool {
			return p.Name == m.ArchivePolicy.Name && p.Plan().Equal(m.ArchivePolicy.Plan())
		}) {
			return fmt.Errorf("%w: metric %s has another archive policy by now", model.ErrUnavailable, m.ID)
		}
	}
	return nil
}
