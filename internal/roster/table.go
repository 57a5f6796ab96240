package roster

import (
	"slices"

	"github.com/gnocco-db/gnocco/internal/keyhash"
)

// MinListed is the number of metrics from which on a list is worth remembering.
const MinListed = 4

// Table remembers entries of lists, from the second time on that a list comes: a sender that names its metrics in
// another order each time takes no place. The caller locks.
type Table[E any] struct {
	lists Cache[list[E]]
	once  Cache[struct{}] // lists that came
}

// list is the entries of a list as of a generation of their source.
type list[E any] struct {
	generation uint64
	entries    []E
}

// NewTable returns a Table of at most limit entries in all lists.
func NewTable[E any](limit int) *Table[E] {
	return &Table[E]{Cache[list[E]]{Limit: limit, Cost: func(l list[E]) int { return len(l.entries) }},
		Cache[struct{}]{Limit: limit / MinListed}}
}

// Get returns the entries of a list, nil if it is not known, and reports whether they are those of a generation. The
// caller does not modify them.
func (t *Table[E]) Get(key keyhash.Hash, generation uint64) (entries []E, current bool) {
	l, known := t.lists.Get(key)
	return l.entries, known && l.generation == generation
}

// Put remembers a copy of the entries that a list has in a generation, unless it knows those of a later one.
func (t *Table[E]) Put(key keyhash.Hash, generation uint64, entries []E) {
	known, ok := t.lists.Get(key)
	if ok && known.generation >= generation {
		return
	}
	if _, came := t.once.Get(key); ok || came {
		t.lists.Put(key, list[E]{generation, slices.Clone(entries)})
	} else {
		t.once.Put(key, struct{}{})
	}
}

// Clear forgets the entries of all lists.
func (t *Table[E]) Clear() { t.lists.Clear() }
