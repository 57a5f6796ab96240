package ingest

import (
	"sync"

	"gnocco/model"
)

// knownMetrics remembers the metric of each name. A metric may have been deleted or renamed since: the finder asks the
// index whether it is still the same.
type knownMetrics struct {
	limit int // most metrics

	mu     sync.RWMutex
	byName map[string]*model.Metric
}

// maxKnownName is in bytes. Names are shorter, unless somebody pads them.
const maxKnownName = 4 << 10

// add remembers a metric. A full cache forgets a quarter, at random.
func (k *knownMetrics) add(name string, metric *model.Metric) {
	if len(name) > maxKnownName {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.byName) >= k.limit {
		drop := k.limit/4 + 1
		for name := range k.byName {
			delete(k.byName, name)
			if drop--; drop == 0 {
				break
			}
		}
	}
	k.byName[name] = metric
}

// sameName reports whether two states of a metric have the same name in the same resource, or the same labels.
func sameName(a, b *model.Metric) bool {
	return a == b || a.Labels != "" && a.Labels == b.Labels || a.Name == b.Name && a.ResourceID != nil && b.ResourceID != nil && *a.ResourceID == *b.ResourceID
}
