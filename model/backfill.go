package model

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Backfilled is what one step of a backfill did, in blocks: periods of the coarsest granularity.
type Backfilled struct {
	Moved   int                   `json:"moved"`             // blocks that the metric did not have
	Known   int                   `json:"known"`             // blocks that it had, equal ones
	Refused []carbonara.Timestamp `json:"refused,omitempty"` // starts of those in which it had other measures
	Next    carbonara.Timestamp   `json:"next"`              // where the next step begins; 0 if this was the last
}

// A BackfillError says why a metric cannot take another one's history. It is an ErrInvalid.
type BackfillError struct{ Reason string }

// Error returns the reason: it is the text that clients see.
func (e *BackfillError) Error() string { return e.Reason }

// Unwrap returns ErrInvalid.
func (e *BackfillError) Unwrap() error { return ErrInvalid }

// BackfillRefused returns a BackfillError.
func BackfillRefused(format string, args ...any) error {
	return &BackfillError{fmt.Sprintf(format, args...)}
}

// HistoryName returns the name of the metrics that take the history of a metric.
func HistoryName(metric uuid.UUID) string { return "backfill of " + metric.String() }

// CanBackfill returns a BackfillError if blocks of metrics with this archive policy cannot be moved: a group must lie
// in one block, and must not depend on another one's measures.
func (p *ArchivePolicy) CanBackfill() error {
	if p.plan.HasRate() {
		return BackfillRefused("archive policy %s has rate: methods, whose first difference in a block depends on the "+
			"block before; it cannot be backfilled", p.Name)
	}
	for _, g := range p.plan.Granularities {
		if p.plan.Coarsest()%g != 0 {
			return BackfillRefused("granularity %v of archive policy %s does not divide %v; it cannot be backfilled",
				g, p.Name, p.plan.Coarsest())
		}
	}
	return nil
}
