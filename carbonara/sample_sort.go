package carbonara

import "slices"

// comparators are sorting networks for samples of 8, 16 and 32: which two places to put in order, one pair after the other.
// Unlike a sort that branches, whose every second branch is mispredicted, they take the same short time whatever there is.
var comparators = [...][][2]uint8{mergeNetwork(8), mergeNetwork(16), mergeNetwork(sampleLen)}

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

// sortSample sorts as many integers as samplesOf answers.
func sortSample(sample []int64) {
	var network [][2]uint8
	switch len(sample) {
	case 8:
		network = comparators[0]
	case 16:
		network = comparators[1]
	case sampleLen:
		network = comparators[2]
	default:
		slices.Sort(sample)
		return
	}
	var s [sampleLen]int64
	copy(s[:], sample)
	for _, pair := range network {
		low, high := pair[0]%sampleLen, pair[1]%sampleLen
		a, b := s[low], s[high]
		s[low], s[high] = min(a, b), max(a, b)
	}
	copy(sample, s[:])
}
