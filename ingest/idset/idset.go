package idset

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"

	"github.com/google/uuid"
)

// A Set finds metrics that stand twice in a list. It is a hash table with open addressing; slots hold 1 + the index of
// an ID in the caller's list, so that it need not copy IDs. The hash depends on the process, so that clients cannot
// choose IDs that collide. Reset comes first.
type Set struct {
	slots []uint32 // a power of two
	used  int
}

var seeds = [2]uint64{rand.Uint64(), rand.Uint64()}

// Reset empties the set and makes room for about n IDs. The set grows for more.
func (s *Set) Reset(n int) {
	size := 1 << bits.Len(uint(max(2*n, 32)-1))
	if cap(s.slots) < size {
		s.slots = make([]uint32, size)
	}
	s.slots = s.slots[:size]
	clear(s.slots)
	s.used = 0
}

// Add returns the index of an ID equal to the last of ids, or else adds that one and returns its index. All others were
// added before, and are different.
func (s *Set) Add(ids []uuid.UUID) int {
	last := len(ids) - 1
	mask := uint64(len(s.slots) - 1)
	for slot := hashID(&ids[last]) & mask; ; slot = (slot + 1) & mask {
		switch i := s.slots[slot]; {
		case i == 0:
			s.slots[slot] = uint32(last + 1)
			if s.used++; 2*s.used > len(s.slots) {
				s.grow(ids)
			}
			return last
		case ids[i-1] == ids[last]:
			return int(i - 1)
		}
	}
}

// grow doubles the table.
func (s *Set) grow(ids []uuid.UUID) {
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

// Bytes is the memory that s keeps.
func (s *Set) Bytes() int { return 4 * cap(s.slots) }

func hashID(id *uuid.UUID) uint64 {
	first, second := binary.LittleEndian.Uint64(id[:8]), binary.LittleEndian.Uint64(id[8:])
	hi, lo := bits.Mul64(first^seeds[0], second^seeds[1])
	return hi ^ lo
}
