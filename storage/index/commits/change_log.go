package commits

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/storage/index/keyspace"
)

// maxLoggedChanges is the number of changes that the store remembers, 17 bytes each. A reader that falls behind by more
// reads all again.
const maxLoggedChanges = 1 << 18

// changeLog is the numbers of the changes that the store remembers, for readers that keep in memory or in a file what
// the store says. Each commit adds an entry with the metrics and resources that it changes. The key of an entry is the
// number of its last change.
//
// Numbers alone do not identify a state: a store that comes back from a backup uses its numbers again. So each entry
// also has the session that wrote it, a random number of this opening.
type changeLog struct {
	session uint64

	mu           sync.Mutex
	before, last uint64 // numbers of the last forgotten change, and of the last one
}

// changed names one metric or resource that was created, changed or deleted.
type changed struct {
	resource bool
	id       uuid.UUID
}

const changedBytes = 1 + len(uuid.UUID{})

func (l *changeLog) bounds() (before, last uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.before, l.last
}

func (l *changeLog) set(before, last uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before, l.last = before, last
}

func changeKey(number uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{keyspace.Change}, number)
}

// appendEntry adds an entry to a batch: its session, and kind and ID of each change.
func (l *changeLog) appendEntry(b *pebble.Batch, number uint64, changes []changed) error {
	value := binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(changes)*changedBytes), l.session)
	for _, c := range changes {
		kind := byte(keyspace.Metric)
		if c.resource {
			kind = keyspace.Resource
		}
		value = append(append(value, kind), c.id[:]...)
	}
	return b.Set(changeKey(number), value, nil)
}

// decodeEntry returns the number and the changes of an entry.
func decodeEntry(key, value []byte) (number uint64, changes []byte, ok bool) {
	if len(key) != 1+8 || len(value) < 8 || (len(value)-8)%changedBytes != 0 {
		return 0, nil, false
	}
	return binary.BigEndian.Uint64(key[1:]), value[8:], true
}

// append adds the changes of a batch to it, and returns the bounds from its commit on. Log.mu is held.
func (l *changeLog) append(db *pebble.DB, b *pebble.Batch, changes []changed) (before, last uint64, err error) {
	before, first := l.bounds()
	last = first + uint64(len(changes))
	switch {
	case len(changes) == 0:
		return before, last, nil
	case len(changes) > maxLoggedChanges:
		before, err = last, b.DeleteRange(changeKey(0), changeKey(last), nil)
		changes = nil
	case last-before > maxLoggedChanges:
		before, err = forget(db, b, first, last-maxLoggedChanges/2)
	}
	return before, last, errors.Join(err, l.appendEntry(b, last, changes))
}

// forget removes the entries before a number, of those up to last. It returns the number of the last change in them.
func forget(db *pebble.DB, b *pebble.Batch, last, number uint64) (before uint64, err error) {
	kept, before, err := firstEntry(db, number)
	if err != nil {
		return 0, err
	}
	if kept == 0 {
		kept, before = last+1, last
	}
	return before, b.DeleteRange(changeKey(0), changeKey(kept), nil)
}

func newEntries(db *pebble.DB, from, end uint64) (*pebble.Iterator, error) {
	return db.NewIter(&pebble.IterOptions{LowerBound: changeKey(from), UpperBound: changeKey(end)})
}

// firstEntry returns the number of the first entry from a number on, and that of the change before it; 0 if there is
// none, or if it does not decode.
func firstEntry(db *pebble.DB, from uint64) (number, before uint64, err error) {
	iter, err := newEntries(db, from, math.MaxUint64)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	if !iter.First() {
		return 0, 0, iter.Error()
	}
	value, err := iter.ValueAndErr()
	if err != nil {
		return 0, 0, err
	}
	number, changes, ok := decodeEntry(iter.Key(), value)
	if !ok {
		return 0, 0, nil
	}
	return number, number - uint64(len(changes)/changedBytes), nil
}

// appendAll adds to a batch that anything may have changed, and returns the bounds from its commit on. Log.mu is held.
func (l *changeLog) appendAll(b *pebble.Batch) (before, last uint64, err error) {
	_, last = l.bounds()
	last++
	return last, last, errors.Join(b.DeleteRange(changeKey(0), changeKey(last), nil), l.appendEntry(b, last, nil))
}

// LoadChanges reads the numbers of the changes that the store remembers. A store without any remembers from now on.
func (log *Log) LoadChanges() (err error) {
	first, before, err := firstEntry(log.DB, 0)
	if err != nil {
		return err
	}
	iter, err := newEntries(log.DB, 0, math.MaxUint64)
	if err != nil {
		return err
	}
	last := uint64(0)
	if iter.Last() && len(iter.Key()) == len(changeKey(0)) {
		last = binary.BigEndian.Uint64(iter.Key()[1:])
	}
	if err := errors.Join(iter.Error(), iter.Close()); err != nil {
		return err
	}
	if log.changes.set(before, last); first != 0 {
		return nil
	}
	return log.WriteSynced(context.Background(), func(*pebble.Batch) (func(), error) { return func() {}, nil })
}

// ChangesSince returns the metrics and resources that were created, changed or deleted after a change of this number,
// and the number of the last one. ok is false if that is not known: all has to be read again, after the call. Numbers
// go on after a restart.
func (log *Log) ChangesSince(number uint64) (metrics, resources []uuid.UUID, last uint64, ok bool) {
	before, last := log.changes.bounds()
	if number == last {
		return nil, nil, last, true
	}
	if number < before || number > last {
		return nil, nil, last, false
	}
	at := number
	iter, err := newEntries(log.DB, number+1, last+1)
	if err != nil {
		return nil, nil, last, false
	}
	for valid := iter.First(); valid; valid = iter.Next() {
		value, err := iter.ValueAndErr()
		if err != nil {
			break
		}
		number, changes, ok := decodeEntry(iter.Key(), value)
		if !ok || number-uint64(len(changes)/changedBytes) != at { // one between them is forgotten meanwhile
			break
		}
		for at = number; len(changes) > 0; changes = changes[changedBytes:] {
			id := uuid.UUID(changes[1:changedBytes])
			if changes[0] == keyspace.Resource {
				resources = append(resources, id)
			} else {
				metrics = append(metrics, id)
			}
		}
	}
	if err := errors.Join(iter.Error(), iter.Close()); err != nil || at < last {
		return nil, nil, last, false
	}
	return metrics, resources, at, true
}

// SessionOf returns the session that wrote the change of a number, the last one of its commit; false if the store does
// not remember it. Number and session together identify a state of the store.
func (log *Log) SessionOf(number uint64) (session uint64, ok bool) {
	value, err := log.Get(changeKey(number))
	if err != nil || len(value) < 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(value), true
}

// Change is one write: the keys that it sets, and its additions to the counts.
type Change struct {
	*pebble.Batch
	Live, Deleted, Resources int64
	Projects                 map[string]int64 // the part of Live of each project

	db   *pebble.DB
	look *pebble.Iterator // of Has; nil before

	// TakenResources are IDs that it took and that the store does not show yet.
	TakenResources map[uuid.UUID]bool // created
	TakenMetrics   map[uuid.UUID]bool // created, or attached
	Listed         map[uuid.UUID]bool // resources whose values list their new metrics
	Unlisted       map[uuid.UUID]bool // those that listed their metrics before
	LabelsKeys     [][]byte           // of the metrics that it creates, in their order; nil: to be made
	Key            []byte             // scratch

	touched []changed // metrics and resources that are no longer as they were
}

// Has reports whether a key is in the store, without what c adds. Mostly it is not, so the filters of all levels are
// asked; Get leaves out that of the last, where most keys are. Keys that ascend cost less.
func (c *Change) Has(key []byte) (_ bool, err error) {
	if c.look == nil {
		if c.look, err = c.db.NewIter(&pebble.IterOptions{UseL6Filters: true}); err != nil {
			return false, err
		}
	}
	return c.look.SeekPrefixGE(key), c.look.Error()
}

// endLook closes what has opened.
func (c *Change) endLook() error {
	if c.look == nil {
		return nil
	}
	return c.look.Close()
}

// AddLive adds to the live metrics of a project.
func (c *Change) AddLive(project string, n int64) {
	c.Live += n
	if c.Projects == nil {
		c.Projects = make(map[string]int64)
	}
	c.Projects[project] += n
}

// TouchMetric notes a metric that is no longer as it was.
func (c *Change) TouchMetric(id uuid.UUID) { c.touched = append(c.touched, changed{id: id}) }

// TouchResource notes a resource that is no longer as it was.
func (c *Change) TouchResource(id uuid.UUID) {
	c.touched = append(c.touched, changed{resource: true, id: id})
}
