package main

import (
	"fmt"
	"math"
	"slices"
)

// confidence is that of the intervals, at least.
const confidence = 0.95

// verdict is what pairs of runs say: the median of head's time relative to base's, and its confidence interval.
type verdict struct {
	ratio, lo, hi float64
}

// judge takes the ratios of pairs. It assumes nothing of how they are distributed: runs that something else disturbed
// are rare and far off, to which the median and its interval are indifferent. Fewer than six pairs have no interval.
func judge(ratios []float64) verdict {
	sorted := slices.Sorted(slices.Values(ratios))
	n := len(sorted)
	v := verdict{(sorted[(n-1)/2] + sorted[n/2]) / 2, 0, math.Inf(1)}
	if k := orderOf(n); k > 0 {
		v.lo, v.hi = sorted[k-1], sorted[n-k]
	}
	return v
}

// orderOf returns which of n values, counted from the least and from the largest, bound the median; 0 for none.
func orderOf(n int) int {
	outside := 0.0 // that fewer than k+1 values lie on one given side of the median, as of n tosses of a coin
	ways := math.Exp2(-float64(n))
	for k := range n {
		if outside += ways; 2*outside > 1-confidence {
			return k
		}
		ways *= float64(n-k) / float64(k+1)
	}
	return 0
}

// slower reports whether head is slower than the limit allows, beyond doubt.
func (v verdict) slower(limit float64) bool { return v.lo > limit }

func (v verdict) String() string { return fmt.Sprintf("%.3f (%.3f to %.3f)", v.ratio, v.lo, v.hi) }

// decide measures pairs, and once more if head seems slower: it is only if both say so. It ends as soon as head is
// fast enough beyond doubt.
func decide(limit float64, pairs int, measure func(pair int) (ratio float64, err error)) (
	verdicts []verdict, slower bool, err error) {
	for range 2 {
		var ratios []float64
		var v verdict
		for pair := range pairs {
			ratio, err := measure(pair)
			if err != nil {
				return verdicts, false, err
			}
			ratios = append(ratios, ratio)
			if v = judge(ratios); v.hi <= limit {
				break
			}
		}
		verdicts = append(verdicts, v)
		if !v.slower(limit) {
			return verdicts, false, nil
		}
	}
	return verdicts, true, nil
}
