package archive

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Checkpoint gathers the changes of one batch of measures; Commit writes them. Not for concurrent use.
type Checkpoint struct {
	store   *Store
	changes *changes
	scratch []byte // of a key
	groups  int
	deletes bool // what somebody asked to delete: upkeep sees it once it is flushed
}

// NewCheckpoint starts a checkpoint. The caller commits or closes it.
func (s *Store) NewCheckpoint() *Checkpoint { return s.NewCheckpointWithSize(0) }

// NewCheckpointWithSize is NewCheckpoint with room for so many bytes.
func (s *Store) NewCheckpointWithSize(bytes int) *Checkpoint {
	return &Checkpoint{store: s, changes: newChanges(bytes)}
}

// PutGroups adds new or changed groups to the metric's splits: they replace those with the same start.
func (c *Checkpoint) PutGroups(metric uuid.UUID, groups *carbonara.Groups) {
	c.groups += groups.Len()
	for key, part := range splitsOf(groups) {
		c.putSplit(mergeKey, metric, key, part)
	}
}

// splitsOf cuts groups where splits begin.
func splitsOf(groups *carbonara.Groups) iter.Seq2[carbonara.SplitKey, *carbonara.Groups] {
	return func(yield func(carbonara.SplitKey, *carbonara.Groups) bool) {
		for from := 0; from < groups.Len(); {
			key := carbonara.SplitKeyOf(groups.Starts[from], groups.Granularity)
			to := from + 1
			for to < groups.Len() && key.Contains(groups.Starts[to]) {
				to++
			}
			part := groups
			if from > 0 || to < groups.Len() {
				part = new(groups.Slice(from, to))
			}
			if !yield(key, part) {
				return
			}
			from = to
		}
	}
}

func (c *Checkpoint) putSplit(kind kindOfChange, metric uuid.UUID, key carbonara.SplitKey, groups *carbonara.Groups) {
	c.scratch = splitKey(c.scratch, metric, key.Granularity, key.Start)
	c.changes.begin(kind, c.scratch)
	c.changes.memory = carbonara.AppendSplit(c.changes.memory, key, groups)
	c.changes.end()
}

// AppendRaw adds measures, ascending, to the metric's raw series. Of equal timestamps these replace older ones.
// Measures before keepFrom may go, but for the last of them.
func (c *Checkpoint) AppendRaw(metric uuid.UUID, keepFrom carbonara.Timestamp, timestamps []carbonara.Timestamp,
	values []float64) {
	c.AppendRawAhead(metric, keepFrom, carbonara.MaxTimestamp, false, timestamps, values)
}

// AppendRawAhead is AppendRaw for a metric whose measures after present (0 for all) are ahead, or of replicas.
func (c *Checkpoint) AppendRawAhead(metric uuid.UUID, keepFrom, present carbonara.Timestamp, replicas bool,
	timestamps []carbonara.Timestamp, values []float64) {
	c.scratch = metricKey(c.scratch, metric, kindRaw)
	c.changes.begin(mergeKey, c.scratch)
	c.changes.memory = carbonara.AppendRawAhead(c.changes.memory, keepFrom, present, replicas, timestamps, values)
	c.changes.end()
}

// AddDropped counts measures that were older than the back window.
func (c *Checkpoint) AddDropped(metric uuid.UUID, n uint64) {
	c.scratch = droppedKey(c.scratch, metric)
	c.addCount(n)
}

// AddLate counts measures that were older than the newest of earlier requests, but not than the back window.
func (c *Checkpoint) AddLate(metric uuid.UUID, n uint64) {
	c.scratch = lateKey(c.scratch, metric)
	c.addCount(n)
}

// addCount adds to the count whose key is in scratch. There is no key where nothing was ever counted.
func (c *Checkpoint) addCount(n uint64) {
	if n == 0 {
		return
	}
	c.changes.begin(mergeKey, c.scratch)
	c.changes.memory = appendCount(c.changes.memory, n)
	c.changes.end()
}

// Delete removes all that the store has of a metric.
func (c *Checkpoint) Delete(metric uuid.UUID) {
	c.deletes = true
	c.changes.deleteRange(metricKey(nil, metric, 0), metricEnd(metric))
}

// Quarantine keeps an incoming block that did not decode.
func (c *Checkpoint) Quarantine(source string, sequence uint64, block []byte) {
	c.Set(quarantineKey(source, sequence), block)
}

// SetMark says that all of an incoming store up to sequence is in this checkpoint or an earlier one.
func (c *Checkpoint) SetMark(source string, sequence uint64) {
	c.Set(markKey(source), binary.BigEndian.AppendUint64(nil, sequence))
}

// SetTime says when the checkpoint was begun: measures processed until then are in it or an earlier one.
func (c *Checkpoint) SetTime(t time.Time) {
	c.Set(timeKey, binary.BigEndian.AppendUint64(nil, uint64(t.UnixNano())))
}

// Set writes a value as it is: for copying a store, and for ChangesKey.
func (c *Checkpoint) Set(key, value []byte) { c.changes.add(setKey, key, value) }

func (c *Checkpoint) delete(key []byte) { c.changes.add(deleteKey, key, nil) }

// Groups returns how many groups were put so far.
func (c *Checkpoint) Groups() int { return c.groups }

// Bytes returns the size of all keys and values so far.
func (c *Checkpoint) Bytes() int { return len(c.changes.memory) }

// tableBytes is from where on a checkpoint is written as a table: a smaller one costs less in the log, where others
// follow it before a flush.
const tableBytes = 128 << 10

// Commit writes the checkpoint and returns once it is durable.
func (c *Checkpoint) Commit() error {
	defer c.Close()
	sack := c.store.unsaid.Load()
	if sack != nil {
		c.Set(sackKey, *sack)
	}
	if err := c.commit(); err != nil {
		return fmt.Errorf("archive: commit checkpoint: %w", err)
	}
	c.store.unsaid.CompareAndSwap(sack, nil)
	if c.deletes {
		_, _ = c.store.db.AsyncFlush() // a store that cannot says so by its log
	}
	return nil
}

func (c *Checkpoint) commit() error {
	switch size := len(c.changes.memory); {
	case size > math.MaxUint32:
		return errors.New("more than 4 GB of changes at a time")
	case size >= tableBytes && !c.changes.ranges:
		return c.store.tables.Add(context.Background(), c.changes.writeTo)
	}
	return c.commitBatch()
}

func (c *Checkpoint) commitBatch() error {
	const overhead = 16 // of a change, at most, and of a batch
	batch := c.store.db.NewBatchWithSize(len(c.changes.memory) + overhead*(len(c.changes.list)+1))
	if err := c.changes.putInto(batch); err != nil {
		return errors.Join(err, batch.Close())
	}
	if err := batch.Commit(pebble.Sync); err != nil {
		return err
	}
	return batch.Close()
}

// Close gives up a checkpoint that is not to be committed. After Commit it does nothing.
func (c *Checkpoint) Close() {
	if c.changes != nil {
		c.changes.release()
		c.changes = nil
	}
}

// Add makes another checkpoint of the store a part of c: both are written or neither. The other is used up.
func (c *Checkpoint) Add(other *Checkpoint) {
	c.groups += other.groups
	c.deletes = c.deletes || other.deletes
	c.changes.append(other.changes)
	other.Close()
}

// OldestKept returns the first timestamp of a group that is kept when the newest group starts at newest: a group is
// kept if its start > newest - timespan.
func OldestKept(newest carbonara.Timestamp, timespan time.Duration) carbonara.Timestamp {
	if carbonara.Timestamp(timespan) > newest {
		return 0
	}
	return newest - carbonara.Timestamp(timespan) + 1
}

// pointDeletes is the number of splits up to which they are deleted one by one: a range tombstone slows reads.
const pointDeletes = 16

// Expire deletes the splits of a granularity from the one that holds from up to the one that holds to, exclusive.
func (c *Checkpoint) Expire(metric uuid.UUID, granularity time.Duration, from, to carbonara.Timestamp) {
	first, last := carbonara.SplitKeyOf(from, granularity), carbonara.SplitKeyOf(to, granularity)
	if first.Start >= last.Start {
		return
	}
	width := last.Start - first.Start
	if step := carbonara.GroupsPerSplit * carbonara.Timestamp(granularity); width/step <= pointDeletes {
		for start := first.Start; start < last.Start; start += step {
			c.scratch = splitKey(c.scratch, metric, granularity, start)
			c.delete(c.scratch)
		}
		return
	}
	c.changes.deleteRange(splitKey(nil, metric, granularity, first.Start),
		splitKey(nil, metric, granularity, last.Start))
}
