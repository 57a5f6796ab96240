package budget_test

import (
	"testing"

	"github.com/gnocco-db/gnocco/internal/budget"
)

// A piece that has grown large is not kept, for any use.
func TestPoolKeepsNothingLarge(t *testing.T) {
	f := func(most, bytes int, want bool) {
		t.Helper()
		pool := budget.Pool[[]byte]{Most: most}
		kept := false
		for range 100 { // under the race detector sync.Pool forgets some
			piece := make([]byte, bytes)
			pool.Put(&piece, bytes)
			kept = kept || cap(*pool.Get()) > 0
		}
		if kept != want {
			t.Errorf("at most %d bytes, a piece of %d was kept: %t", most, bytes, kept)
		}
	}
	f(0, 4<<20, true)
	f(0, 5<<20, false)
	f(16<<20, 16<<20, true)
	f(16<<20, 17<<20, false)
}

// Pieces that are kept follow the budget.
func TestMostKept(t *testing.T) {
	f := func(limit int64, want int) {
		t.Helper()
		if got := budget.New(limit, nil).MostKept(); got != want {
			t.Errorf("of %d bytes a pool keeps pieces of %d, want %d", limit, got, want)
		}
	}
	f(320<<20, 10<<20)
	f(3<<30, 64<<20)
	if got := (*budget.Budget)(nil).MostKept(); got != 0 {
		t.Errorf("without a budget a pool keeps pieces of %d", got)
	}
}
