package metrics

import (
	"unsafe"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/internal/roster"
	"github.com/gnocco-db/gnocco/model"
)

const (
	// listedCreators bounds the creators of remembered lists, at some 150 bytes a list.
	listedCreators = 16 << 10
	// maxCreators is how many creators the metrics of a list may have.
	maxCreators = 8
)

// OneOfEachCreator returns, of metrics that all exist, one of each creator. ok is false if one does not exist or cannot
// be looked up, or if there are too many creators to remember.
func (s *Table) OneOfEachCreator(ids []uuid.UUID) (metrics []*model.Metric, ok bool) {
	generation := s.cache.generation.Load()
	if len(ids) < roster.MinListed {
		return s.findCreators(ids)
	}
	list := keyhash.Of(unsafe.Slice(&ids[0][0], len(ids)*len(ids[0])))
	s.listsMu.RLock()
	metrics, ok = s.creators.Get(list, generation)
	s.listsMu.RUnlock()
	if ok {
		return metrics, true
	}
	if metrics, ok = s.findCreators(ids); ok {
		s.listsMu.Lock()
		s.creators.Put(list, generation, metrics)
		s.listsMu.Unlock()
	}
	return metrics, ok
}

func (s *Table) findCreators(ids []uuid.UUID) (metrics []*model.Metric, ok bool) {
next:
	for i := range ids {
		metric := s.Lookup(ids[i])
		if metric == nil {
			return nil, false
		}
		for _, m := range metrics {
			if m.Creator == metric.Creator {
				continue next
			}
		}
		if len(metrics) == maxCreators {
			return nil, false
		}
		metrics = append(metrics, metric)
	}
	return metrics, true
}
