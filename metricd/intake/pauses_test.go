package intake_test

import (
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/metricd/intake"
)

// A worker drains at once what comes after a rest; then its pauses double, up to the longest, until much comes.
func TestPauses(t *testing.T) {
	const unit = 10 * time.Millisecond
	now := time.Unix(1_500_000_000, 0) // all lengths divide its distance from 1970
	var p intake.Pauses
	next := func(want time.Duration, much bool) {
		t.Helper()
		if got := p.Next(now); got != want {
			t.Errorf("a pause of %v, want %v", got, want)
		}
		p.Ended(now, much)
	}
	next(0, false)
	for length := unit; length < intake.LongestPause; length *= 2 {
		next(length, false)
	}
	next(intake.LongestPause, false)
	next(intake.LongestPause, true)
	next(unit, false)
	now = now.Add(5 * time.Millisecond) // the pauses of several workers end together
	next(15*time.Millisecond, false)
	now = now.Add(2*intake.LongestPause + 1)
	next(0, false)
}
