package model

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Replacement takes the measures of metrics from a time on and before another one out of their archives, and puts
// others in their place. Without others it is a deletion, else a correction of one metric.
type Replacement struct {
	From   carbonara.Timestamp `json:"from"`
	To     carbonara.Timestamp `json:"to"`
	DryRun bool                `json:"dry_run,omitempty"` // only says what would be done

	// Timestamps, strictly ascending and within the range, and Values are what takes the place.
	Timestamps []carbonara.Timestamp `json:"-"`
	Values     []float64             `json:"-"`
}

// Replaced is what a replacement did in one or more archives.
type Replaced struct {
	Metrics  int   `json:"metrics"`  // that had any group in the range
	Before   int   `json:"before"`   // groups, of all granularities, that were removed or changed
	After    int   `json:"after"`    // groups in their place
	Measures int   `json:"measures"` // raw ones that were removed
	Bytes    int64 `json:"bytes"`    // of values that went, less those in their place
	// Lost are groups that had measures outside the range and were removed, because nothing tells those measures apart.
	// At most MostLost of them, of LostGroups.
	Lost       []LostGroup `json:"lost,omitempty"`
	LostGroups int         `json:"lost_groups"`
	Failed     int         `json:"failed"` // archives that stay as they are, because a part of them does not decode
	Fault      string      `json:"fault,omitempty"`
}

// LostGroup is a group of a metric.
type LostGroup struct {
	Metric      uuid.UUID           `json:"metric"`
	Granularity time.Duration       `json:"granularity"`
	Start       carbonara.Timestamp `json:"start"`
}

// MostLost bounds the lost groups that are named.
const MostLost = 1000

// Add adds what was done in other archives.
func (r *Replaced) Add(other *Replaced) {
	r.Metrics += other.Metrics
	r.Before += other.Before
	r.After += other.After
	r.Measures += other.Measures
	r.Bytes += other.Bytes
	r.LostGroups += other.LostGroups
	r.Lost = append(r.Lost, other.Lost[:min(len(other.Lost), MostLost-len(r.Lost))]...)
	if r.Failed += other.Failed; r.Fault == "" {
		r.Fault = other.Fault
	}
}

// A ReplacementError says why measures cannot be corrected. It is an ErrInvalid.
type ReplacementError struct{ Reason string }

// Error returns the reason: it is the text that clients see.
func (e *ReplacementError) Error() string { return e.Reason }

// Unwrap returns ErrInvalid.
func (e *ReplacementError) Unwrap() error { return ErrInvalid }

// ReplacementRefused returns a ReplacementError.
func ReplacementRefused(format string, args ...any) error {
	return &ReplacementError{fmt.Sprintf(format, args...)}
}
