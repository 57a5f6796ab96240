package roster

import (
	"math/bits"

	"github.com/gnocco-db/gnocco/internal/keyhash"
)

// Sequence remembers the value of each key, and in which order keys came first. A sender names the same series in the
// same order: the entry behind the last one found is mostly the next one, so that a lookup reads memory in order. The
// caller locks.
type Sequence[V any] struct {
	limit   int
	entries []entry[V] // in the order of arrival; a full table replaces them in turn
	slots   []uint32   // open addressing: 1 + the index of an entry, 0 for none; a power of two
	hand    int        // the next entry to replace
	refused int        // new keys that found the table full
}

// entry is the value of a key as of a generation of its source.
type entry[V any] struct {
	hash       keyhash.Hash
	generation uint64
	value      V
}

// NewSequence returns a Sequence of at most limit keys, one at least.
func NewSequence[V any](limit int) *Sequence[V] { return &Sequence[V]{limit: max(limit, 1)} }

// Find returns the place of a key, -1 for none. The search begins at a place: the one behind that of the key before,
// which may also come again.
func (s *Sequence[V]) Find(key keyhash.Hash, place int) int {
	if place < len(s.entries) && s.entries[place].hash == key {
		return place
	}
	if place > 0 && place <= len(s.entries) && s.entries[place-1].hash == key {
		return place - 1
	}
	if len(s.slots) == 0 {
		return -1
	}
	return int(s.slots[s.slot(key)]) - 1
}

// Get returns the value at a place, and reports whether it is of a generation.
func (s *Sequence[V]) Get(place int, generation uint64) (value V, current bool) {
	e := &s.entries[place]
	return e.value, e.generation == generation
}

// Put sets the value that a key has in a generation. A new key of a full table mostly stays out, as in a Cache.
func (s *Sequence[V]) Put(key keyhash.Hash, generation uint64, value V) {
	added := entry[V]{key, generation, value}
	if place := s.Find(key, len(s.entries)); place >= 0 {
		if s.entries[place].generation <= generation {
			s.entries[place] = added
		}
		return
	}
	if len(s.entries) == s.limit {
		if s.refused++; s.refused%replaceEvery != 0 {
			return
		}
		s.remove(s.slot(s.entries[s.hand].hash))
		s.entries[s.hand] = added
		s.slots[s.slot(key)] = uint32(s.hand + 1)
		s.hand = (s.hand + 1) % s.limit
		return
	}
	s.entries = append(s.entries, added)
	if 2*len(s.entries) > len(s.slots) {
		s.slots = make([]uint32, max(64, 2*len(s.slots)))
		for i := range s.entries {
			s.slots[s.slot(s.entries[i].hash)] = uint32(i + 1)
		}
		return
	}
	s.slots[s.slot(key)] = uint32(len(s.entries))
}

// slot returns the slot of a key, or the free one where it belongs.
func (s *Sequence[V]) slot(key keyhash.Hash) int {
	for at := s.home(key); ; at = (at + 1) & (len(s.slots) - 1) {
		if i := s.slots[at]; i == 0 || s.entries[i-1].hash == key {
			return at
		}
	}
}

func (s *Sequence[V]) home(key keyhash.Hash) int {
	return int(key[0] >> (64 - bits.Len(uint(len(s.slots)-1))))
}

// remove frees a slot, and moves those behind it that a search would no longer reach.
func (s *Sequence[V]) remove(free int) {
	mask := len(s.slots) - 1
	for at := (free + 1) & mask; s.slots[at] != 0; at = (at + 1) & mask {
		if home := s.home(s.entries[s.slots[at]-1].hash); (at-home)&mask >= (at-free)&mask {
			s.slots[free], free = s.slots[at], at
		}
	}
	s.slots[free] = 0
}
