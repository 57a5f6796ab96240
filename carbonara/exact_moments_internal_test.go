package carbonara

import (
	"math"
	"testing"

	"github.com/gnocco-db/gnocco/internal/compensated"
)

// constantMoments are those of n measures v.
func constantMoments(n, v float64) *moments {
	return &moments{count: n, sum: compensated.Sum{High: n * v}, min: v, max: v, first: v, last: v}
}

// A sum beyond 2^53 units is told by floats: the integer of enough groups would wrap around.
func TestCombinedSumsStayWithinTheirIntegers(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		var c combination
		const v, groups = maxDecimal - 1, 2048
		for i := range groups {
			c.add(constantMoments(1, sign*v), 0)
			if got := c.decimal; got != (i == 0) {
				t.Fatalf("%d groups of %v: decimal: %v", i+1, sign*v, got)
			}
		}
		m := c.result(0)
		if got, want := m.sum.Float(), sign*v*groups; got != want {
			t.Errorf("sum of %d times %v: got %v, want %v", groups, sign*v, got, want)
		}
		if math.Abs(m.m2) > 0 {
			t.Errorf("second moment of %d times %v: got %v, want 0", groups, sign*v, m.m2)
		}
	}
	var c combination
	for range 2 {
		c.add(constantMoments(1, maxDecimal/2), 0)
	}
	if c.add(constantMoments(1, 0), 0); !c.decimal || c.sum10 != maxDecimal {
		t.Errorf("a sum of 2^53: decimal: %v, %v", c.decimal, c.sum10)
	}
	if c.add(constantMoments(1, 1), 0); c.decimal {
		t.Error("a sum of 2^53 + 1 is decimal")
	}
}

// n times the sum of squares stays within 128 bits: beyond 2^106 units the second moment is told by floats.
func TestCombinedSquaresStayWithinTheirIntegers(t *testing.T) {
	var c combination
	c.add(constantMoments(maxMomentCount-16, 0), 0)
	for i := range 16 {
		if !c.decimal || c.decimalMoment != (i < 4) {
			t.Errorf("%d squares of 2^52: decimal: %v, %v", i, c.decimal, c.decimalMoment)
		}
		c.add(constantMoments(1, math.Copysign(1<<52, float64(i%2)-0.5)), 0)
	}
	m := c.result(0)
	if want := math.Ldexp(1, 108); m.sum.Float() != 0 || math.Abs(m.m2-want) > 0x1p-50*want {
		t.Errorf("sum and second moment of 16 times ±2^52 and zeros: got %v, %v, want 0, %v", m.sum.Float(), m.m2, want)
	}
}

// Nor does the number of measures make it larger: beyond 2^20 the second moment is told by floats.
func TestCombinedCountsStayWithinTheirIntegers(t *testing.T) {
	var c combination
	c.add(constantMoments(1, 1<<52), 0)
	c.add(constantMoments(1, -(1<<52)), 0)
	for range 1 << 5 {
		c.add(constantMoments(maxMomentCount, 0), 0)
	}
	if !c.decimalMoment {
		t.Error("the squares do not fit")
	}
	m := c.result(0)
	if want := math.Ldexp(1, 105); math.Abs(m.m2-want) > 0x1p-50*want {
		t.Errorf("second moment of ±2^52 and 2^25 zeros: got %v, want %v", m.m2, want)
	}
}

// A sum rounded by half a unit determines no integer.
func TestSquaresOfRoundedSumsAreNotExact(t *testing.T) {
	// 990 measures v and 10 of v + 1: the second moment is 10 - 100/1000, which times n is 9900.
	group := func(v int64) (m *moments, sum int64) {
		sum = 1000*v + 10
		return &moments{count: 1000, sum: compensated.Sum{High: float64(sum)}, m2: 9.9}, sum
	}
	// n times the farthest measure, sum + sqrt(n * 9900), is less than 2^53 up to this v.
	v := (int64(maxDecimal) - 10 - 3147) / 1000
	m, sum := group(v)
	got, ok := exactSquares(m, sum, 0)
	want := squareOf(v).times(990).add(squareOf(v + 1).times(10))
	if !ok || got != want {
		t.Errorf("below the bound: got %v, %v, want %v", got, ok, want)
	}
	if m, sum = group(v + 1); sum >= maxDecimal {
		t.Fatal("the sum does not fit")
	}
	if _, ok := exactSquares(m, sum, 0); ok {
		t.Error("beyond the bound: exact")
	}
}

// Floats too far from an integer, too large for one, or next to a negative one only, tell none.
func TestFloatsThatTellNoIntegers(t *testing.T) {
	m := &moments{count: 1 << 20, sum: compensated.Sum{High: 1<<51 + 0.5}, min: -1 << 51, max: 1 << 51}
	if s, ok := exactSum(m, 0); ok {
		t.Errorf("sum of %v: got %d", m.sum.High, s)
	}
	for _, m2 := range []float64{1 << 61, 1 << 62, 1 << 63, math.Inf(1), math.NaN(), -1} {
		if _, ok := exactSquares(&moments{count: 2, m2: m2}, 0, 0); ok {
			t.Errorf("second moment %v of 2 measures tells an integer", m2)
		}
	}
	if got, ok := exactSquares(&moments{count: 2, m2: 1 << 41}, 0, 0); !ok || got != (uint128{0, 1 << 41}) {
		t.Errorf("second moment 2^41 of 2 measures: got %v, %v", got, ok)
	}
	if got, ok := exactSquares(&moments{count: 2, m2: -1e-9}, 0, 1); ok {
		t.Errorf("negative second moment: got %v", got)
	}
	// Of 7 measures whose sum is 3 mod 14, 7 * M2 is 12 mod 14: -2 lies nearer to 0.09 than 12.
	s := int64(maxDecimal - 1)
	for s%14 != 3 || float64(s)/10*10 != float64(s) {
		s--
	}
	if got, ok := exactSquares(&moments{count: 7, m2: 0.09 / 700}, s, 1); ok {
		t.Errorf("sum of squares next to 0: got %v", got)
	}
}
