package ingest

import (
	"slices"
	"sync"

	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/internal/replica"
	"github.com/gnocco-db/gnocco/internal/roster"
	"github.com/gnocco-db/gnocco/model"
)

// knownMetrics remembers the metric of each name, and the metrics of lists of names. A metric may have been deleted or
// renamed since: the finder asks the index whether it is still the same.
type knownMetrics struct {
	mu     sync.RWMutex
	byName *roster.Sequence[sender]     // by the generation of the index
	lists  *roster.Table[*model.Metric] // likewise
}

func newKnownMetrics(limit int) knownMetrics {
	return knownMetrics{byName: roster.NewSequence[sender](limit), lists: roster.NewTable[*model.Metric](limit)}
}

// A sender pushes a metric under a name, perhaps as one of several replicas.
type sender struct {
	metric  *model.Metric
	replica replica.Number
}

// foundName is a name's metric.
type foundName struct {
	hash keyhash.Hash
	sender
}

// add remembers the metrics that names had in a generation of the index.
func (k *knownMetrics) add(names []foundName, generation uint64) {
	if len(names) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, name := range names {
		k.byName.Put(name.hash, generation, name.sender)
	}
}

// addLists remembers the metrics that lists of rows had in a generation of the index.
func (k *knownMetrics) addLists(lists []namedList, metrics []*model.Metric, generation uint64) {
	if len(lists) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range lists {
		if of := metrics[l.row:l.end]; !slices.Contains(of, nil) {
			k.lists.Put(l.hash, generation, of)
		}
	}
}

// sameName reports whether two states of a metric have the same name in the same resource, or the same labels.
func sameName(a, b *model.Metric) bool {
	return a == b || a.Labels != "" && a.Labels == b.Labels ||
		a.Name == b.Name && a.ResourceID != nil && b.ResourceID != nil && *a.ResourceID == *b.ResourceID
}
