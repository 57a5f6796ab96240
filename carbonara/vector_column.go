package carbonara

import (
	"encoding/binary"
	"math"

	"github.com/gnocco-db/gnocco/carbonara/intcodec"
	"github.com/gnocco-db/gnocco/internal/decimal"
)

// vectorLen is the number of groups that a split of format 2 encodes together.
const vectorLen = intcodec.MaxLen

// A vector column holds the values of one column for the groups of one vector of a split of format 2:
//
//	head        2 bytes: bits 0-2 of the first the kind, below; bit 3: residuals are there; bit 4: exceptions are there;
//	            the second is the exponent e
//	zone        4 bytes: see zone.go
//	integers    a stream; of the last kind its list of prefixes and two streams
//	residuals   a stream: how many float64 the value lies above what the integer says
//	exceptions  uvarint how many; for each a uvarint, twice how many groups lie between it and the one before, plus 1 if
//	            the value is the NaN that stands for an absent one; else 8 bytes follow, the float64
const (
	vectorIntegers       = iota // i / 10^e
	vectorRelativeToMean        // (i + mean * 10^e, rounded) / 10^e
	vectorSecondMoment          // see secondMoment
	vectorFloats                // the float64 whose ordered bits are i; e is 0
	// a second moment; i is relative to the expectation from the group's range (see secondMomentBounds)
	vectorRelativeToRange
	vectorPrefixes // a float64, by its prefix and mantissa (see appendPrefixes)

	vectorKindMask   = 0x07
	vectorResiduals  = 0x08
	vectorExceptions = 0x10
	vectorKnown      = 0x1f
	vectorHeadLen    = 2 + zoneLen
)

var vectorKindNames = [...]string{"decimal", "decimal relative to mean", "second moment", "float",
	"second moment relative to range", "float by prefix"}

// orderedBits numbers the float64 in ascending order, so that the next greater one has the next rank.
func orderedBits(v float64) int64 {
	b := int64(math.Float64bits(v))
	return b ^ int64(uint64(b>>63)>>1)
}

// fromOrderedBits is the inverse of orderedBits.
func fromOrderedBits(r int64) float64 {
	return math.Float64frombits(uint64(r ^ int64(uint64(r>>63)>>1)))
}

// decimalOf returns the float64 next to i / 10^e.
func decimalOf(i int64, power float64) float64 {
	if power == 1 {
		return float64(i) // a division costs more than to ask
	}
	return float64(i) / power
}

// predicted returns the integer that columns of a group with this mean are relative to at an exponent.
func predicted(mean, power float64) int64 {
	x := mean * power
	if !(x < maxDecimal && x > -maxDecimal) {
		return 0
	}
	return int64(math.RoundToEven(x)) // so that one measure in a group is told by 0
}

// maxMomentCount bounds the measures of a group whose second moment is told by an integer.
const maxMomentCount = 1 << 20

// momentDivisor divides by 2n for groups of n measures, n from one group to the next mostly the same.
type momentDivisor struct {
	count   float64
	n, m    int64 // m = 2n
	inverse float64
}

// newMomentDivisor returns one without a count yet: NaN equals no count.
func newMomentDivisor() momentDivisor { return momentDivisor{count: nan} }

// mod returns v mod 2n, at least 0, of |v| <= maxDecimal.
func (d *momentDivisor) mod(v int64) int64 {
	r := v - int64(float64(v)*d.inverse)*d.m // off by one at most, and below 0 if v is: from -2m to below 2m
	r += d.m & (r >> 63)
	r += d.m & (r >> 63)
	if r >= d.m {
		r -= d.m
	}
	return r
}

// base returns what second moments of a group are told with: the number n of its measures, and the remainder r of
// n*Q - S² by 2n, where S is their sum and Q the sum of their squares, in units of 10^-e and 10^-2e. Q and S are both
// even or both odd, so that r follows from S: it is S*(n-S) mod 2n. ok is false if count and sum do not fit.
func (d *momentDivisor) base(count, sum, power float64) (n, r int64, ok bool) {
	s := sum * power
	if !(count >= 1 && count <= maxMomentCount && s < maxDecimal && s > -maxDecimal) {
		return 0, 0, false
	}
	if count != d.count {
		n := int64(count)
		if float64(n) != count {
			return 0, 0, false
		}
		*d = momentDivisor{count, n, 2 * n, 1 / float64(2*n)}
	}
	return d.n, d.remainder(s), true
}

// remainder returns S*(n-S) mod 2n, where S is sum, rounded, below maxDecimal.
func (d *momentDivisor) remainder(sum float64) int64 {
	rest := d.mod(int64(math.RoundToEven(sum)))
	other := d.n - rest // n - S mod 2n, above -n
	if other < 0 {
		other += d.m
	}
	return d.mod(rest * other)
}

// secondMoment returns the sum of squared deviations of a group: (2n*i + r) / (n * 10^2e).
func secondMoment(n, r, i int64, squarePower float64) float64 {
	return float64(2*n*i+r) / (float64(n) * squarePower)
}

// squarePowersOf10 are 10^2e, all exact.
var squarePowersOf10 = [maxExponent + 1]float64{1, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12, 1e14, 1e16, 1e18, 1e20}

// family is what columns of one vector are told with: the counts and sums of the measures, or of the differences.
type family struct {
	known        bool
	counts, sums []float64
	means        [vectorLen]float64
	predictions  [vectorLen]int64 // at predictedAt, which is -1 for none
	predictedAt  int

	hasRange    bool
	lows, highs []float64
	expected    [vectorLen]int64 // second moments, at expectedAt, which is -1 for none; see secondMomentBounds
	scales      [vectorLen]uint8
	expectedAt  int
}

// set makes counts and sums known; they are kept, not copied.
func (f *family) set(counts, sums []float64) {
	f.known, f.counts, f.sums, f.predictedAt, f.expectedAt = true, counts, sums, -1, -1
	means(f.means[:], sums, counts)
}

// predict returns the integers that columns are relative to at exponent e, mostly the same for all columns.
func (f *family) predict(e int) []int64 {
	out := f.predictions[:len(f.counts)]
	if f.predictedAt == e {
		return out
	}
	f.predictedAt = e
	predictions(out, f.means[:len(out)], decimal.FloatPowers[e])
	return out
}

// appendExceptions appends the values at positions.
func appendExceptions(dst []byte, positions []int, values []float64) []byte {
	dst = intcodec.AppendUvarint(dst, uint64(len(positions)))
	next := 0
	for _, p := range positions {
		gap := uint64(p-next) << 1
		bits := math.Float64bits(values[p])
		if bits == nanBits {
			dst = intcodec.AppendUvarint(dst, gap|1)
		} else {
			dst = binary.LittleEndian.AppendUint64(intcodec.AppendUvarint(dst, gap), bits)
		}
		next = p + 1
	}
	return dst
}

// decodeExceptions puts those exceptions of so many groups over out that are in it; src must end with them. Group from
// is out's first.
func decodeExceptions(out []float64, src []byte, groups, from int) bool {
	count, src, ok := intcodec.ConsumeUvarint(src)
	if !ok || count > uint64(groups) {
		return false
	}
	at := uint64(0)
	for range count {
		gap, rest, ok := intcodec.ConsumeUvarint(src)
		if !ok || gap>>1 >= uint64(groups)-at {
			return false
		}
		src = rest
		at += gap >> 1
		bits := uint64(nanBits)
		if gap&1 == 0 {
			if len(src) < 8 {
				return false
			}
			bits, src = binary.LittleEndian.Uint64(src), src[8:]
		}
		if i := int(at) - from; i >= 0 && i < len(out) {
			out[i] = math.Float64frombits(bits)
		}
		at++
	}
	return len(src) == 0
}
