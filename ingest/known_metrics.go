package ingest

import (
	"sync"

	"gnocco/model"
)

// knownMetrics remembers the metric of each name. A metric may have been deleted or renamed since: the finder asks the
// index whether it is still the same.
type knownMetrics struct {
	limit int // most metrics

	mu      sync.RWMutex
	byName  map[string]*model.Metric
	refused int // names that found no place
}

// maxKnownName is in bytes. Names are shorter, unless somebody pads them.
const maxKnownName = 4 << 10

// placeEvery is how many names ask until one takes the place of another in a full cache. Senders name their metrics in turn: if
// each got a place, a cache that is a little too small for them would have forgotten each by the time it is asked for.
const placeEvery = 8

// add remembers a metric. A full cache remembers one in placeEvery, in place of another at random.
func (k *knownMetrics) add(name string, metric *model.Metric) {
	if len(name) > maxKnownName {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.byName[name]; !known && len(k.byName) >= k.limit {
		if k.refused++; k.refused%placeEvery != 0 {
			return
		}
		for other := range k.byName {
			delete(k.byName, other)
			break
		}
	}
	k.byName[name] = metric
}

// sameName reports whether two states of a metric have the same name in the same resource, or the same labels.
func sameName(a, b *model.Metric) bool {
	return a == b || a.Labels != "" && a.Labels == b.Labels || a.Name == b.Name && a.ResourceID != nil && b.ResourceID != nil && *a.ResourceID == *b.ResourceID
}
