package index

import (
	"bytes"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// sortedKeys collects keys without values and writes them in order: Pebble looks for the place of each from that of the
// one before.
type sortedKeys struct {
	bytes []byte // of all keys
	keys  []place
}

// place is where a key lies in bytes.
type place struct{ from, to int }

func (s *sortedKeys) add(key []byte) {
	from := len(s.bytes)
	s.bytes = append(s.bytes, key...)
	s.keys = append(s.keys, place{from, len(s.bytes)})
}

// write sets the keys in a batch.
func (s *sortedKeys) write(b *pebble.Batch) error {
	slices.SortFunc(s.keys, func(a, b place) int {
		return bytes.Compare(s.bytes[a.from:a.to], s.bytes[b.from:b.to])
	})
	for _, key := range s.keys {
		if err := b.Set(s.bytes[key.from:key.to], nil, nil); err != nil {
			return err
		}
	}
	return nil
}
