package postings

import "hash/maphash"

// table finds the place of something in a list by its hash. It holds places alone, in slots of 4 bytes, and uses half
// of them at most. Places stay; the caller skips those that are gone.
type table struct {
	slots []uint32 // open addressing: 1 + a place, 0 for none; a power of two
	used  int
}

// seed keeps clients from choosing texts or IDs of one hash.
var seed = maphash.MakeSeed()

// newTable returns a table with room for so many places.
func newTable(places int) table {
	slots := 16
	for slots < 2*places {
		slots *= 2
	}
	return table{slots: make([]uint32, slots)}
}

// find returns the first accepted place of a hash.
func (t *table) find(hash uint64, is func(place uint32) bool) (place uint32, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(t.slots) - 1)
	for at := hash & mask; t.slots[at] != 0; at = (at + 1) & mask {
		if place := t.slots[at] - 1; is(place) {
			return place, true
		}
	}
	return 0, false
}

// add adds a place. A table that grows asks for the hashes of all places.
func (t *table) add(hash uint64, place uint32, hashOf func(place uint32) uint64) {
	if t.used++; 2*t.used > len(t.slots) {
		old := t.slots
		t.slots = make([]uint32, max(16, 2*len(old)))
		for _, slot := range old {
			if slot != 0 {
				t.put(hashOf(slot-1), slot)
			}
		}
	}
	t.put(hash, place+1)
}

func (t *table) put(hash uint64, slot uint32) {
	mask := uint64(len(t.slots) - 1)
	at := hash & mask
	for t.slots[at] != 0 {
		at = (at + 1) & mask
	}
	t.slots[at] = slot
}
