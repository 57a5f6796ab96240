package metricd

import (
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage/archive"
)

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
