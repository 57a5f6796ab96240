package carbonara

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestRankOrdersFloats(t *testing.T) {
	values := []float64{math.Inf(-1), -math.MaxFloat64, -1, -math.SmallestNonzeroFloat64, math.Copysign(0, -1), 0,
		math.SmallestNonzeroFloat64, 1, math.Nextafter(1, 2), math.MaxFloat64, math.Inf(1)}
	for i, v := range values {
		if math.Float64bits(fromOrderedBits(orderedBits(v))) != math.Float64bits(v) {
			t.Errorf("%v comes back as %v", v, fromOrderedBits(orderedBits(v)))
		}
		if i > 0 && orderedBits(values[i-1]) >= orderedBits(v) {
			t.Errorf("rank of %v is not above that of %v", v, values[i-1])
		}
	}
	if orderedBits(math.Nextafter(1, 2)) != orderedBits(1)+1 {
		t.Error("the next float has not the next rank")
	}
}

// The second moment of integers is told exactly: its remainder is what big arithmetic says.
func TestMomentDivisor(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var divisor momentDivisor
	for range 20000 {
		n := 1 + rng.Int64N(20)
		if rng.IntN(10) == 0 {
			n = 1 + rng.Int64N(maxMomentCount)
		}
		s := int64(rng.Uint64()>>11) >> rng.IntN(53)
		if rng.IntN(2) == 0 {
			s = -s
		}
		gotN, r, ok := divisor.base(float64(n), float64(s), 1)
		if !ok || gotN != n {
			t.Fatalf("%d measures, sum %d: %d, %v", n, s, gotN, ok)
		}
		want := new(big.Int).Mul(big.NewInt(s), big.NewInt(n-s))
		want.Mod(want, big.NewInt(2*n))
		if r != want.Int64() {
			t.Fatalf("%d measures, sum %d: remainder %d, want %d", n, s, r, want)
		}
	}
}
