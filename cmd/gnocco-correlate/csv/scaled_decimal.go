package csv

import (
	"math"
	"math/big"
	"math/bits"
	"sync"
)

// Powers of ten as 128-bit fractions, cut off: 10^(leastPower+i) = (high, low) / 2^128 * 2^k, with the high bit set.
const (
	leastPower = -330
	mostPower  = 310
)

var wideTens = sync.OnceValue(func() *[mostPower - leastPower + 1][2]uint64 {
	var table [mostPower - leastPower + 1][2]uint64
	for power := leastPower; power <= mostPower; power++ {
		n := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(power, -power))), nil)
		if power < 0 {
			n.Quo(new(big.Int).Lsh(big.NewInt(1), uint(n.BitLen())+128), n)
		}
		if shift := n.BitLen() - 128; shift > 0 {
			n.Rsh(n, uint(shift))
		} else {
			n.Lsh(n, uint(-shift))
		}
		low := new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64))
		table[power-leastPower] = [2]uint64{n.Rsh(n, 64).Uint64(), low.Uint64()}
	}
	return &table
})

// parseScaled returns mantissa * 10^exponent, rounded once. The product is computed to 128 bits and more; where the
// bits beyond those of a float64 do not decide how to round, or the result is not a normal number, strconv reads text.
func parseScaled(text []byte, mantissa uint64, exponent int, negative bool) (float64, bool) {
	if mantissa == 0 {
		return math.Copysign(0, sign(negative)), true
	}
	if exponent < leastPower || exponent > mostPower {
		return parseSlowly(text)
	}
	ten := wideTens()[exponent-leastPower]
	zeros := bits.LeadingZeros64(mantissa)
	mantissa <<= zeros
	// The fraction of ten is cut off by less than one unit in its last place, so the product lies between what is
	// computed here and that plus 2^64 units of its lowest word: less than 2 units of middle.
	high, middle := bits.Mul64(mantissa, ten[0])
	carry, _ := bits.Mul64(mantissa, ten[1])
	middle, over := bits.Add64(middle, carry, 0)
	high += over
	top := high >> 63 // the product has 127 or 128 bits
	shift := 10 + top // bits of high below the 53 of a float64
	// floor(log2(10^exponent)) is exact in this range.
	exponent2 := (exponent*217706)>>16 + 64 - zeros + int(top) - 1
	if exponent2 < -1022 || exponent2 >= 1023 {
		return parseSlowly(text)
	}
	below := high & (1<<shift - 1)
	half := uint64(1) << (shift - 1)
	if middle <= 1 || middle >= math.MaxUint64-2 {
		if below == half || below == half-1 || below == 1<<shift-1 || below == 0 {
			return parseSlowly(text) // too close to a tie to tell
		}
	}
	fraction := high >> shift
	if below >= half {
		fraction++ // not a tie: that was left to strconv
	}
	if fraction == 1<<53 {
		fraction >>= 1
		exponent2++
	}
	b := fraction&(1<<52-1) | uint64(exponent2+1023)<<52
	if negative {
		b |= 1 << 63
	}
	return math.Float64frombits(b), true
}

func sign(negative bool) float64 {
	if negative {
		return -1
	}
	return 1
}
