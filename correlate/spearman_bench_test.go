package correlate_test

import (
	"fmt"
	"testing"

	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/tests/correlatetest"
)

// BenchmarkSpearman has pairs that take nanoseconds, and with a lag pairs that take much longer.
func BenchmarkSpearman(b *testing.B) {
	for _, lag := range []int{0, 1} {
		columns := 1000 - 900*lag
		values := correlatetest.Shaped("random").Values(1, columns, 256)
		b.Run(fmt.Sprintf("columns=%d/lag=%d", columns, lag), func(b *testing.B) {
			for b.Loop() {
				n := 0
				if _, err := correlate.RunSpearman(b.Context(), values, correlate.Options{MaxLag: lag},
					func(correlate.Pair) error {
						n++
						return nil
					}); err != nil || n != columns*(columns-1)/2 {
					b.Fatal(n, err)
				}
			}
		})
	}
}
