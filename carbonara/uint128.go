package carbonara

import "math/bits"

// uint128 is an unsigned integer of 128 bits; arithmetic wraps around.
type uint128 struct{ high, low uint64 }

func (a uint128) add(b uint128) uint128 {
	low, carry := bits.Add64(a.low, b.low, 0)
	high, _ := bits.Add64(a.high, b.high, carry)
	return uint128{high, low}
}

func (a uint128) sub(b uint128) uint128 {
	low, borrow := bits.Sub64(a.low, b.low, 0)
	high, _ := bits.Sub64(a.high, b.high, borrow)
	return uint128{high, low}
}

// times returns a * b.
func (a uint128) times(b uint64) uint128 {
	high, low := bits.Mul64(a.low, b)
	return uint128{high + a.high*b, low}
}

// squareOf returns v².
func squareOf(v int64) uint128 {
	u := uint64(v)
	if v < 0 {
		u = -u
	}
	high, low := bits.Mul64(u, u)
	return uint128{high, low}
}

// dividedBy returns a / b, rounded down.
func (a uint128) dividedBy(b uint64) uint128 {
	high, rest := a.high/b, a.high%b
	low, _ := bits.Div64(rest, a.low, b)
	return uint128{high, low}
}

// float returns the float64 next to a.
func (a uint128) float() float64 {
	if a.high == 0 {
		return float64(a.low)
	}
	// The 64 highest bits. The last one is also set if any lower bit is, so that the one rounding is right.
	shift := bits.Len64(a.high)
	top := a.high<<(64-shift) | a.low>>shift
	if a.low<<(64-shift) != 0 {
		top |= 1
	}
	return float64(float64(top)*float64(uint64(1)<<(shift-1))) * 2
}
