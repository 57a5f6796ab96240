package correlate

import (
	"math"
	"testing"
)

// Coefficients come from moments of any size, stay in [-1, 1], and are none where a column is constant.
func TestCoefficients(t *testing.T) {
	for _, x := range []int{-1070, -900, -450, -1, 0, 1, 2, 449, 451, 1022} {
		for _, y := range []int{-1069, -901, -449, 0, 1, 450, 1021} {
			xx, yy := math.Ldexp(1, x), math.Ldexp(1, y)
			root := math.Ldexp(math.Sqrt(math.Ldexp(1, (x+y)&1)), (x+y)>>1)
			if got := coefficient(root/2, xx, yy); math.Abs(got-0.5) > 1e-15 && root > 0x1p-1000 {
				t.Errorf("moments 2^%d, 2^%d: got %v, want 0.5", x, y, got)
			}
			if got := coefficient(-root*(1+1e-9), xx, yy); got != -1 {
				t.Errorf("moments 2^%d, 2^%d: got %v, want -1", x, y, got)
			}
		}
	}
	for _, m := range [][2]float64{{0, 1}, {1, 0}, {-1, 1}, {1, -1}, {-1, -1}} {
		if got := coefficient(1, m[0], m[1]); got == got {
			t.Errorf("moments %v: got %v", m, got)
		}
	}
}

// While the strongest are looked for, no more than twice as many are held.
func TestStrongestAreSortedOut(t *testing.T) {
	var best []Pair
	least := 0.0
	for i := range 1000 {
		best = addStrong(best, Pair{J: i, R: float64(i) / 1000}, 10, &least)
		if len(best) >= 20 {
			t.Fatalf("%d pairs of 10 are held", len(best))
		}
	}
	if least < 0.98 || least > 0.99 {
		t.Errorf("pairs weaker than %v are left out", least)
	}
}
