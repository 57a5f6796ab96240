package incoming

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// FreeSpaceInterval is how long an answer about free space is believed.
const FreeSpaceInterval = freeSpaceInterval

// SetChecksum makes the checksum of a block right.
func SetChecksum(block []byte) {
	binary.LittleEndian.PutUint32(block[checksumFrom:], uint32(xxhash.Sum64(block[checkedFrom:])))
}

// Failed returns what made the store fail.
func (s *Store) Failed() error { return s.failed() }
