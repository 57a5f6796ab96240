package carbonara

import (
	"math"
	"math/bits"

	"github.com/gnocco-db/gnocco/carbonara/intcodec"
	"github.com/gnocco-db/gnocco/internal/decimal"
)

// vectorCodec is the memory that vector columns are encoded and decoded in.
type vectorCodec struct {
	streams    intcodec.Encoder
	ints       [vectorLen]int64
	residuals  [vectorLen]int64
	bad        [vectorLen / 8]uint8 // a bit for each group: it is no decimal
	exceptions []int
	body       []byte         // of a vector column
	block      []byte         // of a vector
	prefixes   *prefixEncoder // only floats need it
	families   [2]familyState
}

// familyState is the family of the measures or of the differences, while a vector is encoded or decoded.
type familyState struct {
	family
	exponent int // encoder: of most sums; -1 if they are no decimals, or not known yet
	finest   int // encoder: the greatest that a column before the second moments was written with

	// values are what the decoder has decoded so far of count, sum, min and max, in a caller's memory or these buffers.
	// busy is set meanwhile, so that damage cannot make columns need each other.
	values    [cachedColumns][]float64
	buffers   [cachedColumns][vectorLen]float64
	busy      bool
	busyRange bool
}

// cachedColumns are the columns that others are told with: count, sum, min and max.
const cachedColumns = ColumnMax + 1

// familyOf returns the family that a column belongs to.
func (c *vectorCodec) familyOf(column Column) *familyState { return &c.families[column&rateBit>>7] }

// maxResidual bounds how many float64 a value may lie beside its decimal. A sum in floats of some thousand decimals, or
// a difference of two, does; beyond it the residual is no smaller than the float's own bits.
const maxResidual = 1 << 20

// begin forgets what was encoded before, so that bytes depend on nothing but what comes now.
func (c *vectorCodec) begin() {
	for i := range c.families {
		f := &c.families[i]
		f.known, f.hasRange, f.exponent = false, false, -1
	}
}

// beginVector tells the encoder the counts and sums of rows from to to of g, where g has them.
func (c *vectorCodec) beginVector(g *Groups, from, to int) {
	for rate := range c.families {
		f := &c.families[rate]
		f.known, f.hasRange = false, false
		counts, sums := g.Column(ColumnCount|Column(rate)<<7), g.Column(ColumnSum|Column(rate)<<7)
		if counts != nil && sums != nil {
			f.set(counts[from:to], sums[from:to])
			f.exponent = c.exponentNear(f.sums, f.exponent)
			f.finest = f.exponent
			lows, highs := g.Column(ColumnMin|Column(rate)<<7), g.Column(ColumnMax|Column(rate)<<7)
			if lows != nil && highs != nil {
				f.setRange(lows[from:to], highs[from:to])
			}
		}
	}
}

// appendVectorColumn appends values, at most vectorLen, as a vector column.
func (c *vectorCodec) appendVectorColumn(dst []byte, column Column, values []float64) []byte {
	f := c.familyOf(column)
	at := len(dst)
	base := column.Base()
	switch {
	case base == ColumnM2 && f.known && f.exponent >= 0:
		dst = c.appendSecondMoment(dst, values, &f.family, f.exponent)
		if f.finest > f.exponent {
			c.body = c.appendSecondMoment(c.body[:0], values, &f.family, f.finest)
			if len(c.body) < len(dst)-at {
				dst = append(dst[:at], c.body...)
			}
		}
	default:
		e := f.exponent
		if base != ColumnSum || !f.known {
			e = c.exponentNear(values, f.exponent)
		}
		if e >= 0 {
			dst, e = c.appendBestDecimals(dst, values, &f.family, e,
				base > ColumnSum && f.known && base != ColumnMean && !base.IsCounter() &&
					!base.HasThreshold())
			f.finest = max(f.finest, e)
		}
	}
	if size := len(dst) - at; size == 0 || size > 5*len(values) {
		c.body = c.appendFloats(c.body[:0], values)
		if size == 0 || len(c.body) < size {
			dst = append(dst[:at], c.body...)
		}
		if len(dst)-at > mantissaBits*len(values)/8 { // less it does not take
			var ok bool
			if c.body, ok = c.appendPrefixes(c.body[:0], values); ok && len(c.body) < len(dst)-at {
				dst = append(dst[:at], c.body...)
			}
		}
	}
	return dst
}

// appendBestDecimals is appendDecimals at e, or at what suits the exceptions if that is smaller.
func (c *vectorCodec) appendBestDecimals(dst []byte, values []float64, f *family, e int,
	againstMean bool) ([]byte, int) {
	at := len(dst)
	dst = c.appendDecimals(dst, values, f, e, againstMean)
	if more := c.exponentOfExceptions(values, e); more > e {
		c.body = c.appendDecimals(c.body[:0], values, f, more, againstMean)
		if len(c.body) < len(dst)-at {
			return append(dst[:at], c.body...), more
		}
	}
	return dst, e
}

// chooseExponent returns the exponent at which a sample of values are integers over 10^e, but for a few; -1 if too many
// are not at any.
func chooseExponent(values []float64) int {
	var fitting [maxExponent + 1]int
	samples := intcodec.SampleCount(len(values))
	absent, unfit := 0, 0
	for k := range samples {
		v := values[intcodec.SampleIndex(k, samples, len(values))]
		if math.Float64bits(v) == nanBits {
			absent++
			continue
		}
		if e, ok := leastExponent(v); ok {
			fitting[e]++
		} else {
			unfit++
		}
	}
	if unfit*4 > samples-absent {
		return -1
	}
	e := maxExponent
	for left := (samples - absent) / 16; e > 0 && fitting[e] <= left; e-- {
		left -= fitting[e]
	}
	return e
}

// exponentNear is chooseExponent, but faster if the guess, such as the exponent of earlier values, is right.
func (c *vectorCodec) exponentNear(values []float64, guess int) int {
	if guess < 0 {
		return chooseExponent(values)
	}
	samples := intcodec.SampleCount(len(values))
	var memory [intcodec.SampleLen]float64
	sample := memory[:samples]
	for k := range sample {
		sample[k] = values[intcodec.SampleIndex(k, samples, len(values))]
	}
	if c.unfit(sample, guess) > 0 || guess > 0 && c.unfit(sample, guess-1) <= samples/16 {
		return chooseExponent(values)
	}
	return guess
}

// unfit counts those of sample that fitsExponent refuses.
func (c *vectorCodec) unfit(sample []float64, e int) (count int) {
	bad := c.bad[:(len(sample)+7)/8]
	all := decimals(c.ints[:], c.residuals[:], bad, sample, decimal.FloatPowers[e])
	for _, mask := range bad {
		count += bits.OnesCount8(mask)
	}
	if all == 0 {
		return count
	}
	for i, k := range c.residuals[:len(sample)] {
		if bad[i>>3]>>(i&7)&1 == 0 && !isNear(k, c.ints[i]) {
			count++
		}
	}
	return count
}

// isNear reports whether a value at that distance, in float64, from i over a power of ten was that decimal. The margin
// is wide: one decimal lies about 2^52 / i float64 from the next.
func isNear(distance, i int64) bool {
	return distance == 0 || distance <= maxResidual && distance >= -maxResidual &&
		math.Abs(float64(distance)*float64(i)) < 1<<42
}

// exponentOfExceptions returns the exponent at which some of the exceptions of a column that was encoded at e are none,
// or e: where exceptions are few it is not worth trying.
func (c *vectorCodec) exponentOfExceptions(values []float64, e int) int {
	n := len(c.exceptions)
	if n <= len(values)/64 {
		return e
	}
	most := e
	samples := intcodec.SampleCount(n)
	for k := range samples {
		v := values[c.exceptions[intcodec.SampleIndex(k, samples, n)]]
		if least, ok := leastExponent(v); ok {
			most = max(most, least)
		}
	}
	return most
}

// leastExponent returns the least e at which v is, but for few float64, an integer over 10^e.
func leastExponent(v float64) (int, bool) {
	for e := range maxExponent + 1 {
		if fitsExponent(v, e) {
			return e, true
		}
	}
	return 0, false
}

// fitsExponent reports whether v is, but for few float64, an integer over 10^e; if so, it is one at any greater
// exponent, as far as nearest goes.
func fitsExponent(v float64, e int) bool {
	i, ok := nearest(v, decimal.FloatPowers[e])
	if !ok {
		return false
	}
	return isNear(orderedBits(v)-orderedBits(decimalOf(i, decimal.FloatPowers[e])), i)
}

// nearest returns the integer next to v * power; ok is false if it is too large, or v not finite.
func nearest(v, power float64) (int64, bool) {
	x := v * power
	if !(x <= maxDecimal && x >= -maxDecimal) {
		return 0, false
	}
	return int64(math.RoundToEven(x)), true
}

// appendDecimals appends values as integers over 10^e.
func (c *vectorCodec) appendDecimals(dst []byte, values []float64, f *family, e int, againstMean bool) []byte {
	n := len(values)
	all := decimals(c.ints[:], c.residuals[:], c.bad[:(n+7)/8], values, decimal.FloatPowers[e])
	if againstMean {
		intcodec.Sub(c.ints[:n], f.predict(e))
	}
	c.exceptBad(n, false)
	kind := byte(vectorIntegers)
	if againstMean {
		kind = vectorRelativeToMean
	}
	return c.appendIntegers(dst, kind, e, values, all != 0, nil)
}

// exceptBad makes exceptions of the first n groups those in c.bad; their integers become what costs least.
func (c *vectorCodec) exceptBad(n int, scaled bool) {
	c.exceptions = c.exceptions[:0]
	for eight, mask := range c.bad[:(n+7)/8] {
		for ; mask != 0; mask &= mask - 1 {
			i := 8*eight + bits.TrailingZeros8(mask)
			c.exceptions = append(c.exceptions, i)
			c.ints[i], c.residuals[i] = 0, 0
			if i > 0 && !scaled {
				c.ints[i] = c.ints[i-1]
			}
		}
	}
}

// appendIntegers appends a vector column of the integers, residuals and exceptions that have been set. Scales are those
// of the integers, nil for none.
func (c *vectorCodec) appendIntegers(dst []byte, kind byte, e int, values []float64, residuals bool,
	scales []uint8) []byte {
	if n := len(c.exceptions); n > 0 && c.exceptions[0] == 0 && n < len(values) && scales == nil {
		// Exceptions at the front take the first integer that there is.
		first := 0
		for first < n && c.exceptions[first] == first {
			first++
		}
		if first < len(values) {
			for i := range first {
				c.ints[i] = c.ints[first]
			}
		}
	}
	head := kind
	if residuals {
		head |= vectorResiduals
	}
	if len(c.exceptions) > 0 {
		head |= vectorExceptions
	}
	dst = appendZone(append(dst, head, byte(e)), values)
	if ints := c.ints[:len(values)]; scales != nil {
		dst = c.streams.AppendScaled(dst, ints, scales)
	} else {
		dst = c.streams.AppendStream(dst, ints)
	}
	if residuals {
		dst = c.streams.AppendUndifferenced(dst, c.residuals[:len(values)], 4)
	}
	if len(c.exceptions) > 0 {
		dst = appendExceptions(dst, c.exceptions, values)
	}
	return dst
}

// appendSecondMoment appends second moments of decimals whose sums have the exponent e.
func (c *vectorCodec) appendSecondMoment(dst []byte, values []float64, f *family, e int) []byte {
	n := len(values)
	all := momentInts(c.ints[:], c.residuals[:], c.bad[:(n+7)/8], values, f.counts, f.sums, decimal.FloatPowers[e],
		squarePowersOf10[e])
	kind, scales := byte(vectorSecondMoment), []uint8(nil)
	if f.hasRange {
		kind = vectorRelativeToRange
		var expected []int64
		expected, scales = f.secondMomentBounds(e)
		intcodec.Sub(c.ints[:n], expected)
	}
	c.exceptBad(n, f.hasRange)
	return c.appendIntegers(dst, kind, e, values, all != 0, scales)
}

// appendFloats appends values by their ranks.
func (c *vectorCodec) appendFloats(dst []byte, values []float64) []byte {
	for i, v := range values {
		c.ints[i] = orderedBits(v)
	}
	c.exceptions = c.exceptions[:0]
	return c.appendIntegers(dst, vectorFloats, 0, values, false, nil)
}
