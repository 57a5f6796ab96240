package replica

import (
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// LeastInterleaved is of how many measures Interleaved says something.
const LeastInterleaved = 16

// Interleaved reports whether measures, in order of time, look like those of two senders without a label that tells
// them apart: every other one has the same interval, of a second or more, to within a hundredth, and they don't halve
// it. Senders that happen to halve it look like one that is twice as fast; their other series tell.
func Interleaved(times []carbonara.Timestamp) bool {
	if len(times) < LeastInterleaved {
		return false
	}
	whole, shift := times[2]-times[0], times[1]-times[0]
	if whole+whole/100 < carbonara.Timestamp(time.Second) || distance(2*shift, whole) <= whole/10 {
		return false
	}
	for i := range times[:len(times)-2] {
		if distance(times[i+2]-times[i], whole) > whole/100 {
			return false
		}
	}
	return true
}

func distance(a, b carbonara.Timestamp) carbonara.Timestamp { return max(a, b) - min(a, b) }
