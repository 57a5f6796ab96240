package query

import (
	"math"
	"slices"
)

// leastGroups is how many groups a window needs for its deciles to mean something.
const leastGroups = 5

// minSpread bounds the unit of a score from below, relative to the largest decile of both windows: a constant series
// has no spread.
const minSpread = 0.01

// deciles are the nine values that split others into ten parts of one size.
type deciles [9]float64

// decilesOf sorts values, one at least, and returns their deciles.
func decilesOf(values []float64) (d deciles) {
	slices.Sort(values)
	for i := range d {
		at := float64(float64(i+1) / 10 * float64(len(values)-1)) // not fused, as below
		low := int(at)
		high := min(low+1, len(values)-1)
		d[i] = values[low] + float64((at-float64(low))*(values[high]-values[low]))
	}
	return d
}

// median is the fifth decile.
func (d *deciles) median() float64 { return d[4] }

// changeScore is the mean distance between the deciles of two windows. Its unit is the spread of the first window: the
// standard deviation of the normal distribution that has the same outer deciles. Values in the outer tenth of a window
// do not count, however far off they are.
func changeScore(before, after *deciles) float64 {
	distance, largest := 0.0, 0.0
	for i := range before {
		distance += math.Abs(after[i]-before[i]) / float64(len(before))
		largest = max(largest, math.Abs(before[i]), math.Abs(after[i]))
	}
	if distance == 0 {
		return 0
	}
	const outer = 2.563 // standard deviations between the outer deciles
	return distance / max((before[8]-before[0])/outer, minSpread*largest)
}
