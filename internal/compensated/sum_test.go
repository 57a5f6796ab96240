package compensated_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gnocco-db/gnocco/internal/compensated"
)

func exact(s compensated.Sum) *big.Float {
	f := new(big.Float).SetPrec(400).SetFloat64(s.High)
	return f.Add(f, big.NewFloat(s.Low))
}

func requireNear(t *testing.T, what string, got, want *big.Float, off float64) {
	t.Helper()
	if d := new(big.Float).Sub(got, want); d.Abs(d).Cmp(big.NewFloat(off)) > 0 {
		t.Errorf("%s: off by %.3g, at most %.3g allowed", what, d, off)
	}
}

// Sums of sums keep the low parts of both, and so do means and differences.
func TestSumsKeepTheirLowParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 6))
	random := func() float64 { return math.Ldexp(rng.NormFloat64(), rng.IntN(60)) }
	for range 2000 {
		var s, u compensated.Sum
		want := new(big.Float).SetPrec(400)
		magnitude, n := 0.0, 1+rng.IntN(20)
		for range n {
			v, w := random(), random()
			s, u = s.Plus(v), u.Plus(w)
			want.Add(want, big.NewFloat(v)).Add(want, big.NewFloat(w))
			magnitude += math.Abs(v) + math.Abs(w)
		}
		off := float64(n*n) * 0x1p-104 * magnitude
		both := s.PlusSum(u)
		requireNear(t, "s + u", exact(both), want, off)
		less := new(big.Float).Sub(exact(s), exact(u))
		high, _ := less.Float64()
		requireNear(t, "s - u", big.NewFloat(s.Less(u)), less, 0x1p-52*math.Abs(high)+0x1p-104*magnitude+
			0x1p-52*math.Abs(s.High-u.High))
		mean := new(big.Float).SetPrec(400).Quo(exact(both), big.NewFloat(float64(2*n)))
		requireNear(t, "(s + u) / n", exact(both.Over(float64(2*n))), mean,
			off+0x1p-78*math.Abs(both.Float())/float64(n))
	}
}

// A sum that is not finite has no low part: the mean of an infinite sum is farther from others than any other.
func TestMeansThatAreNotFinite(t *testing.T) {
	for _, v := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		mean := compensated.Sum{High: v}.Over(3)
		if mean.Low != 0 || mean.High != v && v == v || v != v && mean.High == mean.High {
			t.Errorf("mean of %v: got %v", v, mean)
		}
		if got := mean.Less(compensated.Sum{High: 1}); got != v && v == v {
			t.Errorf("mean of %v less 1: got %v", v, got)
		}
	}
}
