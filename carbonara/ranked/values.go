package ranked

import (
	"math"
	"math/bits"
	"slices"
)

// Values finds values by their rank: as if they were sorted, -0 below +0 and NaN last. Its memory is reused by
// the next Set. The zero value holds no values.
type Values struct {
	keys   []int64
	below  int // how many ranks lie below those of keys, which are left out
	placed int // the keys before are where they belong, as far as they were asked for

	low, high int64 // keys of the last SetNear between which it looks first; equal: nowhere
}

// Set takes a copy of values.
func (r *Values) Set(values []float64) {
	r.keys, r.below, r.placed = slices.Grow(r.keys[:0], len(values))[:len(values)], 0, 0
	for i, v := range values {
		r.keys[i] = sortKey(v)
	}
}

// SetNear is Set where only a rank and the next one will be asked for. If these are near those of the SetNear before,
// as in rows of a table that changes slowly, it copies only the values around them.
func (r *Values) SetNear(values []float64, rank int) {
	last := len(values) - 1
	if len(values) < manyKeys {
		r.Set(values)
		return
	}
	if r.low < r.high {
		r.keys, r.placed = slices.Grow(r.keys[:0], len(values))[:len(values)], 0
		keys, low, below, near, width := r.keys, r.low, 0, 0, uint64(r.high)-uint64(r.low)
		for _, v := range values {
			key := sortKey(v)
			keys[near] = key
			var less, within int // no branches
			if key < low {
				less = 1
			}
			if uint64(key)-uint64(low) <= width {
				within = 1
			}
			below, near = below+less, near+within
		}
		r.keys, r.below = keys[:near], below
		if below <= rank && min(rank+1, last) < below+near && near <= len(values)/4 {
			return
		}
	}
	r.Set(values)
	margin := len(values) / 32
	r.low = sortKey(r.At(max(0, rank-margin)))
	r.At(rank)
	r.At(min(rank+1, last))
	r.high = sortKey(r.At(min(rank+1+margin, last)))
}

// At returns the value of a rank, counted from 0. Ranks must be asked for in ascending order, or again.
func (r *Values) At(rank int) float64 {
	if rank -= r.below; rank >= r.placed {
		place(r.keys[r.placed:], rank-r.placed)
		r.placed = rank + 1
	}
	return valueOf(r.keys[rank])
}

// Sort makes all ranks cheap: that is faster from a handful of them on.
func (r *Values) Sort() {
	slices.Sort(r.keys)
	r.placed = len(r.keys)
}

const lastKey = math.MaxInt64

// sortKey is the value's rank among all numbers, by which they are compared as integers; every NaN has the last.
func sortKey(v float64) int64 {
	if v != v {
		return lastKey
	}
	b := int64(math.Float64bits(v))
	return b ^ int64(uint64(b>>63)>>1)
}

// valueOf is the inverse of sortKey.
func valueOf(key int64) float64 { return math.Float64frombits(uint64(key ^ int64(uint64(key>>63)>>1))) }

const (
	fewKeys  = 12  // are sorted rather than divided
	manyKeys = 256 // are worth a look near the last ones first
)

// place brings the key of a rank where it belongs, greater or equal ones behind it, others before it. It takes a time
// in proportion to their number, unless pivots are bad time and again: then it sorts.
func place(keys []int64, rank int) {
	for divisions := 3 * bits.Len(uint(len(keys))); len(keys) > fewKeys && divisions > 0; divisions-- {
		if rank == 0 {
			placeLeast(keys)
			return
		}
		pivot := pivotOf(keys)
		switch less := divide(keys, pivot); {
		case rank < less:
			keys = keys[:less]
		case less > 0:
			keys, rank = keys[less:], rank-less
		case pivot == math.MaxInt64:
			return // all are equal
		default: // the pivot is the least: leave it out, however often it is there
			equal := divide(keys, pivot+1)
			if rank < equal {
				return
			}
			keys, rank = keys[equal:], rank-equal
		}
	}
	slices.Sort(keys)
}

func placeLeast(keys []int64) {
	least := 0
	for i, key := range keys {
		if key < keys[least] {
			least = i
		}
	}
	keys[0], keys[least] = keys[least], keys[0]
}

// divide moves the keys below the pivot to the front and returns how many they are. It does not branch on them.
func divide(keys []int64, pivot int64) int {
	less := 0
	for i, key := range keys {
		keys[i] = keys[less]
		keys[less] = key
		if key < pivot {
			less++
		}
	}
	return less
}

// pivotOf returns the middle of three keys; of many keys, of three such.
func pivotOf(keys []int64) int64 {
	n := len(keys)
	if n < 256 {
		return middle(keys[n/4], keys[n/2], keys[n/4*3])
	}
	at := func(eighth int) int64 { return keys[(n-1)/8*eighth] }
	return middle(middle(at(0), at(1), at(2)), middle(at(3), at(4), at(5)), middle(at(6), at(7), at(8)))
}

func middle(a, b, c int64) int64 { return max(min(a, b), min(max(a, b), c)) }

// Percentile returns the p-th percentile of n > 0 values, by linear interpolation between the two nearest ranks:
// low*(ceil-rank) + high*(rank-floor), and the value itself where the rank is whole.
func (r *Values) Percentile(n, p int) float64 {
	rank := float64(float64(n-1) * (float64(p) / 100)) // not fused with the differences below
	floor := math.Floor(rank)
	low := r.At(int(floor))
	if floor == rank {
		return low
	}
	return float64(low*(floor+1-rank)) + float64(r.At(int(floor)+1)*(rank-floor))
}
