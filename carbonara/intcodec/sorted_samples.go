package intcodec

import (
	"math/bits"
	"slices"
)

// comparators are sorting networks for samples of 8, 16 and 32: which two places to put in order, one pair after the
// other. Unlike a sort that branches, whose every second branch is mispredicted, they take the same short time for any
// sample.
var comparators = [...][][2]uint8{mergeNetwork(8), mergeNetwork(16), mergeNetwork(SampleLen)}

// mergeNetwork returns Batcher's odd-even merge sort of n, a power of two.
func mergeNetwork(n int) (pairs [][2]uint8) {
	for size := 1; size < n; size *= 2 {
		for step := size; step >= 1; step /= 2 {
			for from := step % size; from+step < n; from += 2 * step {
				for i := from; i < min(from+step, n-step); i++ {
					if i/(2*size) == (i+step)/(2*size) {
						pairs = append(pairs, [2]uint8{uint8(i), uint8(i + step)})
					}
				}
			}
		}
	}
	return pairs
}

// networkOf returns the comparators for so many numbers, nil if there are none.
func networkOf(n int) [][2]uint8 {
	switch n {
	case 8:
		return comparators[0]
	case 16:
		return comparators[1]
	case SampleLen:
		return comparators[2]
	}
	return nil
}

// sortSample sorts as many integers as SampleCount answers.
func sortSample(sample []int64) {
	network := networkOf(len(sample))
	if network == nil {
		slices.Sort(sample)
		return
	}
	var s [SampleLen]int64
	copy(s[:], sample)
	for _, pair := range network {
		low, high := pair[0]%SampleLen, pair[1]%SampleLen
		a, b := s[low], s[high]
		s[low], s[high] = min(a, b), max(a, b)
	}
	copy(sample, s[:])
}

// orderSamples are samples of the integers of a stream, of their differences and of the differences of these, side by
// side. The fourth column is none.
type orderSamples [SampleLen][4]int64

// column copies one of the first n rows to dst.
func (s *orderSamples) column(dst *[SampleLen]int64, n, column int) []int64 {
	for i := range dst[:n] {
		dst[i] = s[i][column&3]
	}
	return dst[:n]
}

// sortSamplesGeneric sorts each column of the first n rows, and adds up how many bits their distances from the median
// take, as zigzag.
func sortSamplesGeneric(samples *orderSamples, costs *[4]int64, n int) {
	var memory [SampleLen]int64
	for order := range 3 {
		sample := samples.column(&memory, n, order)
		sortSample(sample)
		median := sample[n/2]
		costs[order] = 0
		for i, v := range sample {
			samples[i][order] = v
			costs[order] += int64(bits.Len64(Zigzag(v - median)))
		}
	}
}
