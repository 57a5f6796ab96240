package sketch

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/gnocco-db/gnocco/carbonara/intcodec"
	"github.com/gnocco-db/gnocco/internal/corruption"
)

// A Distribution adds sketches up. The zero Distribution has no measures.
type Distribution struct {
	zeros, nans uint64
	sides       [2]side // by magnitude: negative, positive
	bytes       []byte  // of the sketch that is being added, and 8 more; or of the one that is made
	buckets     [2][]bucket
}

// side is counts of consecutive buckets.
type side struct {
	first  int32 // the bucket of counts[0]
	counts []uint64
}

// Reset takes all measures out.
func (d *Distribution) Reset() {
	d.zeros, d.nans = 0, 0
	for i := range d.sides {
		d.sides[i].counts = d.sides[i].counts[:0]
	}
}

// Add adds the measures of a sketch. An error wraps carbonara.ErrCorrupt; d then has some of them.
func (d *Distribution) Add(s Sketch) error {
	if len(s) == 0 {
		return nil
	}
	d.bytes = append(append(d.bytes[:0], s...), 0, 0, 0, 0, 0, 0, 0, 0)
	src := d.bytes[:len(s)]
	head := src[0]
	src = src[1:]
	if head&sketchSchemaMask != sketchSchema+4 {
		return corrupt("schema %d", int(head&sketchSchemaMask)-4)
	}
	for flag, count := range [2]*uint64{&d.zeros, &d.nans} {
		if head&(sketchZeros<<flag) == 0 {
			continue
		}
		n, rest, ok := intcodec.ConsumeUvarint(src)
		if !ok {
			return corrupt("count")
		}
		*count += n
		src = rest
	}
	for i := range d.sides {
		if head&(sketchNegative<<i) == 0 {
			continue
		}
		var ok bool
		if src, ok = d.sides[i].add(src); !ok {
			return corrupt("buckets")
		}
	}
	if len(src) > 0 {
		return corrupt("%d bytes after the end", len(src))
	}
	return nil
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: sketch: "+format, append([]any{corruption.Err}, args...)...)
}

// add adds buckets as appendBuckets appends them, and returns what follows them in src, behind whose end 8 bytes more
// can be read.
func (d *side) add(src []byte) (rest []byte, ok bool) {
	last, src, ok := intcodec.ConsumeUvarint(src)
	if !ok || last > infiniteBucket-lowestBucket {
		return nil, false
	}
	u, src, ok := intcodec.ConsumeUvarint(src)
	index := intcodec.Unzigzag(u)
	if !ok || len(src) == 0 || index < lowestBucket || index+int64(last) > infiniteBucket {
		return nil, false
	}
	ofCounts, ofGaps := uint(src[0]&0x0f), uint(src[0]>>4)
	r := bitReader{src: src[1 : len(src) : len(src)+8], end: 8 * (len(src) - 1)}
	d.reach(int32(index), int(last)+1)
	counts, at := d.counts, int(index)-int(d.first)
	end := infiniteBucket - int(d.first)
	for ; ; last-- {
		count, gap := uint64(0), uint64(0)
		// Both numbers are mostly in one word, of 57 bits.
		w := r.word()
		of := uint(bits.TrailingZeros64(w))
		rest := w >> (of + 1) >> ofCounts
		between := uint(bits.TrailingZeros64(rest))
		if last > 0 && of < maxQuotient && between < maxQuotient && ofCounts+ofGaps <= 57-2*maxQuotient {
			count = uint64(of)<<ofCounts | w>>(of+1)&(1<<ofCounts-1)
			gap = uint64(between)<<ofGaps | rest>>(between+1)&(1<<ofGaps-1)
			r.at += int(of + ofCounts + between + ofGaps + 2)
		} else if count = r.rice(ofCounts); last > 0 {
			gap = r.rice(ofGaps)
		}
		for at >= len(counts) {
			counts = append(counts, 0)
		}
		counts[at] += count + 1
		if last == 0 {
			break
		}
		if at += 1 + int(gap); gap > infiniteBucket-lowestBucket || at > end || r.at > r.end {
			d.counts = counts
			return nil, false
		}
	}
	d.counts = counts
	if r.at > r.end {
		return nil, false
	}
	return src[1+(r.at+7)/8:], true
}

// reach makes counts begin at bucket index or before, and have room for so many buckets from there.
func (d *side) reach(index int32, buckets int) {
	switch {
	case len(d.counts) == 0:
		d.first = index
	case index < d.first:
		d.counts = slices.Insert(d.counts, 0, make([]uint64, d.first-index)...)
		d.first = index
	}
	if missing := int(index-d.first) + buckets - len(d.counts); missing > 0 {
		d.counts = append(d.counts, make([]uint64, missing)...)
	}
}

// bitReader reads what a bitWriter wrote. It reads up to 8 bytes behind the end of src; at then exceeds end.
type bitReader struct {
	src     []byte
	at, end int // in bits
}

func (r *bitReader) word() uint64 {
	from := min(r.at>>3, len(r.src))
	return binary.LittleEndian.Uint64(r.src[from:from+8]) >> (r.at & 7) // 57 bits at least
}

func (r *bitReader) rice(low uint) uint64 {
	w := r.word()
	if q := uint(bits.TrailingZeros64(w)); q < maxQuotient {
		r.at += int(q + 1 + low)
		return uint64(q)<<low | w>>(q+1)&(1<<low-1)
	}
	r.at += maxQuotient
	v := r.word() & math.MaxUint32
	r.at += 32
	v |= r.word() & math.MaxUint32 << 32
	r.at += 32
	return v
}

// AddValue adds one measure.
func (d *Distribution) AddValue(v float64) {
	b := math.Float64bits(v)
	switch magnitude := b &^ (1 << 63); {
	case magnitude < 1<<mantissaBits:
		d.zeros++
	case v != v:
		d.nans++
	default:
		s, index := &d.sides[1-b>>63], bucketOf(magnitude)
		s.reach(index, 1)
		s.counts[index-s.first]++
	}
}

// Count returns the number of measures.
func (d *Distribution) Count() uint64 {
	n := d.zeros + d.nans
	for i := range d.sides {
		for _, count := range d.sides[i].counts {
			n += count
		}
	}
	return n
}

// Percentile returns the p-th percentile, by rule 9 for the values that buckets stand for; NaN without measures.
func (d *Distribution) Percentile(p float64) float64 { return d.Quantile(p / 100) }

// Quantile is Percentile of a share from 0 to 1.
func (d *Distribution) Quantile(q float64) float64 { return d.quantile(q, d.at) }

// QuantileNaNFirst is Quantile where NaN comes before all other values, as Prometheus has it.
func (d *Distribution) QuantileNaNFirst(q float64) float64 {
	return d.quantile(q, func(rank uint64) float64 {
		if rank < d.nans {
			return math.NaN()
		}
		return d.at(rank - d.nans)
	})
}

func (d *Distribution) quantile(q float64, at func(rank uint64) float64) float64 {
	n := d.Count()
	if n == 0 {
		return math.NaN()
	}
	rank := float64(float64(n-1) * q)
	floor := math.Floor(rank)
	low := at(uint64(floor))
	if floor == rank {
		return low
	}
	high := at(uint64(floor) + 1)
	return float64(low*(floor+1-rank)) + float64(high*(rank-floor))
}

// at returns the value of a rank, from 0.
func (d *Distribution) at(rank uint64) float64 {
	negative, positive := &d.sides[0], &d.sides[1]
	for i, count := range slices.Backward(negative.counts) {
		if rank < count {
			return -bucketValue(negative.first + int32(i))
		}
		rank -= count
	}
	if rank < d.zeros {
		return 0
	}
	rank -= d.zeros
	for i, count := range positive.counts {
		if rank < count {
			return bucketValue(positive.first + int32(i))
		}
		rank -= count
	}
	return math.NaN()
}

// Sketch returns the sketch of d's measures.
func (d *Distribution) Sketch() Sketch {
	for i, side := range d.sides {
		d.buckets[i] = d.buckets[i][:0]
		for j, count := range side.counts {
			if count > 0 {
				d.buckets[i] = append(d.buckets[i], bucket{side.first + int32(j), count})
			}
		}
	}
	d.bytes = appendParts(d.bytes[:0], d.zeros, d.nans, &d.buckets)
	return Sketch(d.bytes)
}
