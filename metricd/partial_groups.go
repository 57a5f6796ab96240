package metricd

import (
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// completeFrom returns the time from which on groups of an archive can be computed again. All measures of groups that
// later measures fall into are known: from a raw series that is complete from kept on, and from partial groups (nil for
// none). A back window that was never widened does not begin earlier.
func completeFrom(plan *carbonara.Plan, kept carbonara.Timestamp, partial *archive.PartialGroups) carbonara.Timestamp {
	if partial != nil {
		return partial.Before
	}
	from := kept
	for _, g := range plan.Granularities {
		if start := kept.Floor(g); start < kept {
			from = max(from, start.Add(g))
		}
	}
	return from
}

// dropCovered forgets partial groups once the raw series has all measures of the groups that accept more.
func (h *head) dropCovered() {
	if h.partial != nil && h.kept > h.partial.Before {
		h.partial = nil
	}
}

// openRows returns partial groups as the open groups of a plan, which a series that starts there continues. Their sums
// are continued as they are stored, rounded once: the same for whatever comes later, in whatever batches.
func openRows(f *archive.PartialGroups, plan *carbonara.Plan) []float64 {
	var open []float64
	for _, g := range plan.Granularities {
		row := f.Row(g)
		for _, c := range plan.Columns {
			v := carbonara.Absent()
			if row != nil {
				if values := row.Column(c); values != nil {
					v = values[0]
				}
			} else if c.Base() == carbonara.ColumnCount {
				v = 0 // nothing came before
			}
			open = append(open, v)
		}
		open = append(open, make([]float64, plan.OpenValues()-len(plan.Columns))...)
	}
	return open
}

// maskUnknown makes columns absent in groups that were computed on top of partial groups which lack these columns.
func maskUnknown(f *archive.PartialGroups, groups *carbonara.Groups) {
	row := f.Row(groups.Granularity)
	if row == nil || groups.Len() == 0 || groups.Starts[0] != row.Starts[0] {
		return
	}
	for i, c := range groups.Columns {
		if values := row.Column(c); values == nil || carbonara.IsAbsent(values[0]) {
			groups.Values[i][0] = carbonara.Absent()
		}
	}
}
