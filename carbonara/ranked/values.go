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
	placed int // the ranks before are where they belong, as far as they were asked for
}

// Set takes a copy of values.
func (r *Values) Set(values []float64) {
	r.keys, r.placed = slices.Grow(r.keys[:0], len(values))[:len(values)], 0
	for i, v := range values {
		r.keys[i] = sortKey(v)
	}
}

// At returns the value of a rank, counted from 0. Ranks must be asked for in ascending order, or again.
func (r *Values) At(rank int) float64 {
	if rank >= r.placed {
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

// fewKeys are sorted rather than divided.
const fewKeys = 12

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
