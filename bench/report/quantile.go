package report

import (
	"math"
	"slices"
	"time"
)

// Quantile returns the least of values that the share q of all does not exceed; it sorts values. Zero for none.
func Quantile[V time.Duration | float64](values []V, q float64) V {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	i := int(math.Ceil(q*float64(len(values)))) - 1
	return values[min(max(i, 0), len(values)-1)]
}

func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
