package backup

import "time"

// Age makes a follower read all stores in its next round, as a day later.
func (f *Follower) Age() { f.read = time.Now().Add(-2 * readEvery) }

// SweepNext makes a follower sweep before its next round, as an hour later.
func (f *Follower) SweepNext() { f.swept = time.Now().Add(-2 * sweepEvery) }
