package incoming

import (
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"
)

// Backlog counts the measures accepted but not yet processed, as the readers reported in Drain and Poll. Of a silent
// reader it counts all that was not acknowledged. It is counted without looking at more than one record of a sack: each
// carries what its sack had been sent before it.
type Backlog struct {
	SackBacklog
	Sacks []SackBacklog
}

// SackBacklog is the backlog of one sack.
type SackBacklog struct {
	Measures int
	Blocks   int       // what requests brought; a request counts once for each sack that it fell into
	Oldest   time.Time // when the oldest of them was accepted; zero if there are none
}

// Age returns how long the oldest measure has been waiting at a time; 0 if none is.
func (b SackBacklog) Age(now time.Time) time.Duration {
	if b.Oldest.IsZero() {
		return 0
	}
	return max(0, now.Sub(b.Oldest))
}

// AcceptedMeasures returns how many measures were accepted since the store was opened.
func (s *Store) AcceptedMeasures() int64 { return s.instruments.measures.Load() }

// Backlog returns the backlog, in total and by sack.
func (s *Store) Backlog() Backlog {
	b := Backlog{Sacks: make([]SackBacklog, len(s.sacks))}
	for i, k := range s.sacks {
		s.doubtSilent(i)
		b.Sacks[i] = k.backlog()
		b.add(b.Sacks[i])
	}
	return b
}

// doubtSilent takes back what the reader of a sack reported, if it is silent.
func (s *Store) doubtSilent(sack int) {
	if s.sacks[sack].isSilent() {
		_ = s.noteProcessed(sack, 0) // a store that cannot be read fails its next request
	}
}

func (b *SackBacklog) add(other SackBacklog) {
	b.Measures += other.Measures
	b.Blocks += other.Blocks
	if b.Oldest.IsZero() || !other.Oldest.IsZero() && other.Oldest.Before(b.Oldest) {
		b.Oldest = other.Oldest
	}
}

// PendingByMetric returns, for each metric in the backlog, the number of blocks that hold measures of it. It reads
// the whole backlog. Corrupt blocks are left out: the reader reports them.
func (s *Store) PendingByMetric() (map[uuid.UUID]int, error) {
	pending := make(map[uuid.UUID]int)
	for i := range s.sacks {
		s.doubtSilent(i)
	}
	err := s.read(func() error {
		for i, k := range s.sacks {
			k.mu.Lock()
			processed, last := k.processed, k.last
			k.mu.Unlock()
			if processed >= last {
				continue
			}
			err := s.scan(i, processed, last, func(_ uint64, value []byte) (more bool) {
				r, err := decodeRecord(value)
				if err != nil {
					return true
				}
				block, _ := r.whole(s.db, i) // its list goes when it was processed meanwhile
				ids, _ := blockMetrics(block)
				for ; len(ids) > 0; ids = ids[16:] {
					pending[uuid.UUID(ids[:16])]++
				}
				return true
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("incoming: read backlog: %w", err)
	}
	return pending, nil
}

// Empty reports whether the store holds no records: all that it accepted is acknowledged and deleted.
func (s *Store) Empty() (empty bool, err error) {
	err = s.read(func() error {
		lower, upper := key(0, 0), key(len(s.sacks), 0)
		iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower[:], UpperBound: upper[:]})
		if err != nil {
			return err
		}
		defer iter.Close()
		empty = !iter.First()
		return iter.Error()
	})
	if err != nil {
		return false, fmt.Errorf("incoming: %w", err)
	}
	return empty, nil
}
