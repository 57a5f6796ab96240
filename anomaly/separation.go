package anomaly

import (
	"cmp"
	"slices"

	"github.com/prometheus/prometheus/model/labels"
)

// Pair is a label with a value, and how many series have it and the pairs before it, and moved.
type Pair struct {
	Label string `json:"label"`
	Value string `json:"value"`
	Moved int    `json:"moved"`
	Of    int    `json:"of"`
}

const (
	mostPairs     = 3    // of a separation
	leastSeparate = 0.75 // how well they separate, from 0 to 1
	leastGain     = 0.02 // that a further pair brings
)

// Separate returns the pairs that all or most series that moved have, and few or none of those that did not; none
// where no pairs tell them apart. A pair's worth is the harmonic mean of the share of the moved that have it, and of
// the share of those with it that moved.
func Separate(series int, moved func(i int) bool, labelsOf func(i int) labels.Labels) (pairs []Pair) {
	total, left := 0, make([]int, series) // the series that have all pairs so far
	for i := range left {
		if left[i] = i; moved(i) {
			total++
		}
	}
	if total == 0 || total == series {
		return nil
	}
	best := 0.0
	for len(pairs) < mostPairs {
		counts := make(map[labels.Label]*Pair)
		for _, i := range left {
			labelsOf(i).Range(func(l labels.Label) {
				p := counts[l]
				if p == nil {
					p = &Pair{Label: l.Name, Value: l.Value}
					counts[l] = p
				}
				if p.Of++; moved(i) {
					p.Moved++
				}
			})
		}
		worth := func(p *Pair) float64 { return 2 * float64(p.Moved) / float64(total+p.Of) }
		var next *Pair
		for _, p := range counts {
			if next == nil || cmp.Or(cmp.Compare(worth(p), worth(next)), cmp.Compare(next.Label, p.Label),
				cmp.Compare(next.Value, p.Value)) > 0 {
				next = p
			}
		}
		if next == nil || worth(next) < best+leastGain {
			break
		}
		best, pairs = worth(next), append(pairs, *next)
		left = slices.DeleteFunc(left, func(i int) bool { return labelsOf(i).Get(next.Label) != next.Value })
	}
	if best < leastSeparate {
		return nil
	}
	return pairs
}
