package model

import (
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Read asks for the groups of a metric at one granularity of its archive policy that start at or after From and before
// To.
//
// Granularity 0 asks for raw measures, as groups that start when the measure was taken; Columns are one, and any. The
// first row has no value (carbonara.Absent): raw measures are complete after it. The last row says when the newest
// measure was taken; if that is not before To, or before From, it has no value. A metric without measures has no rows.
type Read struct {
	Metric      *Metric
	Granularity time.Duration
	Columns     []carbonara.Column // ascending
	From, To    carbonara.Timestamp

	// ValueFilter, unless nil, allows to leave out groups that it does not match.
	ValueFilter *carbonara.ValueFilter
}
