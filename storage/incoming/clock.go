package incoming

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/storage/engine"
)

// Clock tells when requests are accepted, in nanoseconds since about 1970. It never goes back while a process runs.
// Readings of clocks with one ID can be compared exactly, also across processes.
type Clock struct {
	ID  uuid.UUID // zero: an unknown clock that no other store has
	Now func() int64
	// Check is called before requests get their stamps. An error refuses them. nil: the clock is right.
	Check func() error
}

// wallClock is the clock of a store that was given none: the wall clock of its opening, which then goes on by itself.
func wallClock() Clock {
	began := time.Now()
	from := began.UnixNano()
	return Clock{Now: func() int64 { return from + int64(time.Since(began)) }}
}

// Stamp is a moment between the arrival of a request and its 202, on the clock of the process that accepted it. Of two
// records of a store, the later one has the later stamp, if their clock is the same.
type Stamp struct {
	Clock uuid.UUID
	At    int64
}

// stamper gives the requests of a store their stamps.
type stamper struct {
	clock Clock

	mu     sync.Mutex
	last   int64 // no request gets this stamp any more, or an earlier one
	first  int64 // of the group that is being committed; 0 for none
	failed bool  // the group may have been stored, or not
}

// begin returns the stamp of the first of n requests, which are about to be committed; the others follow at 1 ns.
func (s *stamper) begin(n int) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first = max(s.clock.Now(), s.last+1)
	s.last = s.first + int64(n) - 1
	return s.first
}

// end notes that the group is published. After a failure it may come back when the store is opened anew.
func (s *stamper) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed = s.failed || err != nil; !s.failed {
		s.first = 0
	}
}

// frontier returns a stamp that is earlier than those of all records which are not published yet.
func (s *stamper) frontier() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first != 0 {
		return s.first - 1
	}
	s.last = max(s.clock.Now(), s.last)
	return s.last
}

// Frontier returns a stamp that is earlier than those of all records which the sack gets behind a sequence. ok is false
// if there are such records already.
func (s *Store) Frontier(sack int, after uint64) (f Stamp, ok bool) {
	f = Stamp{s.stamps.clock.ID, s.stamps.frontier()} // first: records published since are later
	return f, s.Last(sack) <= after
}

// Clock returns the clock of the store's stamps.
func (s *Store) Clock() Clock { return s.stamps.clock }

// The clock of an epoch: version (1) | id (16) | xxHash64 of these (8). It is kept while there are records of the
// epoch.
const (
	clockVersion = 1
	clockBytes   = 1 + 16 + 8
)

func appendClock(dst []byte, id uuid.UUID) []byte {
	start := len(dst)
	dst = append(append(dst, clockVersion), id[:]...)
	return binary.LittleEndian.AppendUint64(dst, xxhash.Sum64(dst[start:]))
}

func decodeClock(src []byte) (id uuid.UUID, err error) {
	if len(src) != clockBytes || src[0] != clockVersion ||
		binary.LittleEndian.Uint64(src[clockBytes-8:]) != xxhash.Sum64(src[:clockBytes-8]) {
		return id, fmt.Errorf("%w: clock of an epoch", errCorrupt)
	}
	return uuid.UUID(src[1:17]), nil
}

// readClocks returns the clocks that a store knows, by epoch. One that does not decode counts as unknown.
func readClocks(db *pebble.DB) (map[uint64]uuid.UUID, error) {
	clocks := make(map[uint64]uuid.UUID)
	return clocks, engine.Each(db, clockKey(0), clockKey(math.MaxUint64), func(key, value []byte) error {
		if epoch, ok := clockEpoch(key); ok {
			clocks[epoch], _ = decodeClock(value)
		}
		return nil
	})
}

// forgetClocks removes the clocks of epochs before those of the first records that Open found. It needs no sync: the
// next Open removes clocks that a crash brings back.
func (s *Store) forgetClocks() error {
	oldest := s.epoch
	for _, k := range s.sacks {
		if k.first > 0 {
			oldest = min(oldest, k.first>>epochShift)
		}
	}
	batch := s.db.NewBatch()
	defer batch.Close()
	for epoch := range s.clocks {
		if epoch < oldest {
			delete(s.clocks, epoch)
			if err := batch.Delete(clockKey(epoch), nil); err != nil {
				return err
			}
		}
	}
	if batch.Empty() {
		return nil
	}
	return applyUnsynced(s.db, batch)
}

// stampOf returns the stamp of a record. at is 0 for a record of a release that gave none: then the time says it at
// which the request began, on a clock of which nothing is known.
func (s *Store) stampOf(sequence uint64, at int64, accepted time.Time) Stamp {
	if at == 0 {
		return Stamp{At: accepted.UnixNano()}
	}
	return Stamp{s.clocks[sequence>>epochShift], at}
}
