package query

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestChangeScore(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(n int, mean float64) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = mean + random.NormFloat64()
		}
		return values
	}
	constant := func(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }
	f := func(name string, before, after []float64, least, most float64) {
		t.Helper()
		b, a := decilesOf(before), decilesOf(after)
		if got := changeScore(&b, &a); !(got >= least && got <= most) {
			t.Errorf("%s: %v, want %v to %v", name, got, least, most)
		}
	}
	f("nothing moved", constant(20, 7), constant(20, 7), 0, 0)
	f("all zero", constant(20, 0), constant(20, 0), 0, 0)
	f("noise alone", noise(60, 100), noise(60, 100), 0, 0.5)
	f("three deviations", noise(600, 100), noise(600, 103), 2.7, 3.3)
	f("wider, around the same", noise(60, 0), append(constant(30, -5), constant(30, 5)...), 3, 7)
	f("a tenth off is not seen", constant(100, 1), append(constant(94, 1), constant(6, 1e9)...), 0, 0)
	f("a third off is", constant(99, 1), append(constant(66, 1), constant(33, 5)...), 10, 100)
	f("from nothing", constant(20, 0), constant(20, 1e-3), 100, 100)
	f("to nothing", constant(20, 5), constant(20, 0), 99.9, 100.1)
	f("a constant by a tenth", constant(20, 10), constant(20, 11), 9, 10)
	f("huge", constant(20, math.MaxFloat64/4), constant(20, math.MaxFloat64/2), 50, 51)
}
