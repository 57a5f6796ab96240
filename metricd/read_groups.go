package metricd

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gnocco/carbonara"
	"gnocco/internal/budget"
	"gnocco/model"
	"gnocco/storage/archive"
)

// batch is the memory of one call of a resampler: of a checkpoint, or of a read of a head.
type batch struct {
	builder
	result  carbonara.Result
	overlay carbonara.Groups
}

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
	return s.error(s.groups(ctx, read, dst))
}

func (s *sack) groups(ctx context.Context, read model.Read, dst *carbonara.Groups) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return notOwned(s.number)
	}
	h := s.heads[read.Metric.ID]
	if read.Granularity == 0 {
		return s.rawMeasures(ctx, h, read, dst)
	}
	policy := read.Metric.ArchivePolicy
	timespan := policy.Timespan(read.Granularity)
	if h != nil {
		if timespan > 0 && h.hasNewest {
			read.From, timespan = max(read.From, archive.OldestKept(h.newest.Timestamp.Floor(read.Granularity), timespan)), 0
		}
		if !h.has(read.Columns) {
			read.ValueFilter = nil // the head's groups take from those below what it lacks
		}
	}
	corrupt, err := s.store.KeptGroups(ctx, &read, timespan, dst)
	if err != nil {
		return err
	}
	s.parent.instruments.corrupt.Add(float64(corrupt))
	if h == nil || len(h.pending) == 0 {
		return nil
	}
	if !slices.Contains(h.plan.Granularities, read.Granularity) && policy.HasGranularity(read.Granularity) {
		return nil // not rebuilt yet
	}
	return s.overlayHead(ctx, h, read.Granularity, read.From, read.To, dst)
}

// has reports whether the head's groups have all of these columns.
func (h *head) has(columns []carbonara.Column) bool {
	for _, c := range columns {
		if _, ok := slices.BinarySearch(h.plan.Columns, c); !ok {
			return false
		}
	}
	return true
}

// resampledBytes is what the resampling of a measure takes: the measure, and its group.
const resampledBytes = 64

// overlayHead resamples the head's measures and puts the groups that lie in the range on top of those in dst.
func (s *sack) overlayHead(ctx context.Context, h *head, granularity time.Duration, from, to carbonara.Timestamp, dst *carbonara.Groups) error {
	j := slices.Index(h.plan.Granularities, granularity)
	if j < 0 {
		return fmt.Errorf("metricd: metric %s has no granularity %v: %w", h.metric.ID, granularity, model.ErrNotFound)
	}
	account, scratch, before := budget.Of(ctx), int64(resampledBytes*len(h.pending)), dst.Bytes()
	if err := account.Take(budget.Answers, scratch); err != nil {
		return err
	}
	defer account.Give(budget.Answers, scratch)
	b := s.parent.reads.Get().(*batch)
	defer s.parent.reads.Put(b)
	b.reset(s.parent.reader)
	if err := b.addSingle(h, s.store, j); err != nil {
		return err
	}
	s.parent.instruments.corrupt.Add(float64(b.corrupt))
	if err := b.resample(ctx, s.parent.reader, s.parent.reader); err != nil {
		return err
	}
	groups := b.result.Groups(0, 0)
	end := groups.Search(to)
	part := groups.Slice(min(end, groups.Search(max(from, b.entries[0].start))), end)
	dst.Overlay(0, &part, &b.overlay)
	return account.Take(budget.Answers, int64(dst.Bytes()-before))
}
