package query

import (
	"sync/atomic"
	"time"
)

// Staleness is how old the answer to a request may be, and how old it becomes. All reads of the request share one.
type Staleness struct {
	Limit time.Duration
	age   atomic.Int64 // of the oldest part of the answer, in ns; 0: all is fresh
}

// Use notes that a part of the answer has this age.
func (s *Staleness) Use(age time.Duration) {
	age = max(age, 1)
	for {
		old := s.age.Load()
		if int64(age) <= old || s.age.CompareAndSwap(old, int64(age)) {
			return
		}
	}
}

// Age returns the age of the oldest part; 0 if all is fresh.
func (s *Staleness) Age() time.Duration { return time.Duration(s.age.Load()) }
