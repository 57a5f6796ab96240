package api

import (
	"sync"

	"gnocco/model"
)

// knownMetrics remembers which metric a name in a sender's own form stands for: to find it otherwise takes reading its
// resource. A metric in it may have been deleted or renamed since; whoever finds one asks the index whether it is still so.
type knownMetrics struct {
	limit int // most metrics

	mu     sync.RWMutex
	byName map[string]*model.Metric
}

func newKnownMetrics(limit int) *knownMetrics {
	return &knownMetrics{limit: limit, byName: make(map[string]*model.Metric)}
}

// maxKnownName is in bytes. Names are no longer, unless somebody pads them.
const maxKnownName = 4 << 10

// add remembers a metric. When there are too many, a quarter is forgotten, whichever.
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

// sameName tells whether two states of a metric have the same name in the same resource.
func sameName(a, b *model.Metric) bool {
	return a == b || a.Name == b.Name && a.ResourceID != nil && b.ResourceID != nil && *a.ResourceID == *b.ResourceID
}
