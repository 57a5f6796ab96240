package metricd

import (
	"context"

	"gnocco/carbonara"
	"gnocco/internal/budget"
	"gnocco/model"
	"gnocco/storage/archive"
)

// rawMeasures sets dst to a metric's raw measures, as model.Read says of granularity 0.
func (s *sack) rawMeasures(ctx context.Context, walk *archive.Walk, h *head, read model.Read,
	dst *carbonara.Groups) error {
	b := s.parent.reads.Get().(*batch)
	defer s.parent.reads.Put(b)
	b.reset(s.parent.reader)
	policy := read.Metric.ArchivePolicy
	// span returns from when on measures are kept, and the newest one.
	span := func(end carbonara.RawEnd) (kept carbonara.Timestamp, newest carbonara.Measure, any bool) {
		kept, newest, any = end.KeptFrom, end.Newest, end.Any
		plan, window := policy.Plan(), policy.BackWindow
		if h != nil {
			kept, plan = max(kept, h.kept), h.plan
			if h.hasNewest {
				newest, any = h.newest, true
			}
		}
		if !any {
			return kept, newest, false
		}
		// Checkpoints drop what the back window does not need any more. Until then it is there, but does not count: an
		// answer must not depend on when a checkpoint was made.
		return max(kept, keepFrom(plan, window, newest.Timestamp)), newest, true
	}
	end, err := b.raw.readAfterEnd(walk, read.Metric.ID, func(end carbonara.RawEnd) bool {
		kept, _, any := span(end)
		return any && read.To > kept
	})
	if err != nil {
		return err
	}
	kept, newest, any := span(end.RawEnd)
	if !any {
		return nil
	}
	put := func(t carbonara.Timestamp, v float64) {
		dst.Starts = append(dst.Starts, t)
		for i := range dst.Values {
			dst.Values[i] = append(dst.Values[i], v)
		}
	}
	put(kept-1, carbonara.Absent())
	if read.From = max(read.From, kept); read.To <= kept {
		put(newest.Timestamp, newest.Value)
		return nil
	}
	s.parent.instruments.corrupt.Add(float64(end.Corrupt))
	take := func(t carbonara.Timestamp, v float64) {
		if t >= read.From && t < read.To {
			put(t, v)
		}
	}
	var pending []carbonara.Measure
	if h != nil {
		b.measures = h.appendSorted(b.measures)
		pending = b.measures
	}
	if err := budget.Of(ctx).Take(budget.Answers, 16*int64(len(b.raw.timestamps)+len(pending))); err != nil {
		return err
	}
	mergeMeasures(&b.raw, pending, take)
	if last := dst.Starts[dst.Len()-1]; last < newest.Timestamp {
		put(newest.Timestamp, newest.Value)
	}
	return nil
}

// mergeMeasures calls take with stored measures and later ones, in order of time. Of equal timestamps the later one
// counts.
func mergeMeasures(stored *series, pending []carbonara.Measure, take func(carbonara.Timestamp, float64)) {
	i := 0
	for j, t := range stored.timestamps {
		for i < len(pending) && pending[i].Timestamp < t {
			take(pending[i].Timestamp, pending[i].Value)
			i++
		}
		if i < len(pending) && pending[i].Timestamp == t {
			continue // the pending one arrived later
		}
		take(t, stored.values[j])
	}
	for ; i < len(pending); i++ {
		take(pending[i].Timestamp, pending[i].Value)
	}
}
