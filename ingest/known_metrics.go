package ingest

import (
	"slices"
	"sync"

	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/model"
)

// knownMetrics remembers the metric of each name, and the metrics of lists of names. A metric may have been deleted or
// renamed since: the finder asks the index whether it is still the same.
type knownMetrics struct {
	limit int // most metrics by name, and most in lists

	mu     sync.RWMutex
	byName map[keyhash.Hash]*model.Metric
	lists  map[keyhash.Hash]knownList
	listed int // metrics in lists
	// lists that came once: who names their metrics in another order each time gains nothing
	once    map[keyhash.Hash]struct{}
	refused int // times that a table was full
}

// knownList is the metrics of a list, as they were in a generation of the index.
type knownList struct {
	generation uint64
	metrics    []*model.Metric
}

const (
	// minListed is the number of metrics from which on a list is worth remembering.
	minListed = 4
	// placeEvery is how many names ask until one takes the place of another in a full cache. Senders name their metrics
	// in turn: if each got a place, a cache that is a little too small for them would have forgotten each by the time
	// it is asked for.
	placeEvery = 8
)

func newKnownMetrics(limit int) knownMetrics {
	return knownMetrics{limit: limit, byName: make(map[keyhash.Hash]*model.Metric),
		lists: make(map[keyhash.Hash]knownList), once: make(map[keyhash.Hash]struct{})}
}

// add remembers a metric. A full cache remembers one in placeEvery, in place of another at random.
func (k *knownMetrics) add(name keyhash.Hash, metric *model.Metric) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.byName[name]; !known && len(k.byName) >= k.limit {
		if !k.mayReplace() {
			return
		}
		dropOne(k.byName)
	}
	k.byName[name] = metric
}

// mayReplace reports whether what asks for a place in a full table gets that of another.
func (k *knownMetrics) mayReplace() bool {
	k.refused++
	return k.refused%placeEvery == 0
}

// dropOne takes an entry at random out of a table, and returns it.
func dropOne[V any](table map[keyhash.Hash]V) (dropped V) {
	for hash, value := range table {
		delete(table, hash)
		return value
	}
	return dropped
}

// addLists remembers lists of rows that came before, and the metrics that the rows had in a generation of the index.
func (k *knownMetrics) addLists(lists []namedList, metrics []*model.Metric, generation uint64) {
	if len(lists) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, l := range lists {
		if of := metrics[l.row:l.end]; !slices.Contains(of, nil) {
			k.addList(l.hash, knownList{generation, of})
		}
	}
}

func (k *knownMetrics) addList(hash keyhash.Hash, list knownList) {
	n := len(list.metrics)
	if before, known := k.lists[hash]; known {
		if before.generation < list.generation {
			before.generation = list.generation
			copy(before.metrics, list.metrics)
			k.lists[hash] = before
		}
		return
	}
	if _, came := k.once[hash]; !came {
		if len(k.once) >= k.limit/minListed {
			if !k.mayReplace() {
				return
			}
			dropOne(k.once)
		}
		k.once[hash] = struct{}{}
		return
	}
	if n > k.limit || k.listed+n > k.limit && !k.mayReplace() {
		return
	}
	for k.listed+n > k.limit {
		k.listed -= len(dropOne(k.lists).metrics)
	}
	delete(k.once, hash)
	list.metrics = slices.Clone(list.metrics)
	k.lists[hash] = list
	k.listed += n
}

// sameName reports whether two states of a metric have the same name in the same resource, or the same labels.
func sameName(a, b *model.Metric) bool {
	return a == b || a.Labels != "" && a.Labels == b.Labels ||
		a.Name == b.Name && a.ResourceID != nil && b.ResourceID != nil && *a.ResourceID == *b.ResourceID
}
