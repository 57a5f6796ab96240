package metricd

import (
	"context"
	"time"
)

// Where little comes in, a sack's worker waits a moment before it drains, so that it wakes up once for several
// requests. Nobody sees that: a read first takes what waits, there and where a worker waits for its turn, as after a
// start, when all sacks replay. A sack that gets much is drained at once, as ever.

const (
	gatherFirst   = 10 * time.Millisecond // the first pause; each further one doubles it, until much comes
	gatherLongest = time.Second

	// that a read waits at most for the index to know the metrics of what it takes
	catchUpTime   = 100 * time.Millisecond
	catchUpDrains = 8 // that a read makes at most, of drainBytes each
)

// gathering is a source that says when so much waits for a sack that its worker should wait no longer.
type gathering interface {
	// Much carries a token once much waits for the sack.
	Much(sack int) <-chan struct{}
	// Last returns the sequence of the latest record of the sack.
	Last(sack int) uint64
}

// pauses are those of one worker.
type pauses struct {
	length time.Duration // of the last one
	ended  time.Time
}

// gather waits for more to come, until much comes meanwhile: each time up to twice as long as the last time. It does
// not wait if that was long ago. It reports whether to go on.
func (p *pauses) gather(ctx context.Context, from Source, cursor *sourceCursor, sack int) bool {
	source, ok := from.(gathering)
	if !ok {
		return true
	}
	cursor.waits.Store(true)
	now := time.Now()
	if now.Sub(p.ended) > 2*gatherLongest {
		p.length, p.ended = 0, now
		return true
	}
	p.length = min(max(gatherFirst, 2*p.length), gatherLongest)
	// The pauses of all workers end together, so that the process wakes up once for all of them.
	pause := time.NewTimer(p.length - time.Duration(now.UnixNano())%p.length)
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-pause.C:
	case <-source.Much(sack):
		p.length = 0
	}
	p.ended = time.Now()
	return true
}

// catchUp takes what waits for the sack while its worker waits itself. It does not wait for a checkpoint, nor long for
// the index, nor takes much: then measures become visible when the worker has taken them.
func (s *sack) catchUp(ctx context.Context) {
	if !s.isBehind() {
		return
	}
	s.catchingUp.Lock() // who comes second finds what the first one took
	defer s.catchingUp.Unlock()
	if !s.isBehind() || !s.work.TryLock() {
		return
	}
	defer s.work.Unlock()
	defer s.forgetRequest()
	ctx, cancel := context.WithTimeout(ctx, catchUpTime)
	defer cancel()
	left := catchUpDrains
	for _, cursor := range s.cursors {
		for took := true; took && left > 0 && cursor.waits.Load() && cursor.source != nil && !s.closed &&
			!s.headsAreFull(); {
			var err error
			if took, err = s.takeWaiting(ctx, cursor); err != nil {
				cursor.waits.Store(false) // it is for the worker to meet the error
			}
			left--
		}
	}
}

// isBehind reports whether a worker waits while it has something to take.
func (s *sack) isBehind() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, cursor := range s.cursors {
		if !cursor.waits.Load() {
			continue
		}
		if source, ok := cursor.source.(gathering); ok && source.Last(s.number) > cursor.read {
			return true
		}
	}
	return false
}
