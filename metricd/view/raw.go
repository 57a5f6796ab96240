package view

import (
	"context"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/replica"
	"github.com/gnocco-db/gnocco/metricd/heads"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// rawMeasures sets dst to a metric's raw measures, as model.Read says of granularity 0.
func (v *View) rawMeasures(ctx context.Context, walk *archive.Walk, h *heads.Head, read model.Read, now time.Time,
	dst *carbonara.Groups) error {
	if ok, err := v.readRecentMeasures(ctx, h, &read, now, dst); ok || err != nil {
		return err
	}
	b := v.options.Memory.get()
	defer v.options.Memory.put(b)
	b.measures = b.measures[:0]
	policy := read.Metric.ArchivePolicy
	// span returns from when on measures are kept, and the present.
	span := func(end carbonara.RawEnd) (kept, present carbonara.Timestamp, any bool) {
		kept, present, any = end.KeptFrom, end.Present, end.Any
		plan, window := policy.Plan(), policy.BackWindow
		if h != nil {
			kept, plan = max(kept, h.Kept()), h.Plan()
			if h.HasMeasures() {
				present, any = h.Present(), true
			}
		}
		if !any {
			return kept, present, false
		}
		// Checkpoints drop what the back window does not need any more. Until then it is there, but does not count: an
		// answer must not depend on when a checkpoint was made.
		return max(kept, model.KeepFrom(plan, window, present)), present, true
	}
	reach := carbonara.Timestamp(0) // beyond the read, where other measures of replicas decide which ones count
	if h != nil && h.Metric().Replicas {
		reach = replica.Reach
	}
	end, err := b.raw.ReadAfterEnd(walk, read.Metric.ID, func(end carbonara.RawEnd) (carbonara.Timestamp, bool) {
		kept, _, any := span(end)
		if end.Replicas {
			reach = replica.Reach
		}
		return max(read.From-reach, kept), any && read.To > kept
	})
	if err != nil {
		return err
	}
	if h != nil && !end.Any && h.Pending() < fewMeasures {
		v.recent.unask(h)
	}
	kept, present, any := span(end.RawEnd)
	if !any {
		return nil
	}
	dst.Raw = carbonara.RawSpan{KeptFrom: kept, Newest: present, Any: true}
	if read.From = max(read.From, kept); read.To > kept {
		v.options.Corrupt(end.Corrupt)
		from, to := max(read.From-reach, kept), min(read.To, carbonara.MaxTimestamp-reach)+reach
		if h != nil {
			b.measures = h.AppendSorted(b.measures, from, to)
		}
		pending := heads.Between(b.measures, from, to)
		b.raw.CutAt(to)
		if err := budget.Of(ctx).Acquire(budget.Answers, 16*int64(len(b.raw.Timestamps)+len(pending))); err != nil {
			return err
		}
		appendMerged(dst, &b.raw, pending)
		if reach > 0 {
			keepCounting(&b.verdicts, dst, &read)
		}
	}
	return nil
}

// appendMerged appends stored measures and later ones as rows, in order of time. Of equal timestamps the later one
// counts.
func appendMerged(dst *carbonara.Groups, stored *heads.Raw, pending []carbonara.Measure) {
	first := len(stored.Timestamps) // of the stored ones that do not come before all pending ones
	if len(pending) > 0 {
		first, _ = slices.BinarySearch(stored.Timestamps, pending[0].Timestamp)
	}
	dst.Starts = append(dst.Starts, stored.Timestamps[:first]...)
	for i := range dst.Values {
		dst.Values[i] = append(dst.Values[i], stored.Values[:first]...)
	}
	rest := heads.Raw{Timestamps: stored.Timestamps[first:], Values: stored.Values[first:]}
	rest.Merge(pending, func(t carbonara.Timestamp, v float64) {
		dst.Starts = append(dst.Starts, t)
		for i := range dst.Values {
			dst.Values[i] = append(dst.Values[i], v)
		}
	})
}
