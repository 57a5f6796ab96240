package sketch

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/gnocco-db/gnocco/carbonara/intcodec"
)

// A Sketch is the distribution of a group's measures, as an exponential histogram: positive measures are counted in
// buckets whose bounds are powers of 2^(1/32), negative ones in the same buckets by magnitude, zeros and NaNs apart.
// Bucket i counts v with 2^((i-1)/32) < v <= 2^(i/32), as bucket i of a Prometheus native histogram of schema 5 and
// bucket i-1 of an OTLP exponential histogram of scale 5 do. Bucket 32,769 is +Inf's.
//
// Counts of buckets add up: the sketch of several groups, in time or of several metrics, is exactly that of all their
// measures. A value read from it is at most 1.1 % off.
//
// A Sketch is immutable, in the bytes that a split stores, which docs/format/split.md draws. The zero Sketch is that of
// no measures.
type Sketch string

// relativeError is the greatest of a value that a sketch tells: (b-1)/(b+1) with b = 2^(1/32).
const relativeError = 0.010830001253373618

const (
	sketchSchema   = 5
	bucketsOfTwice = 1 << sketchSchema // from a value to twice of it

	infiniteBucket = 1024*bucketsOfTwice + 1 // its measures are infinite
	lowestBucket   = -1022 * bucketsOfTwice  // ends at the least normal float64; lesser values count as zero

	mantissaBits = 52
	mantissaMask = 1<<mantissaBits - 1
)

// The first byte of a sketch: the schema, and which parts follow.
const (
	sketchSchemaMask = 0x0f
	sketchZeros      = 0x10 // uvarint: how many
	sketchNaNs       = 0x20 // uvarint: how many
	sketchNegative   = 0x40 // buckets
	sketchPositive   = 0x80 // buckets
)

// bucketBounds are the mantissas of 2^(j/32), rounded to float64.
var bucketBounds = [bucketsOfTwice + 1]uint64{
	0x0000000000000, 0x059b0d3158574, 0x0b5586cf9890f, 0x11301d0125b51, 0x172b83c7d517b, 0x1d4873168b9aa,
	0x2387a6e756238, 0x29e9df51fdee1, 0x306fe0a31b715, 0x371a7373aa9cb, 0x3dea64c123422, 0x44e086061892d,
	0x4bfdad5362a27, 0x5342b569d4f82, 0x5ab07dd485429, 0x6247eb03a5585, 0x6a09e667f3bcd, 0x71f75e8ec5f74,
	0x7a11473eb0187, 0x82589994cce13, 0x8ace5422aa0db, 0x93737b0cdc5e5, 0x9c49182a3f090, 0xa5503b23e255d,
	0xae89f995ad3ad, 0xb7f76f2fb5e47, 0xc199bdd85529c, 0xcb720dcef9069, 0xd5818dcfba487, 0xdfc97337b9b5f,
	0xea4afa2a490da, 0xf50765b6e4540, mantissaMask,
}

// boundsBelow is, for the six high bits of a mantissa, how many bounds lie below all mantissas that have them. Bounds
// are more than 1/64 apart, so that at most one further bound lies below any of these.
var boundsBelow = func() (below [64]uint8) {
	for high := range below {
		for _, bound := range bucketBounds[:bucketsOfTwice] {
			if bound < uint64(high)<<(mantissaBits-6) {
				below[high]++
			}
		}
	}
	return below
}()

// bucketOf returns the bucket of a magnitude, given as the bits of a float64 that is normal or infinite.
func bucketOf(magnitude uint64) int32 {
	exponent, mantissa := int32(magnitude>>mantissaBits)-1023, magnitude&mantissaMask
	if exponent == 1024 {
		return infiniteBucket
	}
	j := boundsBelow[mantissa>>(mantissaBits-6)]
	if mantissa > bucketBounds[j] {
		j++
	}
	return exponent*bucketsOfTwice + int32(j)
}

// bucketValue returns the value that stands for all of a bucket: the one whose relative distances from both bounds are
// equal.
func bucketValue(index int32) float64 {
	if index >= infiniteBucket {
		return math.Inf(1)
	}
	bound := math.Float64frombits(1023<<mantissaBits | bucketBounds[index&(bucketsOfTwice-1)])
	return math.Ldexp(bound*(1-relativeError), int(index>>sketchSchema))
}

// bucket is how many measures fall into one.
type bucket struct {
	index int32
	count uint64
}

// Encoder is the memory in which sketches are made. The zero Encoder works.
type Encoder struct {
	counts  []uint64 // by bucket, all 0 between uses
	indexes []int32
	buckets [2][]bucket // negative, positive
}

// denseBuckets is how many buckets from the least to the greatest are counted in an array, and denseShare how many for
// each measure at most. Others are sorted, a few by insertion.
const (
	denseBuckets = 4 << 10
	denseShare   = 4
	fewIndexes   = 24
)

// Append appends the sketch of values.
func (e *Encoder) Append(dst []byte, values []float64) []byte {
	n := len(values)
	if n == 1 {
		// Most groups of sparse scrapes have one. The general way appends the same bytes.
		b := math.Float64bits(values[0])
		if magnitude := b &^ (1 << 63); magnitude >= 1<<mantissaBits && values[0] == values[0] {
			dst = append(dst, byte(sketchSchema+4)|sketchNegative<<(1-b>>63), 0)
			dst = intcodec.AppendUvarint(dst, intcodec.Zigzag(int64(bucketOf(magnitude))))
			return append(dst, 0, 1)
		}
	}
	var zeros, nans uint64
	e.indexes = slices.Grow(e.indexes[:0], n)[:n]
	negative, positive := 0, 0 // as many indexes, from the end and from the begin
	for _, v := range values {
		b := math.Float64bits(v)
		magnitude := b &^ (1 << 63)
		switch {
		case magnitude < 1<<mantissaBits:
			zeros++
		case v != v:
			nans++
		case v > 0:
			e.indexes[positive] = bucketOf(magnitude)
			positive++
		default:
			negative++
			e.indexes[n-negative] = bucketOf(magnitude)
		}
	}
	e.buckets[0] = e.count(e.buckets[0][:0], e.indexes[n-negative:])
	e.buckets[1] = e.count(e.buckets[1][:0], e.indexes[:positive])
	return appendParts(dst, zeros, nans, &e.buckets)
}

// appendParts appends a sketch of so many zeros and NaNs, and the buckets of both sides: negative, positive.
func appendParts(dst []byte, zeros, nans uint64, buckets *[2][]bucket) []byte {
	head, at := byte(sketchSchema+4), len(dst)
	dst = append(dst, 0)
	for i, count := range [2]uint64{zeros, nans} {
		if count > 0 {
			head |= sketchZeros << i
			dst = intcodec.AppendUvarint(dst, count)
		}
	}
	for side, of := range buckets {
		if len(of) > 0 {
			head |= sketchNegative << side
			dst = appendBuckets(dst, of)
		}
	}
	dst[at] = head
	return dst
}

// count appends the buckets of these indexes, ascending.
func (e *Encoder) count(dst []bucket, indexes []int32) []bucket {
	if len(indexes) == 0 {
		return dst
	}
	low, high := indexes[0], indexes[0]
	for _, i := range indexes[1:] {
		low, high = min(low, i), max(high, i)
	}
	if int(high-low) >= min(denseBuckets, denseShare*len(indexes)) {
		sortIndexes(indexes)
		for _, i := range indexes {
			if n := len(dst); n > 0 && dst[n-1].index == i {
				dst[n-1].count++
			} else {
				dst = append(dst, bucket{i, 1})
			}
		}
		return dst
	}
	if e.counts == nil {
		e.counts = make([]uint64, denseBuckets)
	}
	counts := e.counts[:high-low+1]
	for _, i := range indexes {
		counts[i-low]++
	}
	for i, n := range counts {
		if n > 0 {
			dst = append(dst, bucket{low + int32(i), n})
			counts[i] = 0
		}
	}
	return dst
}

func sortIndexes(indexes []int32) {
	if len(indexes) > fewIndexes {
		slices.Sort(indexes)
		return
	}
	for i := 1; i < len(indexes); i++ {
		v, j := indexes[i], i
		for ; j > 0 && indexes[j-1] > v; j-- {
			indexes[j] = indexes[j-1]
		}
		indexes[j] = v
	}
}

// Numbers of buckets are Rice codes: a quotient in unary, zeros that end with a one, and the low bits. A quotient of
// maxQuotient stands for a number in 64 bits.
const maxQuotient = 16

// appendBuckets appends buckets, ascending, at least one: uvarint their number less 1, varint the first index, a byte
// with the low bits of counts (low half) and of gaps (high half), then of each bucket its count less 1 and, but for the
// last, how many empty buckets follow, as Rice codes from the low bit up.
func appendBuckets(dst []byte, buckets []bucket) []byte {
	last := len(buckets) - 1
	dst = intcodec.AppendUvarint(dst, uint64(last))
	dst = intcodec.AppendUvarint(dst, intcodec.Zigzag(int64(buckets[0].index)))
	var counts, gaps uint64
	for _, b := range buckets {
		counts += b.count - 1
	}
	gaps = uint64(buckets[last].index-buckets[0].index) - uint64(last)
	ofCounts, ofGaps := lowBits(counts, last+1), lowBits(gaps, last)
	dst = append(dst, byte(ofCounts|ofGaps<<4))
	w := bitWriter{dst: dst}
	for i, b := range buckets {
		w.rice(b.count-1, ofCounts)
		if i < last {
			w.rice(uint64(buckets[i+1].index-b.index-1), ofGaps)
		}
	}
	return w.end()
}

// lowBits returns how many low bits Rice codes of n numbers of this sum have.
func lowBits(sum uint64, n int) uint {
	if n == 0 || sum == 0 {
		return 0
	}
	// Of geometrically distributed numbers the best is about log2 of the mean times ln 2.
	return min(15, uint(bits.Len64(sum*11/(16*uint64(n)))))
}

// bitWriter appends bits, from the low one of each byte up, at most 32 at a time.
type bitWriter struct {
	dst  []byte
	bits uint64
	n    uint
}

func (w *bitWriter) put(v uint64, width uint) {
	w.bits |= v << w.n
	if w.n += width; w.n >= 32 {
		w.dst = binary.LittleEndian.AppendUint32(w.dst, uint32(w.bits))
		w.bits >>= 32
		w.n -= 32
	}
}

func (w *bitWriter) rice(v uint64, low uint) {
	if q := v >> low; q < maxQuotient {
		w.put((v&(1<<low-1)<<1|1)<<q, uint(q)+1+low)
		return
	}
	w.put(0, maxQuotient)
	w.put(v&math.MaxUint32, 32)
	w.put(v>>32, 32)
}

func (w *bitWriter) end() []byte {
	for ; w.n > 0; w.n -= min(w.n, 8) {
		w.dst = append(w.dst, byte(w.bits))
		w.bits >>= 8
	}
	return w.dst
}
