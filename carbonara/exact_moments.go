package carbonara

import (
	"math"

	"github.com/gnocco-db/gnocco/internal/compensated"
	"github.com/gnocco-db/gnocco/internal/decimal"
)

// combination is the moments of several groups put together. Where these are decimals, sum and second moment are exact:
// the integers behind each group's float64 are added, and the answer is the float64 next to the result, for any order
// and number of steps. Otherwise floats are added as they come.
type combination struct {
	moments
	any    bool
	absent uint8 // moments that are not known of some group, as bits

	decimal       bool // sum10 holds the sum, in units of 10^-e
	decimalMoment bool // squares10 holds the sum of squares, in units of 10^-2e
	sum10         int64
	squares10     uint128
}

// add puts a group into c, later than those before it. e is the exponent that its family is tried with, -1 for none.
func (c *combination) add(m *moments, e int) {
	if m.count == 0 {
		return
	}
	sum10, squares10, decimal, decimalMoment := int64(0), uint128{}, false, false
	if e >= 0 {
		sum10, decimal = exactSum(m, e)
	}
	if decimal && m.m2 == m.m2 {
		squares10, decimalMoment = exactSquares(m, sum10, e)
	}
	if !c.any {
		*c = combination{moments: *m, any: true, absent: m.absences(), decimal: decimal, decimalMoment: decimalMoment,
			sum10: sum10, squares10: squares10}
		return
	}
	c.absent |= m.absences()
	n := c.count + m.count
	d := m.sum.Over(m.count).Less(c.sum.Over(c.count))
	c.m2 += m.m2 + float64(d*d*(c.count/n*m.count)) // not fused: the same bits on every machine
	c.count = n
	c.sum = c.sum.PlusSum(m.sum)
	c.last = m.last
	c.max = max(c.max, m.max)
	if c.min != c.min {
		c.min = m.min
	} else if m.min == m.min {
		c.min = min(c.min, m.min)
	}
	c.decimal = c.decimal && decimal
	c.decimalMoment = c.decimalMoment && decimalMoment
	c.sum10 += sum10
	if c.sum10 > maxDecimal || c.sum10 < -maxDecimal {
		c.decimal = false
	}
	c.squares10 = c.squares10.add(squares10)
	if c.squares10.high >= 1<<42 {
		c.decimalMoment = false // times the number of measures it must stay below 2^127
	}
}

// result returns the moments of all groups.
func (c *combination) result(e int) moments {
	m := c.moments
	if !c.decimal {
		return m
	}
	m.sum = compensated.Sum{High: decimalOf(c.sum10, decimal.FloatPowers[e])}
	if c.decimalMoment && m.count <= maxMomentCount {
		n := uint64(m.count)
		numerator := c.squares10.times(n).sub(squareOf(c.sum10))
		m.m2 = numerator.float() / (m.count * squarePowersOf10[e])
	}
	return m
}

// exactSum returns the integer S for which the group's sum is S / 10^e, rounded as a sum of so many floats may be.
func exactSum(m *moments, e int) (int64, bool) {
	sum := m.sum.Float()
	s, ok := nearest(sum, decimal.FloatPowers[e])
	if !ok {
		return 0, false
	}
	// Each addition is off by at most half a unit in the last place of the sum so far. The bound is twice that, since
	// the measures are rounded themselves. A quarter of a decimal is no longer one.
	largest := max(math.Abs(sum), m.count*math.Max(math.Abs(m.min), math.Abs(m.max)))
	if !(largest <= math.MaxFloat64) { // min and max are not known
		largest = math.Abs(sum)
	}
	off := math.Abs(sum - decimalOf(s, decimal.FloatPowers[e]))
	return s, off <= m.count*largest*0x1p-52 && off*decimal.FloatPowers[e] < 0.25
}

// exactSquares returns the sum of squares in units of 10^-2e of a group whose sum is s: second moment + s²/n, which for
// measures that are decimals is whole, and odd if s is.
func exactSquares(m *moments, s int64, e int) (uint128, bool) {
	divisor := newMomentDivisor()
	n, r, ok := divisor.base(m.count, decimalOf(s, decimal.FloatPowers[e]), decimal.FloatPowers[e])
	x := float64(m.m2 * (m.count * squarePowersOf10[e])) // not fused, as below
	if !ok || !(x < 1<<62 && x >= 0) {
		return uint128{}, false
	}
	i := int64(math.RoundToEven((x - float64(r)) / float64(2*n)))
	exact := 2*n*i + r
	// Accumulated in floats, M2 is off by some units in its last place for each measure. Where the measures' own
	// rounding counts, it is also off by as many of their units times their distance from the mean. Possible values are
	// 2n apart.
	off := float64(x * m.count * 0x1p-52)
	largest := math.Abs(float64(s))/m.count + math.Sqrt(x/m.count)
	if e > 0 || largest*m.count >= maxDecimal {
		off += float64(m.count * largest * math.Sqrt(x) * 0x1p-50)
	}
	if math.Abs(x-float64(exact)) > off || off >= float64(n)/2 || exact < 0 {
		return uint128{}, false
	}
	return squareOf(s).add(uint128{0, uint64(exact)}).dividedBy(uint64(n)), true
}
