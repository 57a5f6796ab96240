package carbonara

import "math"

// fewPercentiles of a group are looked for one by one.
const fewPercentiles = 4

// percentile returns the p-th percentile of n > 0 values, by linear interpolation between the two nearest ranks:
// low*(ceil-rank) + high*(rank-floor), and the value itself where the rank is whole.
func percentile(values *RankedValues, n, p int) float64 {
	rank := float64(float64(n-1) * (float64(p) / 100)) // not fused with the differences below
	floor := math.Floor(rank)
	low := values.At(int(floor))
	if floor == rank {
		return low
	}
	return float64(low*(floor+1-rank)) + float64(values.At(int(floor)+1)*(rank-floor))
}
