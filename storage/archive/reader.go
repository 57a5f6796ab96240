package archive

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// bytesTaken is how much memory for groups is taken at once.
const bytesTaken = 256 << 10

// reader is the scratch memory of one read.
type reader struct {
	lower, upper []byte
	operands     [][]byte
	part, merged carbonara.Groups
	starts       carbonara.Groups
	raw          []byte
}

// Groups appends to dst the groups of a metric at one granularity that start at or after from and before to, with the
// columns that dst is set to. It is one seek: splits lie side by side. A split that does not decode is left out and
// counted in the first result; its bytes stay.
func (s *Store) Groups(metric uuid.UUID, granularity time.Duration, from, to carbonara.Timestamp,
	dst *carbonara.Groups) (corrupt int, err error) {
	return s.KeptGroups(context.Background(), &model.Read{Metric: &model.Metric{ID: metric}, Granularity: granularity,
		From: from, To: to}, 0, dst)
}

// KeptGroups is Groups without expired groups, those more than timespan before the newest (0: it skips none). It
// decodes the newest split only if a split may hold both kinds.
//
// The memory of dst is taken from the context's budget.Account while splits are decoded, dst.Bytes() in all.
func (s *Store) KeptGroups(ctx context.Context, read *model.Read, timespan time.Duration,
	dst *carbonara.Groups) (corrupt int, err error) {
	if read.From >= read.To {
		return 0, nil
	}
	w := s.SingleWalk()
	corrupt, err = w.KeptGroups(ctx, read, timespan, dst)
	return corrupt, errors.Join(err, w.Close())
}

// Walk reads the groups of many metrics through one iterator, which sees the store as it was at the first read. In the
// order of IDs, each read begins where the one before ended. It is for one goroutine, and closed before the store.
type Walk struct {
	store  *Store
	single bool    // there is one read: the iterator need not leave its splits
	reader *reader // nil before the first read
	iter   *pebble.Iterator
}

// Walk returns a Walk of the store, which takes nothing before the first read.
func (s *Store) Walk() Walk { return Walk{store: s} }

// SingleWalk returns a Walk for one read.
func (s *Store) SingleWalk() Walk { return Walk{store: s, single: true} }

// Close ends the walk.
func (w *Walk) Close() error {
	if w.reader != nil {
		w.store.readers.Put(w.reader)
	}
	if w.iter == nil {
		return nil
	}
	return w.iter.Close()
}

// seek begins a read at the split that starts at start, or later. The splits of its granularity end at reader.upper.
func (w *Walk) seek(metric uuid.UUID, granularity time.Duration, start carbonara.Timestamp) (valid bool, err error) {
	if w.reader == nil {
		w.reader = w.store.readers.Get().(*reader)
	}
	r := w.reader
	r.lower = splitKey(r.lower, metric, granularity, start)
	r.upper = splitKey(r.upper, metric, granularity+1, 0)
	bounds := &wholeArchive
	if w.single {
		bounds = &pebble.IterOptions{LowerBound: r.lower, UpperBound: r.upper}
	}
	if err := w.open(bounds); err != nil {
		return false, err
	}
	return w.iter.SeekGE(r.lower), nil
}

var wholeArchive = pebble.IterOptions{LowerBound: []byte{prefixMetric}, UpperBound: []byte{prefixMetric + 1}}

// open makes the iterator, unless there is one.
func (w *Walk) open(bounds *pebble.IterOptions) (err error) {
	if w.iter == nil {
		w.iter, err = w.store.reads().NewIter(bounds)
	}
	return err
}

// splitsPassed is how many splits after those asked for are passed one by one on the way to the newest.
const splitsPassed = 2

// KeptGroups is Store.KeptGroups.
func (w *Walk) KeptGroups(ctx context.Context, read *model.Read, timespan time.Duration,
	dst *carbonara.Groups) (corrupt int, err error) {
	metric, granularity, from, to := read.Metric.ID, read.Granularity, read.From, read.To
	if from >= to {
		return 0, nil
	}
	failed := func(err error) (int, error) {
		return corrupt, fmt.Errorf("archive: read %v of %s: %w", granularity, metric, err)
	}
	first := carbonara.SplitKeyOf(from, granularity)
	valid, err := w.seek(metric, granularity, first.Start)
	if err != nil {
		return failed(err)
	}
	r, iter := w.reader, w.iter
	account, before, taken := budget.Of(ctx), dst.Len(), dst.Bytes()
	var oldest, newest carbonara.SplitKey
	passed := 0
	for ; valid && bytes.Compare(iter.Key(), r.upper) < 0; valid = iter.Next() {
		_, key, ok := parseSplitKey(iter.Key())
		if !ok {
			continue
		}
		if newest = key; oldest.Granularity == 0 {
			oldest = key
		}
		if key.Start >= to {
			if timespan == 0 {
				break
			}
			if passed++; passed > splitsPassed {
				if iter.SeekLT(r.upper) {
					_, newest, _ = parseSplitKey(iter.Key())
				}
				break
			}
			continue
		}
		if key.End() <= from {
			continue
		}
		if more := dst.Bytes() - taken; more >= bytesTaken {
			if err := account.Acquire(budget.Answers, int64(more)); err != nil {
				return failed(err)
			}
			taken += more
		}
		value, err := iter.ValueAndErr()
		if err != nil {
			return failed(err)
		}
		if n := r.decode(value, key, from, to, dst); n > 0 {
			corrupt += n
			w.store.reportCorrupt(iter.Key(), n)
		}
	}
	if err := iter.Error(); err != nil {
		return failed(err)
	}
	dst.DropGone(before)
	// The newest group lies somewhere in the newest split: usually every requested group is kept, wherever the newest
	// lies in its split.
	if timespan > 0 && oldest.Granularity > 0 && max(from, oldest.Start) < OldestKept(newest.End(), timespan) {
		start, ok, err := w.present(metric, granularity)
		if err != nil {
			return failed(err)
		}
		expired := dst.Len()
		if ok {
			kept, _ := slices.BinarySearch(dst.Starts[before:], OldestKept(start, timespan))
			expired = before + kept
		}
		dst.Delete(before, expired)
	}
	if more := dst.Bytes() - taken; more >= 0 {
		err = account.Acquire(budget.Answers, int64(more))
	} else {
		account.Release(budget.Answers, int64(-more))
	}
	if err != nil {
		return failed(err)
	}
	return corrupt, nil
}

// present returns the start of the group by which others expire: the newest, or, where measures are ahead, that of the
// newest measure that is not.
func (w *Walk) present(metric uuid.UUID, granularity time.Duration) (start carbonara.Timestamp, ok bool, err error) {
	end, _, _, err := w.EndAndRaw(metric, nil, nil,
		func(carbonara.RawEnd) (since carbonara.Timestamp, ok bool) { return 0, false })
	if err != nil || end.Present == end.Newest {
		return w.store.Newest(metric, granularity)
	}
	return end.Present.Floor(granularity), true, nil
}

// decode appends the groups of one split's value to dst and returns how many operands did not decode.
func (r *reader) decode(value []byte, key carbonara.SplitKey, from, to carbonara.Timestamp,
	dst *carbonara.Groups) (corrupt int) {
	r.operands = appendOperands(r.operands[:0], value)
	start := dst.Len()
	for i, operand := range r.operands {
		into := dst
		if i > 0 {
			into = &r.part
			into.Reset(key.Granularity, dst.Columns)
		}
		if err := carbonara.DecodeSplit(operand, key, dst.Columns, from, to, into); err != nil {
			corrupt++
			continue
		}
		if i > 0 {
			dst.Overlay(start, into, &r.merged)
		}
	}
	return corrupt
}

// Newest returns the start of the newest group of a metric at one granularity; ok is false if it has none.
func (s *Store) Newest(metric uuid.UUID, granularity time.Duration) (start carbonara.Timestamp, ok bool, err error) {
	r := s.readers.Get().(*reader)
	defer s.readers.Put(r)
	r.lower = splitKey(r.lower, metric, granularity, 0)
	r.upper = splitKey(r.upper, metric, granularity+1, 0)
	iter, err := s.reads().NewIter(&pebble.IterOptions{LowerBound: r.lower, UpperBound: r.upper})
	if err != nil {
		return 0, false, fmt.Errorf("archive: read %s: %w", metric, err)
	}
	for valid := iter.Last(); valid && !ok; valid = iter.Prev() {
		value, err := iter.ValueAndErr()
		if err != nil {
			return 0, false, errors.Join(fmt.Errorf("archive: read newest split of %s: %w", metric, err), iter.Close())
		}
		_, key, _ := parseSplitKey(iter.Key())
		r.starts.Reset(granularity, nil)
		r.decode(value, key, 0, carbonara.MaxTimestamp, &r.starts)
		if n := r.starts.Len(); n > 0 {
			start, ok = r.starts.Starts[n-1], true
		}
	}
	return start, ok, iter.Close()
}

// Raw returns the raw series of a metric, ascending, in slices appended to those given (which must be empty): the
// measures of its back window and the last one before it. Operands that do not decode are left out and counted.
func (s *Store) Raw(metric uuid.UUID, timestamps []carbonara.Timestamp,
	values []float64) ([]carbonara.Timestamp, []float64, int, error) {
	r := s.readers.Get().(*reader)
	defer s.readers.Put(r)
	corrupt, err := s.readRaw(metric, r, func(raw []byte) (err error) {
		timestamps, values, err = carbonara.DecodeRaw(raw, timestamps, values)
		return err
	})
	return timestamps, values, corrupt, err
}

// Packed sets p to the raw series of a metric, as Raw reads it, not decoded. The bytes, which p keeps, are appended to
// dst (which must be empty) and returned.
func (s *Store) Packed(metric uuid.UUID, p *carbonara.Packed, dst []byte) ([]byte, int, error) {
	r := s.readers.Get().(*reader)
	defer s.readers.Put(r)
	corrupt, err := s.readRaw(metric, r, func(raw []byte) error {
		dst = append(dst[:0], raw...)
		return p.Parse(dst)
	})
	return dst, corrupt, err
}

// RawEnd is the end of a raw series.
type RawEnd struct {
	carbonara.RawEnd
	Corrupt int // operands that do not decode
}

// RawEnd reads the end of a metric's raw series.
func (s *Store) RawEnd(metric uuid.UUID) (e RawEnd, err error) {
	r := s.readers.Get().(*reader)
	defer s.readers.Put(r)
	e.Corrupt, err = s.readRaw(metric, r, func(raw []byte) (err error) {
		e.RawEnd, err = carbonara.EndOfRaw(raw)
		return err
	})
	return e, err
}

// EndAndRaw reads the end of a raw series and, in the same lookup, the measures since the time that wants returns for
// that end, if it wants any.
func (w *Walk) EndAndRaw(metric uuid.UUID, timestamps []carbonara.Timestamp, values []float64,
	wants func(carbonara.RawEnd) (since carbonara.Timestamp, ok bool)) (
	RawEnd, []carbonara.Timestamp, []float64, error) {
	if w.reader == nil {
		w.reader = w.store.readers.Get().(*reader)
	}
	var e RawEnd
	get := w.store.get
	if !w.single {
		get = w.get
	}
	corrupt, err := w.store.decodeRaw(metric, w.reader, get, func(raw []byte) (err error) {
		e.RawEnd, timestamps, values, err = carbonara.DecodeRawAfterEnd(raw, wants, timestamps, values)
		return err
	})
	e.Corrupt = corrupt
	return e, timestamps, values, err
}

// get returns a value, until the closer is called.
func (s *Store) get(key []byte) ([]byte, io.Closer, error) { return s.reads().Get(key) }

// get is Store.get through the iterator, which is cheaper in the order of keys.
func (w *Walk) get(key []byte) ([]byte, io.Closer, error) {
	if err := w.open(&wholeArchive); err != nil {
		return nil, nil, err
	}
	if !w.iter.SeekGE(key) || !bytes.Equal(w.iter.Key(), key) {
		return nil, nil, cmp.Or(w.iter.Error(), pebble.ErrNotFound)
	}
	value, err := w.iter.ValueAndErr()
	return value, nothing{}, err
}

// nothing is closed.
type nothing struct{}

func (nothing) Close() error { return nil }

// readRaw calls decode with the raw series of a metric, if it has one: once, or, if that fails, again without the
// operands that do not decode. It returns the number of these.
func (s *Store) readRaw(metric uuid.UUID, r *reader, decode func([]byte) error) (corrupt int, err error) {
	return s.decodeRaw(metric, r, s.get, decode)
}

// decodeRaw is readRaw of the value that get returns.
func (s *Store) decodeRaw(metric uuid.UUID, r *reader, get func(key []byte) ([]byte, io.Closer, error),
	decode func([]byte) error) (corrupt int, err error) {
	r.lower = metricKey(r.lower, metric, kindRaw)
	value, closer, err := get(r.lower)
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("archive: read raw series of %s: %w", metric, err)
	}
	defer closer.Close()
	r.operands = appendOperands(r.operands[:0], value)
	if err = decode(r.joined()); err == nil {
		return 0, nil
	}
	n := len(r.operands)
	r.operands = slices.DeleteFunc(r.operands, func(o []byte) bool {
		_, _, err := carbonara.DecodeRaw(o, nil, nil)
		return err != nil
	})
	s.reportCorrupt(r.lower, n-len(r.operands))
	return n - len(r.operands), decode(r.joined())
}

// joined returns the operands side by side, valid as long as they are.
func (r *reader) joined() []byte {
	if len(r.operands) == 1 {
		return r.operands[0]
	}
	r.raw = r.raw[:0]
	for _, operand := range r.operands {
		r.raw = append(r.raw, operand...)
	}
	return r.raw
}

// Oldest returns the start of the oldest split of a metric at one granularity; ok is false if it has none.
func (s *Store) Oldest(metric uuid.UUID, granularity time.Duration) (start carbonara.Timestamp, ok bool, err error) {
	w := s.SingleWalk()
	start, ok, err = w.Oldest(metric, granularity)
	return start, ok, errors.Join(err, w.Close())
}

// Oldest is Store.Oldest.
func (w *Walk) Oldest(metric uuid.UUID, granularity time.Duration) (start carbonara.Timestamp, ok bool, err error) {
	valid, err := w.seek(metric, granularity, 0)
	if err == nil {
		err = w.iter.Error()
	}
	if err != nil {
		return 0, false, fmt.Errorf("archive: read %s: %w", metric, err)
	}
	if valid && bytes.Compare(w.iter.Key(), w.reader.upper) < 0 {
		_, key, _ := parseSplitKey(w.iter.Key())
		start, ok = key.Start, true
	}
	return start, ok, nil
}

// maxReported bounds the keys remembered as reported. Beyond, damage is only counted: there is enough to look at.
const maxReported = 1000

// reported are the keys whose damage was logged, so that a metric that is read every second does not fill the log.
type reported struct {
	mu   sync.Mutex
	keys map[string]bool
}

func (r *reported) first(key []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys[string(key)] || len(r.keys) >= maxReported {
		return false
	}
	if r.keys == nil {
		r.keys = make(map[string]bool)
	}
	r.keys[string(key)] = true
	return true
}

// reportCorrupt logs, once a key, that operands of a value do not decode. They are left out of the answer, and stay.
func (s *Store) reportCorrupt(key []byte, operands int) {
	if !s.reported.first(key) {
		return
	}
	metric, kind, split, _ := ParseKey(key)
	if kind == KindSplit {
		s.logger.Error("split does not decode", "metric", metric, "granularity", split.Granularity, "start",
			split.Start.Time(), "operands", operands)
		return
	}
	s.logger.Error("raw series does not decode", "metric", metric, "operands", operands)
}

// Size returns what a metric takes. Values are not decoded.
func (s *Store) Size(metric uuid.UUID) (size model.ArchiveSize, err error) {
	size.Splits = make(map[time.Duration]int64)
	err = engine.Each(s.reads(), metricKey(nil, metric, 0), metricEnd(metric), func(key, value []byte) error {
		bytes := int64(len(key) + len(value))
		if len(key) == splitKeySize && key[kindOffset] == kindSplit {
			size.Splits[time.Duration(binary.BigEndian.Uint64(key[kindOffset+1:]))] += bytes
		} else if key[kindOffset] == kindRaw {
			size.Raw += bytes
		}
		return nil
	})
	if err != nil {
		return size, fmt.Errorf("archive: size of %s: %w", metric, err)
	}
	if size.Dropped, err = s.Dropped(metric); err != nil {
		return size, err
	}
	size.Late, err = s.Late(metric)
	return size, err
}
