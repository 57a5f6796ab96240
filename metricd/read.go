package metricd

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gnocco/carbonara"
	"gnocco/model"
	"gnocco/storage/archive"
)

// batch is the memory of one call of a resampler: of a checkpoint, or of a read of a head.
type batch struct {
	builder
	result  carbonara.Result
	overlay carbonara.Groups
}

// Groups reads the groups of a metric at one granularity of its policy that start at or after from and before to, as
// far as its timespan goes, into dst: the splits, and on top what the head adds. Columns are ascending.
func (p *Metricd) Groups(ctx context.Context, metric *model.Metric, granularity time.Duration, columns []carbonara.Column,
	from, to carbonara.Timestamp, dst *carbonara.Groups) error {
	started := time.Now()
	defer func() { p.metrics.readSeconds.Observe(time.Since(started).Seconds()) }()
	dst.Reset(granularity, columns)
	s, err := p.sackOf(metric.ID)
	if err != nil {
		return err
	}
	return s.groups(ctx, metric, granularity, from, to, dst)
}

func (s *sack) groups(ctx context.Context, metric *model.Metric, granularity time.Duration, from, to carbonara.Timestamp, dst *carbonara.Groups) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return notOwned(s.number)
	}
	h := s.heads[metric.ID]
	timespan := metric.ArchivePolicy.Timespan(granularity)
	if timespan > 0 && h != nil && h.hasNewest {
		from, timespan = max(from, archive.OldestKept(h.newest.Timestamp.Floor(granularity), timespan)), 0
	}
	corrupt, err := s.store.KeptGroups(metric.ID, granularity, timespan, from, to, dst)
	if err != nil {
		return err
	}
	s.parent.metrics.corrupt.Add(float64(corrupt))
	if h == nil || len(h.pending) == 0 {
		return nil
	}
	if !slices.Contains(h.plan.Granularities, granularity) && metric.ArchivePolicy.HasGranularity(granularity) {
		return nil // not reaggregated yet
	}
	return s.overlayHead(ctx, h, granularity, from, to, dst)
}

// overlayHead resamples the head's measures and puts the groups that lie in the range on top of those in dst.
func (s *sack) overlayHead(ctx context.Context, h *head, granularity time.Duration, from, to carbonara.Timestamp, dst *carbonara.Groups) error {
	j := slices.Index(h.plan.Granularities, granularity)
	if j < 0 {
		return fmt.Errorf("metricd: metric %s has no granularity %v: %w", h.metric.ID, granularity, model.ErrNotFound)
	}
	b := s.parent.reads.Get().(*batch)
	defer s.parent.reads.Put(b)
	b.reset(s.parent.reader)
	if err := b.addSingle(h, s.store, j); err != nil {
		return err
	}
	s.parent.metrics.corrupt.Add(float64(b.corrupt))
	if err := b.resample(ctx, s.parent.reader, s.parent.reader); err != nil {
		return err
	}
	groups := b.result.Groups(0, 0)
	end := groups.Search(to)
	part := groups.Slice(min(end, groups.Search(max(from, b.entries[0].start))), end)
	dst.Overlay(0, &part, &b.overlay)
	return nil
}
