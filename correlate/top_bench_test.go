package correlate_test

import (
	"fmt"
	"testing"

	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/tests/correlatetest"
)

// BenchmarkTop is what the API asks for: the strongest pairs of all.
func BenchmarkTop(b *testing.B) {
	for _, columns := range []int{300, 3000} {
		if columns > 300 && testing.Short() {
			continue
		}
		values := correlatetest.Shaped("random").Values(1, columns, 256)
		b.Run(fmt.Sprintf("columns=%d/top=100000", columns), func(b *testing.B) {
			for b.Loop() {
				found := 0
				if _, err := (correlate.CPU{}).Correlate(b.Context(), values, correlate.Options{},
					correlate.Selection{Top: 100_000}, func(correlate.Pair) error {
						found++
						return nil
					}); err != nil || found != min(100_000, columns*(columns-1)/2) {
					b.Fatal(found, err)
				}
			}
		})
	}
}
