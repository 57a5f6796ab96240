package postings

import (
	"iter"
	"math/bits"

	"github.com/gnocco-db/gnocco/model"
)

// pushedLabels are the labels, but for names, of pushed series: each pair of name and value once, with its series, and
// the pairs of each series.
type pushedLabels struct {
	pairs  []pair
	places table               // of pairs
	lists  []posting           // beside pairs
	more   [][]uint32          // of postings
	named  map[symbol][]uint32 // places of pairs by name
	of     []uint32            // places of the pairs of all series, those of a series side by side
	part   symbol              // of model.LabelHistogram; 0: there is none
	bytes  int64               // roughly, without texts
}

// posting is the metrics that have a pair, ascending; they may be gone. Most pairs have one.
type posting struct {
	first uint32
	more  uint32 // 1 + the place of the others in pushedLabels.more; 0: none
}

// bytesPerPair is what a pair takes, but for its texts: itself, two slots, its posting, and its place by name.
const bytesPerPair = 8 + 8 + 8 + 4

func (p pair) hash() uint64 {
	high, low := bits.Mul64(uint64(p.name)<<32|uint64(p.value), 0x9e3779b97f4a7c15)
	return high ^ low
}

// find returns the place of a pair.
func (l *pushedLabels) find(p pair) (place uint32, ok bool) {
	return l.places.find(p.hash(), func(place uint32) bool { return l.pairs[place] == p })
}

// metrics returns the metrics that have the pair at a place, ascending.
func (l *pushedLabels) metrics(place uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		list := l.lists[place]
		if !yield(list.first) || list.more == 0 {
			return
		}
		for _, metric := range l.more[list.more-1] {
			if !yield(metric) {
				return
			}
		}
	}
}

// add gives a new metric, the last one, its name and labels.
func (l *pushedLabels) add(t *textTable, m *metric, place uint32, labels model.Labels) {
	m.pushed, m.labels = true, uint32(len(l.of))
	for name, value := range labels.All() {
		if name == labelName {
			m.name = t.intern(value)
			continue
		}
		p := pair{t.intern(name), t.intern(value)}
		if name == model.LabelHistogram {
			l.part = p.name
		}
		at, ok := l.find(p)
		if !ok {
			at = uint32(len(l.pairs))
			l.pairs, l.lists = append(l.pairs, p), append(l.lists, posting{first: place})
			l.places.add(p.hash(), at, func(place uint32) uint64 { return l.pairs[place].hash() })
			l.named[p.name] = append(l.named[p.name], at)
			l.bytes += bytesPerPair
		} else {
			list := &l.lists[at]
			if list.more == 0 {
				l.more = append(l.more, nil)
				list.more = uint32(len(l.more))
			}
			l.more[list.more-1] = append(l.more[list.more-1], place)
		}
		l.of = append(l.of, at)
		m.count++
		l.bytes += bytesPerLabel
	}
}

// build lists the pairs by name, and the metrics by pair, these in one piece of memory.
func (l *pushedLabels) build(all []metric) {
	l.named, l.places = map[symbol][]uint32{}, newTable(len(l.pairs))
	for i, p := range l.pairs {
		l.places.add(p.hash(), uint32(i), nil)
		l.named[p.name] = append(l.named[p.name], uint32(i))
	}
	counts := make([]uint32, len(l.pairs))
	for _, at := range l.of {
		counts[at]++
	}
	l.lists = make([]posting, len(l.pairs))
	left := make([]uint32, len(l.of))
	for at, n := range counts {
		if n > 1 {
			l.more = append(l.more, left[:0:n-1])
			l.lists[at].more, left = uint32(len(l.more)), left[n-1:]
		}
	}
	for i := range all {
		m := &all[i]
		for _, at := range l.of[m.labels : m.labels+m.count] {
			list := &l.lists[at]
			if counts[at] > 0 { // the first time
				list.first, counts[at] = uint32(i), 0
				continue
			}
			l.more[list.more-1] = append(l.more[list.more-1], uint32(i))
		}
	}
}

// pairsOf returns the labels of a metric, or of its resource, but for its name and its IDs.
func (s *state) pairsOf(m *metric) iter.Seq[pair] {
	return func(yield func(pair) bool) {
		if m.pushed {
			for _, at := range s.pushed.of[m.labels : m.labels+m.count] {
				if !yield(s.pushed.pairs[at]) {
					return
				}
			}
		} else if m.resource != none {
			for _, label := range s.resources[m.resource].labels {
				if !yield(label) {
					return
				}
			}
		}
	}
}
