package index

import (
	"sync"
	"unsafe"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/model"
)

// metricLists remembers, of lists of metrics that exist, who created them. Senders name the same metrics in the same
// order, request after request; to look each of them up again costs a cache miss or two a metric.
type metricLists struct {
	mu         sync.RWMutex
	generation uint64 // of the metric cache: what was found out before it moved is forgotten
	creators   map[keyhash.Hash][]*model.Metric
}

const (
	// minListed is the number of metrics from which on a list is worth remembering.
	minListed = 16
	// maxLists bounds what is remembered: at some 100 bytes each.
	maxLists = 16 << 10
	// maxCreators is how many creators the metrics of a list may have.
	maxCreators = 8
)

// OneOfEachCreator returns, of metrics that all exist, one of each creator. ok is false if one does not exist or cannot
// be looked up, or if there are too many creators to remember.
func (s *Store) OneOfEachCreator(ids []uuid.UUID) (metrics []*model.Metric, ok bool) {
	generation := s.cache.generation.Load()
	if len(ids) < minListed {
		return s.findCreators(ids)
	}
	bytes := unsafe.Slice(&ids[0][0], len(ids)*len(ids[0]))
	hash := keyhash.Of(bytes)
	if metrics = s.lists.find(hash, generation); metrics != nil {
		return metrics, true
	}
	if metrics, ok = s.findCreators(ids); ok {
		s.lists.add(hash, generation, metrics)
	}
	return metrics, ok
}

func (s *Store) findCreators(ids []uuid.UUID) (metrics []*model.Metric, ok bool) {
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

func (l *metricLists) find(hash keyhash.Hash, generation uint64) []*model.Metric {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.generation != generation {
		return nil
	}
	return l.creators[hash]
}

// add remembers a list that was looked up when the generation was seen.
func (l *metricLists) add(hash keyhash.Hash, generation uint64, creators []*model.Metric) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if generation < l.generation {
		return
	}
	if l.creators == nil || generation > l.generation || len(l.creators) == maxLists {
		l.creators, l.generation = make(map[keyhash.Hash][]*model.Metric), generation
	}
	l.creators[hash] = creators
}
