package keyhash_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gnocco-db/gnocco/internal/keyhash"
)

// TestPoints compares with a map of all points: in order, with some repeated, and in any order.
func TestPoints(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	var points keyhash.Points
	for round := range 300 {
		points.Reset()
		before := map[string]bool{}
		series, at := 0, uint64(0)
		for range 100 {
			switch at++; {
			case random.IntN(10) == 0 && round%3 > 0:
				series, at = series+1, 1
			case random.IntN(20) == 0 && round%3 == 2:
				series, at = random.IntN(5), uint64(random.IntN(30))
			}
			point := fmt.Sprint(series, " ", at)
			if got := points.Repeated(keyhash.Of([]byte{byte(series)}), at); got != before[point] {
				t.Fatalf("round %d: point %s: %v", round, point, got)
			}
			before[point] = true
		}
	}
}
