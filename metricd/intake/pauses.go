package intake

import "time"

// LongestPause bounds how long a measure waits to be drained.
const LongestPause = time.Second

// firstPause is the length of the first pause; each further one doubles it, until much comes.
const firstPause = 10 * time.Millisecond

// Pauses delay the drains of one source of a sack where little comes in, so that the worker wakes up once for several
// requests. The zero value drains at once.
type Pauses struct {
	length time.Duration // of the last one
	ended  time.Time
}

// Next returns how long to wait for more before the drain that is due now: up to twice as long as the last time, and
// not at all if that was long ago. Ended has to be called after the pause.
func (p *Pauses) Next(now time.Time) time.Duration {
	if now.Sub(p.ended) > 2*LongestPause {
		p.length, p.ended = 0, now
		return 0
	}
	p.length = min(max(firstPause, 2*p.length), LongestPause)
	// The pauses of all workers end together, so that the process wakes up once for all of them.
	return p.length - time.Duration(now.UnixNano())%p.length
}

// Ended notes the end of a pause, and whether it ended early because much came.
func (p *Pauses) Ended(now time.Time, much bool) {
	if much {
		p.length = 0
	}
	p.ended = now
}
