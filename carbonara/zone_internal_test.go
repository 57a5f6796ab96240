package carbonara

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// zone is what the bytes of a zone say of the values.
type zone struct{ low, high float64 }

func decodeZone(src []byte) zone {
	low, high := int16(binary.LittleEndian.Uint16(src)), int16(binary.LittleEndian.Uint16(src[2:]))
	if low > high {
		return zone{math.Inf(1), math.Inf(-1)}
	}
	z := zone{fromOrderedBits(int64(low) << 48), fromOrderedBits(int64(high)<<48 | (1<<48 - 1))}
	if z.low != z.low { // an infinity's own top bits
		z.low = math.Inf(-1)
	}
	if z.high != z.high {
		z.high = math.Inf(1)
	}
	return z
}

// A zone holds every value, and reaches at most a sixteenth further.
func TestZone(t *testing.T) {
	f := func(values ...float64) {
		t.Helper()
		z := decodeZone(appendZone(nil, values))
		any := false
		for _, v := range values {
			if v == v {
				any = true
				if !(v >= z.low && v <= z.high) {
					t.Errorf("%v lies outside %v", v, z)
				}
			}
		}
		if (z.low > z.high) == any {
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
			z.high-z.low > math.Abs(v)/15 {
			t.Errorf("the zone of %v is %v", v, z)
		}
	}
}
