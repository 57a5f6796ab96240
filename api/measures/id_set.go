package measures

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"

	"github.com/google/uuid"
)

// An idSet finds metrics that stand twice in a batch. It is a hash table with open addressing; slots hold 1 + the index
// of an ID in the caller's list, so that it need not copy IDs. The hash depends on the process: nobody can choose IDs
// that collide.
type idSet struct {
	slots []uint32 // a power of two
	used  int
}

var idSetSeeds = [2]uint64{rand.Uint64(), rand.Uint64()}

// reset empties the set and makes room for about n IDs; more find room, too.
func (s *idSet) reset(n int) {
	size := 1 << bits.Len(uint(max(2*n, 32)-1))
	if cap(s.slots) < size {
		s.slots = make([]uint32, size)
	}
	s.slots = s.slots[:size]
	clear(s.slots)
	s.used = 0
}

// add adds the last of ids; false if it is among the others.
func (s *idSet) add(ids []uuid.UUID) bool {
	last := len(ids) - 1
	mask := uint64(len(s.slots) - 1)
	for slot := hashID(&ids[last]) & mask; ; slot = (slot + 1) & mask {
		switch i := s.slots[slot]; {
		case i == 0:
			s.slots[slot] = uint32(last + 1)
			if s.used++; 2*s.used > len(s.slots) {
				s.grow(ids)
			}
			return true
		case ids[i-1] == ids[last]:
			return false
		}
	}
}

// grow doubles the table.
func (s *idSet) grow(ids []uuid.UUID) {
	size := 2 * len(s.slots)
	if cap(s.slots) < size {
		s.slots = make([]uint32, size)
	}
	s.slots = s.slots[:size]
	clear(s.slots)
	mask := uint64(size - 1)
	for i := range ids {
		slot := hashID(&ids[i]) & mask
		for s.slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		s.slots[slot] = uint32(i + 1)
	}
}

func hashID(id *uuid.UUID) uint64 {
	first, second := binary.LittleEndian.Uint64(id[:8]), binary.LittleEndian.Uint64(id[8:])
	hi, lo := bits.Mul64(first^idSetSeeds[0], second^idSetSeeds[1])
	return hi ^ lo
}
