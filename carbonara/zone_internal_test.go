package carbonara

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A zone holds every value, and reaches at most a sixteenth further.
func TestZone(t *testing.T) {
	f := func(values ...float64) {
		t.Helper()
		z := decodeZone(appendZone(nil, values))
		any := false
		for _, v := range values {
			if v == v {
				any = true
				if !(v >= z.Low && v <= z.High) {
					t.Errorf("%v lies outside %v", v, z)
				}
			}
		}
		if z.Empty() == any {
			t.Errorf("the zone of %v is %v", values, z)
		}
	}
	inf := math.Inf(1)
	f(0)
	f(math.Copysign(0, -1))
	f(math.Copysign(0, -1), 0)
	f(math.NaN())
	f(math.NaN(), 1)
	f(inf)
	f(-inf)
	f(-inf, math.NaN(), inf)
	f(math.MaxFloat64, -math.MaxFloat64)
	f(math.SmallestNonzeroFloat64)
	f(-math.SmallestNonzeroFloat64)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		v := math.Float64frombits(rng.Uint64())
		f(v)
		f(v, math.Float64frombits(rng.Uint64()))
		if z := decodeZone(appendZone(nil, []float64{v})); math.Abs(v) > 1e-300 && !math.IsInf(v, 0) &&
			z.High-z.Low > math.Abs(v)/15 {
			t.Errorf("the zone of %v is %v", v, z)
		}
	}
}
