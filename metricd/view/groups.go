package view

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/metricd/heads"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// groupsLocked is Groups, with walk as the reader of the archive, and with the lock of the heads held by reads.
func (v *View) groupsLocked(ctx context.Context, walk *archive.Walk, read model.Read, now time.Time,
	dst *carbonara.Groups) error {
	h := v.options.Heads.Of(read.Metric.ID)
	if read.Granularity == 0 {
		return v.rawMeasures(ctx, walk, h, read, now, dst)
	}
	policy := read.Metric.ArchivePolicy
	timespan := policy.Timespan(read.Granularity)
	if h != nil {
		if timespan > 0 && h.HasMeasures() {
			read.From, timespan = max(read.From,
				archive.OldestKept(h.Present().Floor(read.Granularity), timespan)), 0
		}
		if ok, err := v.readRecent(ctx, h, &read, now, dst); ok || err != nil {
			return err
		}
	}
	corrupt, err := walk.KeptGroups(ctx, &read, timespan, dst)
	if err != nil {
		return err
	}
	v.options.Corrupt(corrupt)
	if h == nil || h.Pending() == 0 {
		return nil
	}
	if !slices.Contains(h.Plan().Granularities, read.Granularity) && policy.HasGranularity(read.Granularity) {
		return nil // not rebuilt yet
	}
	return v.overlayHead(ctx, walk, h, &read, dst)
}

// resampledBytes is what the resampling of a measure takes: the measure, and its group.
const resampledBytes = 64

// overlayHead resamples the head's measures and puts the groups that a read asks for on top of those in dst.
func (v *View) overlayHead(ctx context.Context, walk *archive.Walk, h *heads.Head, read *model.Read,
	dst *carbonara.Groups) error {
	j := slices.Index(h.Plan().Granularities, read.Granularity)
	if j < 0 {
		return fmt.Errorf("metricd: metric %s has no granularity %v: %w", h.Metric().ID, read.Granularity,
			model.ErrNotFound)
	}
	if read.To <= h.Earliest().Floor(read.Granularity) {
		return nil
	}
	account, before := budget.Of(ctx), dst.Bytes()
	window := heads.Window{J: j, Columns: read.Columns, From: read.From, To: read.To}
	err := v.resampleHead(ctx, walk, h, window, func(groups *carbonara.Groups, start carbonara.Timestamp,
		scratch *carbonara.Groups) {
		end := groups.Search(read.To)
		dst.Overlay(0, new(groups.Slice(min(end, groups.Search(max(read.From, start))), end)), scratch)
	})
	dst.DropGone(0)
	if err != nil {
		return err
	}
	if more := dst.Bytes() - before; more >= 0 {
		return account.Acquire(budget.Answers, int64(more))
	}
	account.Release(budget.Answers, int64(before-dst.Bytes())) // of sketches that are smaller
	return nil
}

// resampleHead calls use with the groups of the head's measures in a window. Those that start before start lack
// measures. Scratch is memory.
func (v *View) resampleHead(ctx context.Context, walk *archive.Walk, h *heads.Head, window heads.Window,
	use func(groups *carbonara.Groups, start carbonara.Timestamp, scratch *carbonara.Groups)) error {
	account, bytes := budget.Of(ctx), int64(resampledBytes*h.Pending())
	if err := account.Acquire(budget.Answers, bytes); err != nil {
		return err
	}
	defer account.Release(budget.Answers, bytes)
	b := v.options.Memory.get()
	defer v.options.Memory.put(b)
	b.head.Reset(v.options.Memory.resampler)
	if err := b.head.AddWindow(h, walk, window); err != nil {
		return err
	}
	v.options.Corrupt(b.head.Corrupt())
	if err := b.head.Resample(ctx, v.options.Memory.resampler, v.options.Memory.resampler); err != nil {
		return err
	}
	groups, start := b.head.Groups()
	use(groups, start, &b.overlay)
	if h.Metric().Replicas {
		use(b.head.Gone(), start, &b.overlay)
	}
	return nil
}
