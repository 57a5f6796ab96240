package model

import (
	"bytes"
	"time"

	"github.com/google/uuid"
)

// NewMetricID returns a new ID that sorts after those made before, by this process at least: a UUID of version 7.
// Stores thus hold metrics in the order of creation, and new metrics are written side by side rather than all over. Its
// end, which decides on the sack, is random.
func NewMetricID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// MadeAt returns when NewMetricID made an ID, to the millisecond, and whether it did.
func MadeAt(id uuid.UUID) (made time.Time, known bool) {
	seconds, nanoseconds := id.Time().UnixTime()
	return time.Unix(seconds, nanoseconds), id.Version() == 7
}

// CompareIDs orders IDs by their bytes, as stores do.
func CompareIDs(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }
