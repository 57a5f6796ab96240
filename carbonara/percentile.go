package carbonara

import (
	"math"
	"slices"
)

// sortNaNLast sorts values ascending with NaN at the end, as numpy does, and returns how many are not NaN.
func sortNaNLast(values []float64) int {
	n := len(values)
	for i := 0; i < n; {
		if values[i] == values[i] {
			i++
			continue
		}
		n--
		values[i], values[n] = values[n], values[i]
	}
	slices.Sort(values[:n])
	return n
}

// percentile returns the p-th percentile of sorted, by linear interpolation between the two nearest ranks:
// low*(ceil-rank) + high*(rank-floor), and the value itself where the rank is whole.
func percentile(sorted []float64, p int) float64 {
	rank := float64(len(sorted)-1) * (float64(p) / 100)
	floor := math.Floor(rank)
	low := sorted[int(floor)]
	if floor == rank {
		return low
	}
	return float64(low*(floor+1-rank)) + float64(sorted[int(floor)+1]*(rank-floor))
}
