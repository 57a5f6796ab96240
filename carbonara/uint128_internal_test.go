package carbonara

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

func (a uint128) big() *big.Int {
	v := new(big.Int).SetUint64(a.high)
	return v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(a.low))
}

func TestUint128(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	wrap := new(big.Int).Lsh(big.NewInt(1), 128)
	check := func(what string, got uint128, want *big.Int) {
		t.Helper()
		if want.Mod(want, wrap); got.big().Cmp(want) != 0 {
			t.Fatalf("%s: %v, want %v", what, got.big(), want)
		}
	}
	for range 2000 {
		a := uint128{rng.Uint64() >> rng.IntN(65), rng.Uint64() >> rng.IntN(64)}
		b := uint128{rng.Uint64() >> rng.IntN(65), rng.Uint64() >> rng.IntN(64)}
		k := 1 + rng.Uint64()>>rng.IntN(64)
		if k == 0 {
			k = 1
		}
		bigK := new(big.Int).SetUint64(k)
		check("add", a.add(b), new(big.Int).Add(a.big(), b.big()))
		check("sub", a.sub(b), new(big.Int).Sub(a.big(), b.big()))
		check("times", a.times(k), new(big.Int).Mul(a.big(), bigK))
		check("divided", a.dividedBy(k), new(big.Int).Div(a.big(), bigK))
		v := int64(rng.Uint64()) >> rng.IntN(64)
		check("square", squareOf(v), new(big.Int).Mul(big.NewInt(v), big.NewInt(v)))
		if want, _ := new(big.Float).SetInt(a.big()).Float64(); a.float() != want {
			t.Fatalf("float of %v is %v, want %v", a.big(), a.float(), want)
		}
	}
}
