package postings

import (
	"hash/maphash"
	"sync"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// build makes the tables and lists of a state that has only columns.
func (s *state) build() {
	var parts sync.WaitGroup
	parts.Go(func() {
		s.symbols = newTable(len(s.texts))
		for i, text := range s.texts {
			s.symbols.add(maphash.String(seed, text), uint32(i), nil)
		}
		s.part, _ = s.symbolOf(model.LabelHistogram)
		s.buildNames()
	})
	parts.Go(func() {
		s.places = newTable(len(s.metrics))
		for i := range s.metrics {
			if s.metrics[i].gone {
				s.gone++
				continue
			}
			s.places.add(hashOf(s.metrics[i].id), uint32(i), nil)
		}
		s.buildResources()
	})
	parts.Go(s.pushedLists)
	parts.Wait()
}

// buildNames lists the metrics by name, in one piece of memory.
func (s *state) buildNames() {
	ends := make([]uint32, len(s.texts))
	for i := range s.metrics {
		ends[s.metrics[i].name]++
	}
	all, from := make([]uint32, len(s.metrics)), uint32(0)
	s.named = map[symbol][]uint32{}
	for name, n := range ends {
		if ends[name] = from; n > 0 {
			s.named[symbol(name)] = all[from : from+n : from+n]
		}
		from += n
	}
	for i := range s.metrics {
		end := &ends[s.metrics[i].name]
		all[*end] = uint32(i)
		*end++
	}
}

// buildResources lists the resources by ID and label, and their metrics.
func (s *state) buildResources() {
	s.resPlaces, s.values = map[uuid.UUID]uint32{}, map[symbol]map[symbol][]uint32{}
	for i := range s.resources {
		r := &s.resources[i]
		if r.gone {
			s.gone++
			continue
		}
		s.resPlaces[r.id] = uint32(i)
		for _, label := range r.labels {
			values := s.values[label.name]
			if values == nil {
				values = map[symbol][]uint32{}
				s.values[label.name] = values
			}
			values[label.value] = append(values[label.value], uint32(i))
		}
	}
	for i := range s.metrics {
		if m := &s.metrics[i]; m.resource != none && !m.gone {
			r := &s.resources[m.resource]
			r.metrics = append(r.metrics, uint32(i))
		}
	}
}

// pushedLists lists the pairs by name, and the metrics by pair, these in one piece of memory.
func (s *state) pushedLists() {
	l := &s.pushed
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
	for i := range s.metrics {
		m := &s.metrics[i]
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
