package compensated

import "math"

// Sum is a sum of float64: High as float64 adds it up, and in Low what that has rounded away.
type Sum struct{ High, Low float64 }

// Plus returns s + v. Knuth's six operations give the error of the first one exactly; no branch depends on which is
// larger.
func (s Sum) Plus(v float64) Sum {
	v = float64(v) // where this is inlined, a product is not fused with the next operation
	high := s.High + v
	part := high - s.High
	return Sum{high, s.Low + ((s.High - (high - part)) + (v - part))}
}

// PlusProduct returns s + n*v, for a whole number n, exact up to n = 2^26 but for the rounding of s.Low.
func (s Sum) PlusProduct(n, v float64) Sum {
	first := firstHalf(v)
	return s.Plus(n * first).Plus(n * (v - first))
}

// firstHalf returns the 26 first of v's 53 bits. They and the 27 others times a whole number up to 2^26 are exact.
func firstHalf(v float64) float64 { return math.Float64frombits(math.Float64bits(v) &^ (1<<27 - 1)) }

// PlusSum returns s + t.
func (s Sum) PlusSum(t Sum) Sum {
	s = s.Plus(t.High)
	return Sum{s.High, s.Low + t.Low}
}

// Float returns the float64 next to s. A sum that has become infinite, or NaN, stays that: then Low means nothing.
func (s Sum) Float() float64 {
	if f := s.High + s.Low; f == f {
		return f
	}
	return s.High
}

// TimesLess returns n*v - s, for a whole number n: exact but for the rounding of the difference up to n = 2^26.
func (s Sum) TimesLess(n, v float64) float64 {
	first := firstHalf(v) // the conversions forbid fusing
	return (float64(n*first) - s.High) + (float64(n*(v-first)) - s.Low)
}

// Over returns s / n for a whole number n, as a sum of two float64.
func (s Sum) Over(n float64) Sum {
	mean := s.Float() / n
	if mean-mean != 0 {
		return Sum{High: mean}
	}
	return Sum{mean, -s.TimesLess(n, mean) / n}
}

// Less returns s - t.
func (s Sum) Less(t Sum) float64 { return (s.High - t.High) + (s.Low - t.Low) }
