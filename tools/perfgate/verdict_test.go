package main

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestOrderOf(t *testing.T) {
	f := func(n, want int) {
		t.Helper()
		if got := orderOf(n); got != want {
			t.Errorf("%d pairs: %d, want %d", n, got, want)
		}
	}
	// As in tables of the sign test, two-sided at 0.05.
	f(1, 0)
	f(5, 0)
	f(6, 1)
	f(8, 1)
	f(9, 2)
	f(11, 2)
	f(12, 3)
	f(15, 4)
	f(20, 6)
	f(25, 8)
}

func TestJudge(t *testing.T) {
	f := func(ratios []float64, want verdict, slower bool) {
		t.Helper()
		if got := judge(ratios); got != want || got.slower(1.10) != slower {
			t.Errorf("%v: %v, slower: %v; want %v, %v", ratios, got, got.slower(1.10), want, slower)
		}
	}
	f(slices.Repeat([]float64{1}, 11), verdict{1, 1, 1}, false)
	f(slices.Repeat([]float64{1.2}, 11), verdict{1.2, 1.2, 1.2}, true)
	f([]float64{2, 2, 2, 2, 2}, verdict{2, 0, math.Inf(1)}, false)
	f([]float64{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, verdict{6, 2, 10}, true)
	f([]float64{6, 1, 5, 2, 4, 3}, verdict{3.5, 1, 6}, false)
	f([]float64{1.05, 1.08, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2}, verdict{1.2, 1.08, 1.2}, false)
	f([]float64{0.1, 1.11, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 50}, verdict{1.2, 1.11, 1.2}, true)
}

// TestDecide draws ratios as a shared machine gives them: 4 % of noise, and every twentieth run is disturbed by up to a
// half.
func TestDecide(t *testing.T) {
	red := func(ratio float64) float64 {
		rng := rand.New(rand.NewPCG(1, uint64(1000*ratio)))
		side := func() float64 {
			time := math.Exp(0.04 * rng.NormFloat64())
			if rng.IntN(20) == 0 {
				time *= 1 + rng.Float64()/2
			}
			return time
		}
		const rounds = 2000
		n := 0
		for range rounds {
			_, slower, err := decide(1.10, 15, func(int) (float64, error) { return ratio * side() / side(), nil })
			if err != nil {
				t.Fatal(err)
			}
			if slower {
				n++
			}
		}
		return float64(n) / rounds
	}
	f := func(ratio, least, most float64) {
		t.Helper()
		if got := red(ratio); got < least || got > most {
			t.Errorf("head takes %v of base's time: %v are red, want %v to %v", ratio, got, least, most)
		}
	}
	f(0.9, 0, 0)
	f(1, 0, 0)
	f(1.05, 0, 0)
	f(1.10, 0, 0.003)
	f(1.20, 0.85, 1)
	f(1.30, 0.99, 1)
}

func TestDecideMeasuresAgain(t *testing.T) {
	f := func(ratios []float64, wantPairs int, want bool) {
		t.Helper()
		pairs := 0
		verdicts, slower, err := decide(1.10, 11, func(int) (float64, error) {
			pairs++
			return ratios[(pairs-1)/11], nil
		})
		if err != nil || pairs != wantPairs || len(verdicts) != (pairs+10)/11 || slower != want {
			t.Errorf("%v: %d pairs, slower: %v, %v", ratios, pairs, slower, err)
		}
	}
	f([]float64{1}, 6, false)
	f([]float64{1.2, 1}, 17, false)
	f([]float64{1.2, 1.3}, 22, true)
	broken := errors.New("broken")
	if _, _, err := decide(1.10, 11, func(int) (float64, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
}
