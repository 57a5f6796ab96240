package backup

import "time"

// Age makes a follower read all stores in its next round, as a day later.
func (f *Follower) Age() { f.read = time.Now().Add(-2 * readEvery) }
