package metricd

import (
	"context"
	"time"

	"github.com/gnocco-db/gnocco/metricd/intake"
)

// At low rates a sack's worker waits briefly before it drains, so that one wake-up serves several requests. Reads do
// not see the delay, because a read first takes the waiting measures. It also does so where a worker waits for its
// turn, as after a start, when all sacks replay. A sack that gets much is drained at once, as ever.

const (
	// that a read waits at most for the index to know the metrics of the measures it takes
	catchUpTime   = 100 * time.Millisecond
	catchUpDrains = 8 // that a read makes at most, of drainBytes each
)

// busySource is a source that says when so much waits for a sack that its worker should wait no longer.
type busySource interface {
	// Busy carries a token once much waits for the sack.
	Busy(sack int) <-chan struct{}
	// Last returns the sequence of the latest record of the sack.
	Last(sack int) uint64
}

// gather waits for more to come, until much comes meanwhile. It reports whether to go on.
func (f *feed) gather(ctx context.Context, pauses *intake.Pauses, sack int) bool {
	source, ok := f.source.(busySource)
	if !ok {
		return true
	}
	f.waits.Store(true)
	length := pauses.Next(time.Now())
	if length == 0 {
		return true
	}
	much := false
	select {
	case <-ctx.Done():
		return false
	case <-time.After(length):
	case <-source.Busy(sack):
		much = true
	}
	pauses.Ended(time.Now(), much)
	return true
}

// catchUp takes what waits for the sack while its worker waits itself. It does not wait for a checkpoint, nor long for
// the index, nor takes much: then measures become visible when the worker has taken them.
func (s *sack) catchUp(ctx context.Context) {
	if !s.isBehind() {
		return
	}
	s.feeds.catchingUp.Lock() // the second caller finds its work done
	defer s.feeds.catchingUp.Unlock()
	if !s.isBehind() || !s.work.TryLock() {
		return
	}
	defer s.work.Unlock()
	defer s.request.release()
	ctx, cancel := context.WithTimeout(ctx, catchUpTime)
	defer cancel()
	left := catchUpDrains
	for _, f := range s.feeds.all() {
		for took := true; took && left > 0 && f.waits.Load() && !f.detached && !s.view.IsClosed() &&
			!s.heads.AreFull(); {
			var err error
			if took, err = s.addWaiting(ctx, f); err != nil {
				f.waits.Store(false) // it is for the worker to meet the error
			}
			left--
		}
	}
}

// isBehind reports whether a worker waits while it has something to take.
func (s *sack) isBehind() bool {
	for _, f := range s.feeds.all() {
		if !f.waits.Load() {
			continue
		}
		if source, ok := f.source.(busySource); ok && source.Last(s.number) > f.cursor.Read() {
			return true
		}
	}
	return false
}
