package series

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/replica"
	"github.com/gnocco-db/gnocco/model"
)

// Pairs looks for two senders that push the same series: they count double, and counters seem to fall where clocks
// differ. It holds the newest measures of some series, until it found one. Its methods may run at the same time.
type Pairs struct {
	found  atomic.Pointer[string]
	mu     sync.Mutex
	every  byte // one metric in every+1 is looked at: 0, 1, 3, …
	series map[uuid.UUID][]carbonara.Timestamp
}

// mostLookedAt is how many series Pairs looks at, where a 256th of all are no more.
const mostLookedAt = 64

// Found returns a series that senders share without --replica-labels, "" for none.
func (p *Pairs) Found() string {
	if found := p.found.Load(); found != nil {
		return *found
	}
	return ""
}

// look returns a metric that two senders seem to push.
func (p *Pairs) look(m *model.Measures) (uuid.UUID, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.series == nil {
		p.series = make(map[uuid.UUID][]carbonara.Timestamp)
	}
	for i, id := range m.Metrics {
		if id[15]&p.every != 0 {
			continue
		}
		times := p.series[id]
		from, to := m.Offsets[i], m.Offsets[i+1]
		for _, t := range m.Timestamps[max(from, to-replica.LeastInterleaved):to] {
			if place, there := slices.BinarySearch(times, t); !there {
				times = slices.Insert(times, place, t)
			}
		}
		times = slices.Delete(times, 0, max(0, len(times)-replica.LeastInterleaved))
		if p.series[id] = times; replica.Interleaved(times) {
			return id, true
		}
	}
	if len(p.series) > mostLookedAt && p.every < 255 {
		p.every = 2*p.every + 1
		maps.DeleteFunc(p.series, func(id uuid.UUID, _ []carbonara.Timestamp) bool { return id[15]&p.every != 0 })
	}
	return uuid.UUID{}, false
}
