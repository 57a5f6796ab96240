package model

import (
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Read asks for the groups of a metric at one granularity of its archive policy that start at or after From and before
// To.
//
// Granularity 0 asks for raw measures, as groups that start when the measure was taken; Columns are one, and any.
// Groups.Raw says which ones are kept, also those that are not asked for.
type Read struct {
	Metric      *Metric
	Granularity time.Duration
	Columns     []carbonara.Column // ascending
	From, To    carbonara.Timestamp

	// Lead asks also for the last group before From, which sets Groups.Lead: methods of counters need it.
	Lead bool
}

// WithLead reads r into dst, which holds no groups, by read. It leaves Lead to itself: it reads from the split before
// From, or, if no group there comes before From, all groups.
func (r Read) WithLead(dst *carbonara.Groups, read func(Read) error) error {
	if !r.Lead || r.Granularity == 0 || r.From <= 0 {
		return read(r)
	}
	wide := r
	wide.Lead = false
	for _, from := range []carbonara.Timestamp{carbonara.SplitKeyOf(r.From-1, r.Granularity).Start, 0} {
		dst.Reset(r.Granularity, r.Columns)
		wide.From = from
		if err := read(wide); err != nil {
			return err
		}
		if n := dst.Search(r.From); n > 0 {
			dst.Delete(0, n-1)
			r.MarkLead(dst)
			return nil
		}
	}
	return nil
}

// MarkLead sets dst.Lead of the groups that r has read, wherever they were read.
func (r *Read) MarkLead(dst *carbonara.Groups) {
	dst.Lead = r.Lead && dst.Len() > 0 && dst.Starts[0] < r.From
}
