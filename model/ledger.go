package model

import (
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
)

// LedgerEntry says who took measures out of archives, or put others in their place. It stays.
type LedgerEntry struct {
	ID         uuid.UUID // of version 7: later ones are greater
	At         time.Time // as the ID says
	Correction bool      // else a deletion
	Who        string
	Selector   string      // of the metrics
	Metrics    []uuid.UUID // nil if there are more than MostLedgerMetrics
	From, To   carbonara.Timestamp
	Reason     string

	// State is LedgerBegun, and Done empty, until the change has ended. If the process ended before, each archive is as
	// before or as after.
	State LedgerState
	Done  Replaced // without Lost
}

// LedgerState is how a change ended.
type LedgerState int

// The states.
const (
	LedgerBegun LedgerState = iota
	LedgerDone
	LedgerFailed // some archives may have changed
)

// String returns the name of the state.
func (s LedgerState) String() string { return [...]string{"begun", "done", "failed"}[s] }

// The most that an entry keeps: bytes of a text, and metrics.
const (
	MostLedgerSelector = 1000
	MostLedgerReason   = 200
	MostLedgerMetrics  = 1000
)
