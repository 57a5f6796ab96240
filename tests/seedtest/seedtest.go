package seedtest

import (
	"flag"
	"sync"
	"testing"
)

var first = flag.Uint64("seed", 1, "seed of each random test's first run; the next run (-count) has the next one")

var (
	mu   sync.Mutex
	runs = map[string]uint64{} // by test
)

// Next returns the seed of a test's dice, and logs it.
func Next(t testing.TB) uint64 {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	seed := *first + runs[t.Name()]
	runs[t.Name()]++
	t.Logf("seed %d", seed)
	return seed
}

// Rounds returns how many rounds a random test has: few in every run, since at the usual seed they are the same each
// time, and many where -seed asks for new ones.
func Rounds(few, many int) int {
	if *first == 1 {
		return few
	}
	return many
}
