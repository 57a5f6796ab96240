package model

import (
	"time"

	"gnocco/carbonara"
)

// Read asks for the groups of a metric at one granularity of its archive policy that start at or after From and before To.
type Read struct {
	Metric      *Metric
	Granularity time.Duration
	Columns     []carbonara.Column // ascending
	From, To    carbonara.Timestamp

	// Sought, unless nil, says that groups are of no interest in which it does not lie: they may be left out.
	Sought *carbonara.Sought
}
