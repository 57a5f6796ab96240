package archive

import (
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage"
)

// NextGroup returns the start of the first group of a metric at one granularity that starts at or after from; ok is
// false if there is none. A split on the way that does not decode is an error: it may hold that group.
func (s *Store) NextGroup(metric uuid.UUID, granularity time.Duration, from carbonara.Timestamp) (
	start carbonara.Timestamp, ok bool, err error) {
	w := s.SingleWalk()
	defer func() {
		if err = errors.Join(err, w.Close()); err != nil {
			err = fmt.Errorf("archive: read %v of %s: %w", granularity, metric, err)
		}
	}()
	valid, err := w.seek(metric, granularity, carbonara.SplitKeyOf(from, granularity).Start)
	if err != nil {
		return 0, false, err
	}
	starts := &w.reader.starts
	for ; valid; valid = w.iter.Next() {
		value, err := w.iter.ValueAndErr()
		if err != nil {
			return 0, false, err
		}
		_, key, _ := parseSplitKey(w.iter.Key())
		starts.Reset(granularity, nil)
		if n := w.reader.decode(value, key, from, carbonara.MaxTimestamp, starts); n > 0 {
			s.reportCorrupt(w.iter.Key(), n)
			return 0, false, storage.ErrCorrupt
		}
		if starts.Len() > 0 {
			return starts.Starts[0], true, nil
		}
	}
	return 0, false, w.iter.Error()
}

// LastGroup sets row to the last group of a metric that starts before a time, with the granularity and columns that row
// is set to. It stays without rows if there is none, or if a split on the way does not decode.
func (s *Store) LastGroup(metric uuid.UUID, before carbonara.Timestamp, row *carbonara.Groups) (err error) {
	r := s.readers.Get().(*reader)
	defer s.readers.Put(r)
	g := row.Granularity
	iter, err := s.reads().NewIter(&pebble.IterOptions{LowerBound: splitKey(nil, metric, g, 0),
		UpperBound: splitKey(nil, metric, g, before)})
	if err != nil {
		return fmt.Errorf("archive: read %v of %s: %w", g, metric, err)
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	var groups carbonara.Groups
	for valid := iter.Last(); valid; valid = iter.Prev() {
		value, err := iter.ValueAndErr()
		if err != nil {
			return fmt.Errorf("archive: read %v of %s: %w", g, metric, err)
		}
		_, key, _ := parseSplitKey(iter.Key())
		groups.Reset(g, row.Columns)
		if r.decode(value, key, 0, before, &groups) > 0 {
			return nil
		}
		if n := groups.Len(); n > 0 {
			row.AppendRows(&groups, n-1, n)
			return nil
		}
	}
	return iter.Error()
}
