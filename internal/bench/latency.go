package bench

import (
	"math"
	"slices"
	"time"
)

// quantile returns the least latency that the share q of all does not exceed; it sorts latencies. Zero for none.
func quantile(latencies []time.Duration, q float64) time.Duration {
	if len(latencies) == 0 {
		return 0
	}
	slices.Sort(latencies)
	i := int(math.Ceil(q*float64(len(latencies)))) - 1
	return latencies[min(max(i, 0), len(latencies)-1)]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
