package budget_test

import (
	"testing"

	"github.com/gnocco-db/gnocco/internal/budget"
)

// A piece that has grown large is not kept, whoever used it.
func TestPoolKeepsNothingLarge(t *testing.T) {
	var pool budget.Pool[[]byte]
	large := pool.Get()
	*large = make([]byte, 5<<20)
	pool.Put(large, cap(*large))
	for range 100 {
		if piece := pool.Get(); cap(*piece) > 0 {
			t.Fatalf("a piece of %d bytes was kept", cap(*piece))
		}
	}
}
