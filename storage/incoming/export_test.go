package incoming

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2"
)

// FreeSpaceInterval is how long an answer about free space is believed.
const FreeSpaceInterval = freeSpaceInterval

// SetChecksum makes the checksum of a block right.
func SetChecksum(block []byte) {
	binary.LittleEndian.PutUint32(block[checksumFrom:], uint32(xxhash.Sum64(block[checkedFrom:])))
}

// DB returns the Pebble store.
func (s *Store) DB() *pebble.DB { return s.db }

// Failed returns what made the store fail.
func (s *Store) Failed() error { return s.failed() }

// Accepted returns how many measures the store was sent.
func (s *Store) Accepted() (measures int) {
	for _, k := range s.sacks {
		k.mu.Lock()
		measures += int(k.sent.measures)
		k.mu.Unlock()
	}
	return measures
}
