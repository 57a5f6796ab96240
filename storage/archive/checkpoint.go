package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"gnocco/carbonara"
)

// Checkpoint gathers what one batch of measures changes; nothing is written before Commit. Not for concurrent use.
type Checkpoint struct {
	store *Store
	batch *pebble.Batch
	key   []byte
	value []byte

	groups int
}

// NewCheckpoint starts a checkpoint. The caller commits or closes it.
func (s *Store) NewCheckpoint() *Checkpoint { return s.NewCheckpointWithSize(0) }

// NewCheckpointWithSize is NewCheckpoint with room for so many bytes.
func (s *Store) NewCheckpointWithSize(bytes int) *Checkpoint {
	return &Checkpoint{store: s, batch: s.db.NewBatchWithSize(bytes)}
}

// PutGroups adds new or changed groups to the metric's splits: they replace those with the same start.
func (c *Checkpoint) PutGroups(metric uuid.UUID, groups *carbonara.Groups) error {
	c.groups += groups.Len()
	for from := 0; from < groups.Len(); {
		key := carbonara.SplitKeyOf(groups.Starts[from], groups.Granularity)
		to := from + 1
		for to < groups.Len() && key.Contains(groups.Starts[to]) {
			to++
		}
		part := groups
		if from > 0 || to < groups.Len() {
			slice := groups.Slice(from, to)
			part = &slice
		}
		c.key = splitKey(c.key, metric, key.Granularity, key.Start)
		c.value = carbonara.AppendSplit(c.value[:0], key, part)
		if err := c.batch.Merge(c.key, c.value, nil); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// AppendRaw adds measures, ascending, to the metric's raw series. Of equal timestamps these replace older ones.
// Measures before keepFrom may go, but for the last of them.
func (c *Checkpoint) AppendRaw(metric uuid.UUID, keepFrom carbonara.Timestamp, timestamps []carbonara.Timestamp,
	values []float64) error {
	c.key = metricKey(c.key, metric, kindRaw)
	c.value = carbonara.AppendRaw(c.value[:0], keepFrom, timestamps, values)
	return c.batch.Merge(c.key, c.value, nil)
}

// pointDeletes is the number of splits up to which they are deleted one by one: a range tombstone slows reads.
const pointDeletes = 16

// AddDropped counts measures that were older than the back window.
func (c *Checkpoint) AddDropped(metric uuid.UUID, n uint64) error {
	c.key = droppedKey(c.key, metric)
	return c.addCount(n)
}

// AddLate counts measures that were older than the newest of earlier requests, but not than the back window.
func (c *Checkpoint) AddLate(metric uuid.UUID, n uint64) error {
	c.key = lateKey(c.key, metric)
	return c.addCount(n)
}

// addCount adds to the count of c.key. There is no key where nothing was ever counted.
func (c *Checkpoint) addCount(n uint64) error {
	if n == 0 {
		return nil
	}
	c.value = appendCount(c.value[:0], n)
	return c.batch.Merge(c.key, c.value, nil)
}

// Delete removes all that the store has of a metric.
func (c *Checkpoint) Delete(metric uuid.UUID) error {
	return c.batch.DeleteRange(metricKey(nil, metric, 0), metricEnd(nil, metric), nil)
}

// Quarantine keeps an incoming block that did not decode.
func (c *Checkpoint) Quarantine(source string, sequence uint64, block []byte) error {
	return c.batch.Set(quarantineKey(source, sequence), block, nil)
}

// SetMark says that all of an incoming store up to sequence is in this checkpoint or an earlier one.
func (c *Checkpoint) SetMark(source string, sequence uint64) error {
	return c.batch.Set(markKey(source), binary.BigEndian.AppendUint64(nil, sequence), nil)
}

// SetTime says when the checkpoint was begun: what was processed until then is in it or an earlier one.
func (c *Checkpoint) SetTime(t time.Time) error {
	return c.batch.Set(timeKey, binary.BigEndian.AppendUint64(nil, uint64(t.UnixNano())), nil)
}

// Groups returns how many groups were put so far.
func (c *Checkpoint) Groups() int { return c.groups }

// Bytes returns the size of the batch so far.
func (c *Checkpoint) Bytes() int { return c.batch.Len() }

// Commit writes the checkpoint and returns once it is durable.
func (c *Checkpoint) Commit() error {
	if err := c.batch.Commit(pebble.Sync); err != nil {
		return fmt.Errorf("archive: commit checkpoint: %w", err)
	}
	return c.batch.Close()
}

// Close gives up a checkpoint that is not to be committed.
func (c *Checkpoint) Close() error { return c.batch.Close() }

// Add makes another checkpoint of the store a part of c: both are written or neither. The other is used up.
func (c *Checkpoint) Add(other *Checkpoint) error {
	c.groups += other.groups
	err := c.batch.Apply(other.batch, nil)
	return errors.Join(err, other.batch.Close())
}
