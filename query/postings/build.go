package postings

import (
	"sync"

	"github.com/gnocco-db/gnocco/model"
)

// build makes the tables and lists of a state that has only columns.
func (s *state) build() {
	var parts sync.WaitGroup
	parts.Go(func() {
		s.textTable.build()
		s.pushed.part, _ = s.symbolOf(model.LabelHistogram)
		s.buildNames()
	})
	parts.Go(func() {
		s.places, s.gone = newTable(len(s.metrics)), s.resourceTable.build()
		for i := range s.metrics {
			m := &s.metrics[i]
			if m.gone {
				s.gone++
				continue
			}
			s.places.add(hashOf(m.id), uint32(i), nil)
			if m.resource != none {
				r := &s.resources[m.resource]
				r.metrics = append(r.metrics, uint32(i))
			}
		}
	})
	parts.Go(func() { s.pushed.build(s.metrics) })
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
