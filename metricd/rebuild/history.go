package rebuild

import (
	"context"
	"math"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// pastSource is the granularity that wider groups are made of.
type pastSource struct {
	granularity time.Duration
	from        carbonara.Timestamp // wider groups that start here or later have all of theirs
}

// pastGroups is about how many groups are read at a time to make wider ones.
const pastGroups = 1 << 18

// window returns where a part of the past that starts at from ends.
func (p *pastSource) window(from carbonara.Timestamp, wide time.Duration) carbonara.Timestamp {
	n := max(1, pastGroups/(wide/p.granularity))
	if wide > math.MaxInt64/n {
		return carbonara.MaxTimestamp
	}
	return from.Add(n * wide)
}

// source returns of which granularity groups of a wider one are made: of those that divide it the one that reaches back
// furthest, of those the widest; nil if there is none.
func (v *archiveRebuild) source(wide time.Duration) (*pastSource, error) {
	var best *pastSource
	for _, item := range v.schema {
		g := item.Granularity
		if g >= wide || wide%g != 0 {
			continue
		}
		if start := v.at.Floor(g); start < v.at && start < v.known && v.basis() == nil {
			continue // its own group at the end of the past cannot be told apart from later measures
		}
		from, ok, err := v.wholeFrom(g, wide)
		if err != nil {
			return nil, err
		}
		if ok && (best == nil || from <= best.from) {
			best = &pastSource{g, from}
		}
	}
	return best, nil
}

// wholeFrom returns from where on wide groups have all the narrow ones that ever were: splits expire as a whole, so
// from the first that is there on, or from before if another granularity tells that there was nothing.
func (v *archiveRebuild) wholeFrom(narrow, wide time.Duration) (from carbonara.Timestamp, ok bool, err error) {
	first, ok, err := v.store.Oldest(v.metric.ID, narrow)
	if err != nil || !ok {
		return 0, false, err
	}
	first = max(first, v.earlier.SinceOf(narrow))
	start := first.Floor(wide)
	if start == first {
		return first, true, nil
	}
	for _, item := range v.schema {
		other, ok, err := v.store.Oldest(v.metric.ID, item.Granularity)
		if err != nil {
			return 0, false, err
		}
		if !ok || max(other, v.earlier.SinceOf(item.Granularity)) > start {
			continue
		}
		var groups carbonara.Groups
		if err := v.read(&groups, nil, item.Granularity, start.Floor(item.Granularity), first); err != nil {
			return 0, false, err
		}
		if groups.Len() == 0 {
			return start, true, nil
		}
	}
	return start.Add(wide), true, nil
}

// computePartial sets v.partial: one row for each group that began before at and had not ended then, of its measures
// before at.
func (v *archiveRebuild) computePartial(ctx context.Context) error {
	v.partial = &archive.PartialGroups{Before: v.at}
	for _, g := range v.plan.Granularities {
		row, err := v.partialRow(ctx, g)
		if err != nil {
			return err
		}
		if row.Len() > 0 {
			v.partial.Rows = append(v.partial.Rows, *row)
		}
	}
	return nil
}

// partialRow returns the group of a granularity that at falls into, of its measures before at: one row, or none if
// there are no such measures. Unknown columns are absent.
func (v *archiveRebuild) partialRow(ctx context.Context, g time.Duration) (*carbonara.Groups, error) {
	row := new(carbonara.Groups)
	columns := momentsOf(v.plan.Columns)
	row.Reset(g, columns)
	start := v.at.Floor(g)
	if start == v.at {
		return row, nil
	}
	if start >= v.known {
		return row, v.partialRowOfRaw(ctx, row, start)
	}
	if basis := v.basis(); v.schema.Of(g) != nil && basis != nil {
		if had := basis.Row(g); had != nil {
			row.Append(had)
		}
		return row, nil
	}
	source, err := v.source(g)
	if err != nil {
		return nil, err
	}
	if source == nil || source.from > start {
		row.Append(&carbonara.Groups{Starts: []carbonara.Timestamp{start}}) // all columns absent
		return row, nil
	}
	var narrow carbonara.Groups
	if err := v.read(&narrow, columns, source.granularity, start, v.at.Floor(source.granularity)); err != nil {
		return nil, err
	}
	last, err := v.partialRow(ctx, source.granularity)
	if err != nil {
		return nil, err
	}
	narrow.Append(last)
	return row, carbonara.Coarsen(row, &narrow, g)
}

// partialRowOfRaw appends to row the group of the raw measures from start to at.
func (v *archiveRebuild) partialRowOfRaw(ctx context.Context, row *carbonara.Groups, start carbonara.Timestamp) error {
	if err := v.resample(ctx, carbonara.PlanOf([]time.Duration{row.Granularity}, row.Columns), start,
		v.at, nil); err != nil {
		return err
	}
	row.Append(v.result.Groups(0, 0))
	return nil
}
