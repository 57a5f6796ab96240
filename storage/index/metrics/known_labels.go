package metrics

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/gnocco-db/gnocco/storage/index/keyspace"
)

// mostKnownLabels is the number of label sets up to which knownLabels is used: it takes 128 MiB then.
const mostKnownLabels = 12 << 20

// knownLabels says of new label sets that the store lacks them. The store itself says so only after a search of its
// tables in memory, which have no filters: a quarter of the cost of a new series. It holds 64 bits of each key of
// labels, and some that are gone, or that were refused: these are looked for in the store.
type knownLabels struct {
	mu    sync.Mutex
	state knownState
	seed  uint64
	slots []uint64 // open addressing, 0 for none; a power of two
	used  int
}

type knownState byte

const (
	knownUnused   knownState = iota
	knownLoading             // what is created is added
	knownComplete            // has all
	knownTooMany
)

// hash returns what stands for a key, which is a digest, and where it is looked for.
func (k *knownLabels) hash(key []byte) (hash, at uint64) {
	hash = max(1, binary.BigEndian.Uint64(key[1:]))
	return hash, (hash ^ k.seed) * 0x9e3779b97f4a7c15 >> 20
}

// find returns the slot of a key, or the free one where it belongs.
func (k *knownLabels) find(hash, at uint64) uint64 {
	mask := uint64(len(k.slots) - 1)
	for at &= mask; k.slots[at] != 0 && k.slots[at] != hash; at = (at + 1) & mask {
	}
	return at
}

// mayHave reports whether the store may have a key.
func (k *knownLabels) mayHave(key []byte) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.state != knownComplete {
		return true
	}
	return k.slots[k.find(k.hash(key))] != 0
}

// add adds a key, unless none are kept. It is called before the key is committed.
func (k *knownLabels) add(key []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.state != knownLoading && k.state != knownComplete || 4*(k.used+1) > 3*len(k.slots) && !k.grow() {
		return
	}
	hash, at := k.hash(key)
	if slot := k.find(hash, at); k.slots[slot] == 0 {
		k.slots[slot] = hash
		k.used++
	}
}

// grow doubles the slots, and reports whether there may be as many. mu is held.
func (k *knownLabels) grow() bool {
	if k.used >= mostKnownLabels {
		k.state, k.slots = knownTooMany, nil
		return false
	}
	old := k.slots
	k.slots = make([]uint64, max(1<<10, 2*len(old)))
	for _, hash := range old {
		if hash != 0 {
			k.slots[k.find(hash, (hash^k.seed)*0x9e3779b97f4a7c15>>20)] = hash
		}
	}
	return true
}

// begin reports whether the caller is to load all that there are. Keys that are created from then on are added.
func (k *knownLabels) begin() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.state != knownUnused {
		return false
	}
	k.state, k.seed = knownLoading, rand.Uint64()
	return k.grow()
}

// end notes that all are there, or that some are not.
func (k *knownLabels) end(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case err != nil:
		k.state, k.slots, k.used = knownUnused, nil, 0
	case k.state == knownLoading:
		k.state = knownComplete
	}
}

// loadKnownLabels makes knownLabels complete before the first series is created: 0.1 µs for each one that there is.
func (s *Table) loadKnownLabels(ctx context.Context) (err error) {
	var iter *pebble.Iterator
	begun := false
	s.log.Locked(func() { // what is committed later is added
		if begun = s.known.begin(); begun {
			iter, err = s.log.DB.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: []byte{keyspace.Labels},
				UpperBound: []byte{keyspace.Labels + 1}})
		}
	})
	if !begun {
		return nil
	}
	defer func() { s.known.end(err) }()
	if err != nil {
		return err
	}
	return errors.Join(keyspace.EachKey(ctx, iter, func() (bool, error) {
		if len(iter.Key()) == len(keyspace.LabelsKey("", "")) {
			s.known.add(iter.Key())
		}
		return true, nil
	}), iter.Close())
}
