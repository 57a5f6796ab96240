package model

import (
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Measures are the measures of one request, column by column: Metrics[i] has the Timestamps and Values from Offsets[i]
// to Offsets[i+1], in the order in which they were sent. Each metric stands once.
type Measures struct {
	Metrics    []uuid.UUID
	Offsets    []int // len(Metrics) + 1, or empty
	Timestamps []carbonara.Timestamp
	Values     []float64
}

// Reset empties m, keeping its memory.
func (m *Measures) Reset() {
	m.Metrics, m.Offsets = m.Metrics[:0], m.Offsets[:0]
	m.Timestamps, m.Values = m.Timestamps[:0], m.Values[:0]
}

// Len returns the number of measures.
func (m *Measures) Len() int { return len(m.Timestamps) }

// Of returns the measures of metric i. The slices are m's own.
func (m *Measures) Of(i int) ([]carbonara.Timestamp, []float64) {
	from, to := m.Offsets[i], m.Offsets[i+1]
	return m.Timestamps[from:to], m.Values[from:to]
}
