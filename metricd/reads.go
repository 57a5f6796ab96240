package metricd

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/view"
	"github.com/gnocco-db/gnocco/model"
)

// Groups reads what is asked for, as far as the archive policy's timespan goes, into dst: the splits, and on top what
// the head adds.
func (p *Metricd) Groups(ctx context.Context, read model.Read, dst *carbonara.Groups) error {
	started := time.Now()
	defer func() { p.instruments.readSeconds.Observe(time.Since(started).Seconds()) }()
	dst.Reset(read.Granularity, read.Columns)
	s, err := p.sackOf(read.Metric.ID)
	if err != nil {
		return err
	}
	s.catchUp(ctx)
	return s.error(s.view.Groups(ctx, read, started, dst))
}

// EachGroups is Groups for many metrics of one sack, cheapest in the order of their IDs: it calls use after each read,
// with its number. An ErrNotOwned comes before the first. Use must not read: the sack is locked.
func (p *Metricd) EachGroups(ctx context.Context, reads []model.Read, dst *carbonara.Groups,
	use func(i int) error) error {
	s, err := p.sackOf(reads[0].Metric.ID)
	if err != nil {
		return err
	}
	s.catchUp(ctx)
	started := time.Now()
	var used error // is returned as it is
	err = s.view.EachGroups(ctx, reads, started, dst, func(i int) error {
		used = use(i)
		return used
	})
	mean := time.Since(started).Seconds() / float64(len(reads)) // a clock for each would be a part of it
	for range reads {
		p.instruments.readSeconds.Observe(mean)
	}
	if used != nil {
		return err
	}
	return s.error(err)
}

// LastMeasures returns the timestamp of each metric's newest measure that is not ahead, if it has any such, or of its
// newest one, 0 for none, in checkpoints or not. The sacks must be held.
func (p *Metricd) LastMeasures(ctx context.Context, metrics []uuid.UUID) ([]carbonara.Timestamp, error) {
	return eachMetric(ctx, p, metrics, (*view.View).LastMeasure)
}

// Sizes returns what metrics take in their sacks' stores, which must be held. Measures that are in no checkpoint yet
// take nothing; those that were dropped or late count.
func (p *Metricd) Sizes(ctx context.Context, metrics []uuid.UUID) ([]model.ArchiveSize, error) {
	return eachMetric(ctx, p, metrics, (*view.View).Size)
}

// eachMetric returns what f answers for each of the metrics, whose sacks must be held.
func eachMetric[T any](ctx context.Context, p *Metricd, metrics []uuid.UUID,
	f func(*view.View, uuid.UUID) (T, error)) ([]T, error) {
	answers := make([]T, len(metrics))
	for i, metric := range metrics {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s, err := p.sackOf(metric)
		if err != nil {
			return nil, err
		}
		s.catchUp(ctx)
		if answers[i], err = f(s.view, metric); err != nil {
			return nil, s.error(err)
		}
	}
	return answers, nil
}
