package anomaly

import "math"

// deciles are the nine values that split others into ten parts of one size.
type deciles [9]float64

// decilesOf returns the deciles of ascending values, one at least.
func decilesOf(values []float64) (d deciles) {
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

// Windows are the deciles of a series in a window, and in the one before.
type Windows struct{ before, after deciles }

// NewWindows sorts the values of both windows, one at least in each, and none NaN.
func NewWindows(before, after []float64) *Windows {
	const times = 3
	sortFinite(before, times)
	sortFinite(after, times)
	return &Windows{decilesOf(before), decilesOf(after)}
}

// Medians returns those of both windows.
func (w *Windows) Medians() (before, after float64) { return w.before.median(), w.after.median() }

// minSpread bounds the unit of a score from below, relative to the largest decile of both windows: a constant series
// has no spread.
const minSpread = 0.01

// Score is the mean distance between the deciles of both windows. Its unit is the spread of the first window: the
// standard deviation of the normal distribution that has the same outer deciles.
func (w *Windows) Score() float64 { return w.distance(&w.before, 0) }

// Since is the score relative to the movement in the same hour of an earlier day, from the level of now.
func (w *Windows) Since(then *Windows) float64 {
	return w.distance(&then.after, w.before.median()-then.before.median())
}

// Unusual is the least of Since for earlier days, and the median that the most similar day lets expect. If the days are
// fewer than two or moved in different directions, the hour before counts as well: one day alone does not say that a
// movement is missing.
func (w *Windows) Unusual(days []*Windows) (score, usual float64) {
	score, rose, fell := math.Inf(1), 0, 0
	for _, day := range days {
		before, after := day.Medians()
		if since := w.Since(day); since < score {
			score, usual = since, w.before.median()+after-before
		}
		if after > before {
			rose++
		} else if after < before {
			fell++
		}
	}
	if hour := w.Score(); hour < score && (len(days) < 2 || max(rose, fell) < len(days) || score > math.MaxFloat64) {
		score, usual = hour, w.before.median()
	}
	return score, usual
}

// distance is the score relative to other deciles, which are shifted.
func (w *Windows) distance(from *deciles, shift float64) float64 {
	distance, largest := 0.0, 0.0
	for i := range from {
		distance += math.Abs(w.after[i]-from[i]-shift) / float64(len(from))
		largest = max(largest, math.Abs(w.before[i]), math.Abs(w.after[i]))
	}
	if distance == 0 {
		return 0
	}
	const outer = 2.563 // standard deviations between the outer deciles
	return distance / max((w.before[8]-w.before[0])/outer, minSpread*largest)
}

// Onset returns the number of the value at which a series left its level for another, by the largest cumulated sum of
// distances from the mean: values beyond the deciles count as those, so one outlier is no change of level.
func (w *Windows) Onset(values []float64) (at int) {
	least, most := min(w.before[0], w.after[0]), max(w.before[8], w.after[8])
	mean := 0.0
	for _, v := range values {
		mean += min(max(v, least), most) / float64(len(values))
	}
	sum, largest := 0.0, -1.0
	for i, v := range values[:len(values)-1] {
		sum += min(max(v, least), most) - mean
		if math.Abs(sum) > largest {
			at, largest = i+1, math.Abs(sum)
		}
	}
	return at
}
