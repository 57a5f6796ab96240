package rebuild

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
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
	end := v.at.Floor(source.granularity)
	if _, err := v.readInferred(&narrow, columns, source.granularity, start, end); err != nil {
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

// inferringColumns tell others.
var inferringColumns = []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum, carbonara.ColumnMin,
	carbonara.ColumnMax, carbonara.ColumnFirst, carbonara.ColumnLast}

// readInferred is read, with unknown values as far as the groups themselves tell them, or narrower groups of as many
// measures. It returns how many it filled in.
func (v *archiveRebuild) readInferred(dst *carbonara.Groups, columns []carbonara.Column, g time.Duration, from,
	to carbonara.Timestamp) (filled int, err error) {
	var all carbonara.Groups
	with := slices.Concat(columns, inferringColumns)
	slices.Sort(with)
	if err := v.read(&all, slices.Compact(with), g, from, to); err != nil {
		return 0, err
	}
	filled = all.Infer()
	if narrow := v.narrower(g); narrow > 0 {
		n, err := v.fillIn(&all, narrowerColumns(columns), narrow)
		if err != nil {
			return 0, err
		}
		filled += n
	}
	dst.Reset(g, columns)
	dst.Append(&all)
	return filled, nil
}

// narrower returns the widest granularity of the archive that divides a wider one, 0 for none.
func (v *archiveRebuild) narrower(wide time.Duration) (narrow time.Duration) {
	for _, item := range v.schema {
		if g := item.Granularity; g < wide && wide%g == 0 {
			narrow = max(narrow, g)
		}
	}
	return narrow
}

// fillIn fills in unknown values of groups from before the raw series from narrower groups.
func (v *archiveRebuild) fillIn(all *carbonara.Groups, columns []carbonara.Column, narrow time.Duration) (
	filled int, err error) {
	oldest, ok, err := v.store.Oldest(v.metric.ID, narrow)
	if err != nil || !ok {
		return 0, err
	}
	var narrowGroups, wide carbonara.Groups
	source := pastSource{granularity: narrow}
	end := all.Search(v.known)
	for row := all.Search(oldest.Floor(all.Granularity)); row < end; {
		if !all.Unknown(row, columns...) {
			row++
			continue
		}
		to := min(source.window(all.Starts[row], all.Granularity), all.Starts[end-1].Add(all.Granularity))
		if _, err := v.readInferred(&narrowGroups, columns, narrow, all.Starts[row], to); err != nil {
			return 0, err
		}
		if err := carbonara.Coarsen(&wide, &narrowGroups, all.Granularity); err != nil {
			return 0, err
		}
		filled += all.FillIn(&wide)
		row = all.Search(to)
	}
	return filled, nil
}

// noteUnknown counts the groups that lack a column of the policy's methods.
func (v *archiveRebuild) noteUnknown(groups *carbonara.Groups) {
	var columns []carbonara.Column
	for _, m := range v.metric.ArchivePolicy.Methods() {
		columns = append(columns, m.Columns()...)
	}
	slices.Sort(columns)
	columns = slices.Compact(columns)
	for row, start := range groups.Starts {
		if groups.Unknown(row, columns...) {
			v.unknown.Add(model.UnknownGroups{Groups: 1, From: start, To: start.Add(groups.Granularity)})
			v.unknown.Archives = 1
		}
	}
}
