package metricd

import (
	"cmp"
	"iter"
	"slices"

	"gnocco/carbonara"
)

// measureList is measures in order of arrival, in chunks: a long slice that grows is copied again and again, and with many
// cores that takes what memory can move.
type measureList struct {
	full [][]carbonara.Measure // measuresPerChunk each
	last []carbonara.Measure   // empty only if the list is
}

// measuresPerChunk is 8 KiB of them.
const measuresPerChunk = 512

func (l *measureList) len() int { return len(l.full)*measuresPerChunk + len(l.last) }

// newest returns the measure that arrived last; the list is not empty.
func (l *measureList) newest() carbonara.Measure { return l.last[len(l.last)-1] }

func (l *measureList) add(m carbonara.Measure) {
	if len(l.last) == measuresPerChunk {
		l.full = append(l.full, l.last)
		l.last = make([]carbonara.Measure, 0, measuresPerChunk)
	}
	l.last = append(l.last, m)
}

// since yields the measures from index i on.
func (l *measureList) since(i int) iter.Seq[carbonara.Measure] {
	return func(yield func(carbonara.Measure) bool) {
		for c := i / measuresPerChunk; c <= len(l.full); c++ {
			for _, m := range l.chunk(c)[i-c*measuresPerChunk:] {
				if !yield(m) {
					return
				}
			}
			i = (c + 1) * measuresPerChunk
		}
	}
}

func (l *measureList) chunk(c int) []carbonara.Measure {
	if c < len(l.full) {
		return l.full[c]
	}
	return l.last
}

// appendTo appends all measures to dst.
func (l *measureList) appendTo(dst []carbonara.Measure) []carbonara.Measure {
	for _, chunk := range l.full {
		dst = append(dst, chunk...)
	}
	return append(dst, l.last...)
}

// earliest returns the least timestamp from index i on, MaxTimestamp if there is no measure.
func (l *measureList) earliest(i int) carbonara.Timestamp {
	earliest := carbonara.MaxTimestamp
	for m := range l.since(i) {
		earliest = min(earliest, m.Timestamp)
	}
	return earliest
}

// empty forgets all measures, and keeps the memory of a few.
func (l *measureList) empty() {
	l.full = nil
	if cap(l.last) > idleCapacity {
		l.last = nil
	}
	l.last = l.last[:0]
}

// idleCapacity is the number of measures whose memory is kept from one checkpoint to the next.
const idleCapacity = 64

// sortArrivals orders measures by timestamp, and keeps of equal ones the one that arrived last.
func sortArrivals(measures []carbonara.Measure) []carbonara.Measure {
	slices.SortStableFunc(measures, func(a, b carbonara.Measure) int { return cmp.Compare(a.Timestamp, b.Timestamp) })
	kept := 0
	for i, m := range measures {
		if i+1 == len(measures) || measures[i+1].Timestamp != m.Timestamp {
			measures[kept] = m
			kept++
		}
	}
	return measures[:kept]
}
