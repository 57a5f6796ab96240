package replica

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Number is that of a replica, 0 for none.
type Number uint16

const (
	millisecond = carbonara.Timestamp(time.Millisecond)
	firstDigits = 500_001 // no multiple of 10 ns, nor are the others: clocks of microseconds never show one
	step        = 330
	numbers     = (1_000_000 - firstDigits) / step
)

// NumberOf returns the number of a replica.
func NumberOf(name string) Number {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return Number(h.Sum32()%numbers) + 1
}

// Mark returns the timestamp of a measure of a replica, from its millisecond. A timestamp of no replica whose digits
// are a number becomes the next nanosecond.
func Mark(t carbonara.Timestamp, n Number) carbonara.Timestamp {
	switch {
	case n != 0:
		return t - t%millisecond + firstDigits + step*carbonara.Timestamp(n-1)
	case Of(t) != 0:
		return t + 1
	}
	return t
}

// Of returns the replica of a timestamp.
func Of(t carbonara.Timestamp) Number {
	digits := t%millisecond - firstDigits
	if digits < 0 || digits%step != 0 || digits/step >= numbers {
		return 0
	}
	return Number(digits/step) + 1
}

// Plain returns a timestamp without the number of its replica.
func Plain(t carbonara.Timestamp) carbonara.Timestamp {
	if Of(t) != 0 {
		t -= t % millisecond
	}
	return t
}

const (
	least   = carbonara.Timestamp(6 * time.Second) // least D
	slowest = carbonara.Timestamp(5 * time.Minute) // greatest scrape interval

	// Reach is how far from a measure others change its verdict, by that of a third one between them at most.
	Reach = carbonara.Timestamp(20 * time.Minute)
)

// Verdicts says which measures of a series count. It keeps its memory from one series to the next.
type Verdicts struct {
	Counts []bool

	numbers []Number // of the measures
	order   []Number // those that occur, ascending
	own     []int    // the measures of a replica
}

// Judge judges measures, ascending, and reports whether there are several replicas: if not, all count.
func (v *Verdicts) Judge(timestamps []carbonara.Timestamp) (several bool) {
	v.numbers, v.order, v.Counts = v.numbers[:0], v.order[:0], v.Counts[:0]
	for _, t := range timestamps {
		n := Of(t)
		v.numbers = append(v.numbers, n)
		if len(v.order) > 0 && v.order[0] == n {
			continue
		}
		if at, found := slices.BinarySearch(v.order, n); !found {
			v.order = slices.Insert(v.order, at, n)
		}
	}
	several = len(v.order) > 1
	for _, n := range v.numbers {
		v.Counts = append(v.Counts, !several || n == 0)
	}
	for _, n := range v.order {
		if !several || n == 0 {
			continue
		}
		v.ofReplica(n)
		for k, i := range v.own {
			v.Counts[i] = !v.loses(timestamps, k, false, func(j int) bool { return v.numbers[j] != n && v.Counts[j] })
		}
	}
	return several
}

// ofReplica makes own the measures of a replica.
func (v *Verdicts) ofReplica(n Number) {
	v.own = v.own[:0]
	for i, of := range v.numbers {
		if of == n {
			v.own = append(v.own, i)
		}
	}
}

// loses reports whether the k-th measure of own loses to others. Forever: also if more of these come.
func (v *Verdicts) loses(timestamps []carbonara.Timestamp, k int, forever bool, to func(j int) bool) bool {
	i, interval := v.own[k], slowest
	t := timestamps[i]
	if k > 0 {
		interval = min(interval, t-timestamps[v.own[k-1]])
	}
	if k+1 < len(v.own) {
		interval = min(interval, timestamps[v.own[k+1]]-t)
	}
	reach := max(2*interval, least)
	before, after := reach, reach
	for j := i - 1; j >= 0 && t-timestamps[j] < before; j-- {
		if to(j) {
			before = t - timestamps[j]
		}
	}
	for j := i + 1; j < len(timestamps) && timestamps[j]-t < after; j++ {
		if to(j) {
			after = timestamps[j] - t
		}
	}
	gap, d := before+after, interval/2
	if !forever {
		d = max(d, min(interval/4*3, (gap-interval/8*9)/2))
	}
	return gap < 2*interval || min(before, after) < max(d, least)
}

// Settled returns which measures are settled as lost, after Judge reported several replicas.
func (v *Verdicts) Settled(timestamps []carbonara.Timestamp) []bool {
	lost := make([]bool, len(timestamps))
	first := v.order[0]
	if first == 0 {
		first = v.order[1]
	}
	for _, n := range v.order[1:] {
		if v.ofReplica(n); n == first {
			continue // it loses to imports only
		}
		for k, run := 0, 0; k < len(v.own); k++ {
			if run++; !v.loses(timestamps, k, true, func(j int) bool { return v.numbers[j] <= first && v.Counts[j] }) {
				run = 0
			}
			if run > 2 {
				lost[v.own[k-1]] = true
			}
		}
	}
	return lost
}

// Counting returns the measures that count, in the memory of all, ascending, without the numbers of their replicas.
func Counting(timestamps []carbonara.Timestamp, values []float64) ([]carbonara.Timestamp, []float64) {
	var v Verdicts
	v.Judge(timestamps)
	n := 0
	for i, counts := range v.Counts {
		if counts {
			timestamps[n], values[n] = Plain(timestamps[i]), values[i]
			n++
		}
	}
	return timestamps[:n], values[:n]
}

// LeastInterleaved is of how many measures Interleaved says something.
const LeastInterleaved = 16

// Interleaved reports whether measures, in order of time, look like those of two senders without a label that tells
// them apart: every other one has the same interval, of a second or more, to within a hundredth, and they don't halve
// it. Senders that happen to halve it look like one that is twice as fast; their other series tell.
func Interleaved(times []carbonara.Timestamp) bool {
	if len(times) < LeastInterleaved {
		return false
	}
	away := func(a, b carbonara.Timestamp) carbonara.Timestamp { return max(a, b) - min(a, b) }
	whole, shift := times[2]-times[0], times[1]-times[0]
	told := whole+whole/100 >= carbonara.Timestamp(time.Second) && away(2*shift, whole) > whole/10
	for i := range times[2:] {
		told = told && away(times[i+2]-times[i], whole) <= whole/100
	}
	return told
}
