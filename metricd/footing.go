package metricd

import (
	"gnocco/carbonara"
	"gnocco/storage/archive"
)

// completeFrom returns from where on groups of an archive can be computed again: of those that later measures fall into all measures
// are known, from a raw series that is complete from kept on, or from that and a footing (nil for none). A back window that was
// never widened does not begin before.
func completeFrom(plan *carbonara.Plan, kept carbonara.Timestamp, footing *archive.Footing) carbonara.Timestamp {
	if footing != nil {
		return footing.At
	}
	from := kept
	for _, g := range plan.Granularities {
		if start := kept.Floor(g); start < kept {
			from = max(from, start.Add(g))
		}
	}
	return from
}

// outgrow forgets a footing once all groups that take measures have theirs in the raw series.
func (h *head) outgrow() {
	if h.footing != nil && h.kept > h.footing.At {
		h.footing = nil
	}
}

// openRows returns a footing's rows as those of open groups of a plan: what a series that starts at the footing continues.
func openRows(f *archive.Footing, plan *carbonara.Plan) []float64 {
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
	}
	return open
}

// blank makes absent what a footing does not know of the group that began before it: groups were computed on top of it.
func blank(f *archive.Footing, groups *carbonara.Groups) {
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
