package incoming

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// Drain returns the records of the sack behind sequence after, oldest first: those that fit into maxBytes, and at
// least one if there is one. It is the reader's word that everything up to after is processed, from which Backlog
// counts. A reader may go back, after a crash to its mark, as far as it has not acknowledged.
//
// A record that is corrupt is returned like any other; its block does not decode.
func (s *Store) Drain(sack int, after uint64, maxBytes int) (records []Record, err error) {
	s.sacks[sack].setPolled(time.Time{})
	return s.drain(sack, after, maxBytes, true)
}

// Poll is Drain for a reader in another process. That one has brought over the records up to after, and processed those
// up to processed. If it polls no more, all that it did not acknowledge counts as backlog.
func (s *Store) Poll(sack int, after, processed uint64, maxBytes int) (records []Record, err error) {
	s.sacks[sack].setPolled(time.Now())
	if records, err = s.drain(sack, after, maxBytes, processed >= after); err != nil || processed >= after {
		return records, err
	}
	return records, s.noteProcessed(sack, processed)
}

// drain notes that everything up to after is processed, if it is.
func (s *Store) drain(sack int, after uint64, maxBytes int, processed bool) (records []Record, err error) {
	err = s.read(func() error {
		var last uint64
		var inMemory bool
		if records, last, inMemory = s.drainRecent(s.sacks[sack], after, maxBytes, processed); inMemory {
			return nil
		}
		records, err = s.drainStore(sack, after, last, maxBytes, processed)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("incoming: drain sack %d after %d: %w", sack, after, err)
	}
	return records, nil
}

// noteProcessed notes how far the reader has processed what it brought over.
func (s *Store) noteProcessed(sack int, processed uint64) error {
	k := s.sacks[sack]
	last := s.Last(sack)
	err := s.read(func() error {
		return s.scan(sack, processed, last, func(_ uint64, value []byte) (more bool) {
			r, err := decodeRecord(value)
			if err != nil {
				return true // the reader reports it
			}
			block, _ := r.whole(s.db, sack) // its list goes when it was acknowledged meanwhile
			_, accepted, _ := BlockMeasures(block)
			k.mu.Lock()
			defer k.mu.Unlock()
			k.process(processed, r.before, accepted)
			return false
		})
	})
	if err != nil {
		return fmt.Errorf("incoming: read backlog: %w", err)
	}
	return nil
}

// drainRecent drains from memory; if the recent records do not reach back to after, inMemory is false. last is the
// highest published sequence.
func (s *Store) drainRecent(k *sack, after uint64, maxBytes int, processed bool) (
	records []Record, last uint64, inMemory bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	dropped := 0
	switch {
	case after >= k.last:
		if processed {
			k.processAll(after)
		}
		dropped = k.recent.drop(len(k.recent.records))
	case after >= k.recent.floor:
		dropped = k.recent.drop(k.recent.search(after))
		if next := &k.recent.records[0]; processed {
			k.process(after, next.before, next.accepted)
		}
		records = k.recent.first(maxBytes)
	default:
		return nil, k.last, false
	}
	s.recentBytes.Add(int64(-dropped))
	return records, k.last, true
}

// drainStore reads the records behind after, up to last, from Pebble.
func (s *Store) drainStore(sack int, after, last uint64, maxBytes int, processed bool) (records []Record, err error) {
	size := 0
	var failure error
	err = s.scan(sack, after, last, func(sequence uint64, value []byte) (more bool) {
		r, err := decodeRecord(value)
		block := value // for the reader to keep as evidence
		if err == nil {
			if whole, problem := r.whole(s.db, sack); problem == nil {
				block = whole
			} else if !errors.Is(problem, errCorrupt) {
				failure = problem
				return false
			}
		}
		if len(records) > 0 && size+len(block) > maxBytes {
			return false
		}
		_, accepted, _ := BlockMeasures(block)
		if len(records) == 0 && err == nil && processed {
			k := s.sacks[sack]
			k.mu.Lock()
			k.process(after, r.before, accepted)
			k.mu.Unlock()
		}
		size += len(block)
		records = append(records, Record{Sequence: sequence, Stamp: s.stampOf(sequence, r.at, accepted),
			Block: bytes.Clone(block)})
		return size < maxBytes
	})
	if err = errors.Join(err, failure); err != nil {
		return nil, err
	}
	if len(records) == 0 && processed {
		s.sacks[sack].skip(after, last)
	}
	return records, nil
}

// scan calls f with the stored records behind after, up to last, until it returns false. Values are valid during the
// call.
func (s *Store) scan(sack int, after, last uint64, f func(sequence uint64, value []byte) (more bool)) error {
	lower, upper := key(sack, after+1), key(sack, last+1)
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower[:], UpperBound: upper[:]})
	if err != nil {
		return err
	}
	defer iter.Close()
	for ok := iter.First(); ok; ok = iter.Next() {
		value, err := iter.ValueAndErr()
		if err != nil {
			return err
		}
		if !f(keySequence(iter.Key()), value) {
			return nil
		}
	}
	return iter.Error()
}

// Acknowledge says that the records of the sack up to a sequence are not needed any more: a checkpoint holds what they
// led to. It does not wait: they are deleted with the next commit, unsynced, so that after a crash they may be back.
func (s *Store) Acknowledge(sack int, upTo uint64) error {
	err := s.failed()
	if err == nil {
		err = s.queue.acknowledge(sack, min(upTo, s.Last(sack)))
	}
	if err != nil {
		return fmt.Errorf("incoming: acknowledge: %w", err)
	}
	return nil
}
