package pattern

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// A Pattern is how the values of a series run.
type Pattern int

// The patterns.
const (
	Constant   Pattern = iota // one whole number
	Counter                   // whole numbers that grow by changing steps
	Gauge                     // a slow walk with two decimals
	Percentage                // full-precision floats between 0 and 100
	Sparse                    // zero, but for one value in fifty
	Random                    // full-precision floats of any size within 1e6
	Zeros                     // nothing but 0
	Sine                      // full-precision floats on a wave of 500.7 measures, so that none repeats
	numPatterns
)

var patternNames = [numPatterns]string{"constant", "counter", "gauge", "percentage", "sparse",
	"random", "zeros", "sine"}

// All returns every pattern.
func All() []Pattern {
	all := make([]Pattern, numPatterns)
	for i := range all {
		all[i] = Pattern(i)
	}
	return all
}

// String returns the pattern's name in results.
func (p Pattern) String() string { return patternNames[p] }

// Parse returns the pattern of that name.
func Parse(name string) (Pattern, error) {
	for p, n := range patternNames {
		if n == name {
			return Pattern(p), nil
		}
	}
	return 0, fmt.Errorf("pattern %q: want one of %v", name, patternNames)
}

// Append appends n values of the pattern.
func (p Pattern) Append(dst []float64, n int, rng *rand.Rand) []float64 {
	switch p {
	case Constant:
		v := float64(1 + rng.IntN(1000))
		for range n {
			dst = append(dst, v)
		}
	case Counter:
		v, rate := float64(rng.IntN(1e6)), math.Exp(rng.Float64()*8)
		for range n {
			v += math.Floor(rng.ExpFloat64() * rate)
			dst = append(dst, v)
		}
	case Gauge:
		hundredths := float64(1000 + rng.IntN(90000))
		for range n {
			hundredths += float64(rng.IntN(101) - 50)
			dst = append(dst, hundredths/100)
		}
	case Percentage:
		for range n {
			dst = append(dst, rng.Float64()*100)
		}
	case Sparse:
		for range n {
			v := 0.0
			if rng.IntN(50) == 0 {
				v = float64(1 + rng.IntN(100))
			}
			dst = append(dst, v)
		}
	case Random:
		for range n {
			dst = append(dst, (rng.Float64()*2-1)*1e6)
		}
	case Zeros:
		for range n {
			dst = append(dst, 0)
		}
	case Sine:
		for i := range n {
			dst = append(dst, 50+40*math.Sin(2*math.Pi*float64(i)/500.7))
		}
	}
	return dst
}
