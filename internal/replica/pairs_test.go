package replica_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/replica"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// Two senders with the same interval are noticed at any phase but half of it. A single sender never is, at any
// interval and jitter, even if scrapes fail.
func TestInterleaved(t *testing.T) {
	r := rand.New(rand.NewPCG(seedtest.Next(t), 0))
	for range 2_000 {
		whole := time.Duration(1+r.IntN(300)) * time.Second
		shift := time.Duration(r.Int64N(int64(whole)-2)) + 1
		jitter := func() time.Duration { return time.Duration(r.Int64N(int64(4 * time.Millisecond))) }
		var one, both []carbonara.Timestamp
		for i := range 40 {
			at := time.Hour + time.Duration(i)*whole
			one = append(one, carbonara.Timestamp(at+jitter()))
			both = append(both, carbonara.Timestamp(at+jitter()), carbonara.Timestamp(at+shift+jitter()))
		}
		slices.Sort(both)
		both = slices.Compact(both)
		halved := max(2*shift, whole)-min(2*shift, whole) < whole/8
		if n := replica.LeastInterleaved; shift > 5*time.Millisecond && shift < whole-5*time.Millisecond && !halved &&
			!replica.Interleaved(both[:n]) {
			t.Fatalf("every %v, %v apart: not told", whole, shift)
		}
		one = slices.DeleteFunc(one, func(carbonara.Timestamp) bool { return r.IntN(8) == 0 })
		for from := range len(one) - replica.LeastInterleaved {
			if replica.Interleaved(one[from:][:replica.LeastInterleaved]) {
				t.Fatalf("one sender, every %v: told", whole)
			}
		}
	}
}
