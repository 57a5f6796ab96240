package correlate

import "math"

// Pair is what two columns have in common: I < J.
type Pair struct {
	I, J    int
	R       float64 // correlation coefficient, in [-1, 1]; NaN where there is none
	Lag     int     // rows by which J follows I where that fits best
	Overlap int64   // rows that both columns have, at that lag
}

// Strength is the absolute value of the coefficient; -1 without one.
func (p Pair) Strength() float64 {
	if math.IsNaN(p.R) {
		return -1
	}
	return math.Abs(p.R)
}

// coefficient divides a co-moment by the root of the two columns' own.
func coefficient(xy, xx, yy float64) float64 {
	if xx <= 0 || yy <= 0 {
		return math.NaN() // constant
	}
	// The root of a square is exact, so equal columns give exactly 1.
	square := xx * yy
	if !(square > 0x1p-900 && square < 0x1p900) { // digits of it may be lost, or all
		return farCoefficient(xy, xx, yy)
	}
	return max(-1, min(1, xy/math.Sqrt(square)))
}

// farCoefficient is coefficient where the product of the two columns' moments leaves the range of float64: exponents
// are taken out first, so that the digits are those of columns of ordinary size.
func farCoefficient(xy, xx, yy float64) float64 {
	xx, x := math.Frexp(xx)
	yy, y := math.Frexp(yy)
	if (x+y)%2 != 0 {
		xx, x = 2*xx, x-1
	}
	return max(-1, min(1, math.Ldexp(xy, -(x+y)/2)/math.Sqrt(xx*yy)))
}
