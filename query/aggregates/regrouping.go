package aggregates

import (
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Regrouping gives aggregates that are to be aggregated anew a time of package carbonara's own, which knows groups of
// equal width only: the i-th row of the n-th group that holds any stands at n*Width + i. So calendars are also served,
// and rows without a gap are evenly spaced: a device needs no times for these. Its memory is used again.
type Regrouping struct {
	Times   []carbonara.Timestamp // of each row
	Numbers []int64               // of the groups that hold any row, ascending
	Width   time.Duration         // rows of the largest group
}

// Set regroups rows at these ascending times by the number of the group that each falls into.
func (r *Regrouping) Set(times []carbonara.Timestamp, group func(carbonara.Timestamp) int64) {
	r.Times, r.Numbers, r.Width = r.Times[:0], r.Numbers[:0], 1
	first := 0 // row of the group
	for i, t := range times {
		if number := group(t); len(r.Numbers) == 0 || number != r.Numbers[len(r.Numbers)-1] {
			r.Numbers, first = append(r.Numbers, number), i
		}
		r.Width = max(r.Width, time.Duration(i-first+1))
		r.Times = append(r.Times, carbonara.Timestamp(i-first))
	}
	base := -carbonara.Timestamp(r.Width)
	for i, place := range r.Times {
		if place == 0 {
			base += carbonara.Timestamp(r.Width)
		}
		r.Times[i] = base + place
	}
}

// Plan computes what a method needs of each group.
func (r *Regrouping) Plan(method carbonara.Method) *carbonara.Plan {
	return carbonara.NewPlan([]time.Duration{r.Width}, []carbonara.Method{method})
}

// Number returns the number of the group that starts there in that time.
func (r *Regrouping) Number(start carbonara.Timestamp) int64 {
	return r.Numbers[start/carbonara.Timestamp(r.Width)]
}
