package incoming

import (
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// maxGroupBytes bounds a batch; a single larger request has one to itself.
const maxGroupBytes = 4 << 20

// committer is the state of the one goroutine that writes. It gathers what arrives while the last sync runs: a group
// grows as the disk gets slower, and nobody ever waits for a timer.
type committer struct {
	next         uint64   // sequence
	at           int64    // stamp of the group's first request
	totals       []total  // sent to each sack, including what is being committed
	acknowledged []uint64 // up to where each sack is deleted, so that range deletions don't overlap
	lists        *idLists
	group        []*request
	bytes        int
}

// commitLoop runs until the queue is closed and empty.
func (s *Store) commitLoop(c *committer) {
	defer close(s.committed)
	for range s.queue.wake {
		var acknowledged map[int]uint64
		var closed bool
		c.group, acknowledged, closed = s.queue.next(c.group[:0], maxGroupBytes)
		s.commit(c, acknowledged)
		clear(c.group)
		if closed {
			return
		}
	}
}

// commit makes the group durable, publishes it, and wakes its waiting callers.
func (s *Store) commit(c *committer, acknowledged map[int]uint64) {
	kept := c.group[:0]
	c.bytes = 0
	for _, r := range c.group {
		if r.taken.CompareAndSwap(false, true) {
			kept = append(kept, r)
			c.bytes += r.bytes + len(r.blocks)*(keyBytes+maxRecordPrefix+8)
		}
	}
	c.group = kept
	s.refuseWrongClock(c)
	if len(c.group) == 0 && len(acknowledged) == 0 {
		return
	}
	first := c.next
	c.at = s.stamps.begin(len(c.group))
	err := s.failed()
	if err == nil {
		began := time.Now()
		if err = s.write(c, acknowledged); err != nil {
			s.fail(err)
			err = s.failed()
		} else if len(c.group) > 0 {
			s.instruments.commitSeconds.Observe(time.Since(began).Seconds())
			s.instruments.commitRequests.Observe(float64(len(c.group)))
			s.publish(c.group, first, c.at)
		}
	}
	s.stamps.end(err)
	for _, r := range c.group {
		r.done <- err
	}
}

// refuseWrongClock empties the group if the clock fails its check.
func (s *Store) refuseWrongClock(c *committer) {
	check := s.stamps.clock.Check
	if len(c.group) == 0 || check == nil {
		return
	}
	if err := check(); err != nil {
		for _, r := range c.group {
			r.done <- err
		}
		c.group = c.group[:0]
	}
}

// write commits the group's records, synced, and deletes acknowledged ones. Deletion needs no sync: records that a
// crash brings back are behind the reader's mark.
func (s *Store) write(c *committer, acknowledged map[int]uint64) (err error) {
	batch := s.db.NewBatchWithSize(c.bytes + 64)
	defer func() { batch.Close() }()
	for i, r := range c.group {
		at := c.at + int64(i)
		for i := range r.blocks {
			b := &r.blocks[i]
			b.before = c.totals[b.Sack]
			c.totals[b.Sack] = b.before.plus(b.measures)
			if err := c.writeBlock(batch, b, at); err != nil {
				return err
			}
		}
		c.next++
	}
	for sack, upTo := range acknowledged {
		if upTo <= c.acknowledged[sack] {
			continue
		}
		lower, upper := key(sack, c.acknowledged[sack]+1), key(sack, upTo+1)
		if err := batch.DeleteRange(lower[:], upper[:], nil); err != nil {
			return err
		}
		// Those that were used since the last time will probably be used again.
		if err := c.lists.forget(sack, c.acknowledged[sack], func(number uint64) error {
			return batch.Delete(listKey(sack, number), nil)
		}); err != nil {
			return err
		}
		c.acknowledged[sack] = upTo
	}
	if len(c.group) > 0 {
		return applySynced(s.db, batch)
	}
	return applyUnsynced(s.db, batch)
}

// writeBlock puts a block's record into the batch, and its list if that is new.
func (c *committer) writeBlock(batch *pebble.Batch, b *requestBlock, at int64) error {
	r, data, rest := storedRecord{before: b.before, at: at}, b.Data, []byte(nil)
	if len(b.ids) > 0 {
		var isNew bool
		if r.list, isNew = c.lists.use(b.Sack, b.hash, c.next); isNew {
			op := batch.SetDeferred(listKeyBytes, listValueBytes+len(b.ids))
			copy(op.Key, listKey(b.Sack, r.list))
			putList(op.Value, b.ids)
			if err := op.Finish(); err != nil {
				return err
			}
		}
	}
	if r.list != 0 {
		data, _, rest, _ = CutIDs(b.Data) // its header was read when it came
	}
	var prefix [maxRecordPrefix]byte
	n := r.putPrefix(prefix[:])
	op := batch.SetDeferred(keyBytes, n+len(data)+len(rest))
	putKey(op.Key, b.Sack, c.next)
	copy(op.Value, prefix[:n])
	n += copy(op.Value[n:], data)
	copy(op.Value[n:], rest)
	return op.Finish()
}

// applySynced commits a batch with a sync. Pebble's Apply would take a failed sync for the end of the process, by its
// logger; here the error comes back, so that those who wait get an answer.
func applySynced(db *pebble.DB, batch *pebble.Batch) (err error) {
	defer recovered(&err)
	if err := db.ApplyNoSyncWait(batch, pebble.Sync); err != nil {
		return err
	}
	return batch.SyncWait()
}

func applyUnsynced(db *pebble.DB, batch *pebble.Batch) (err error) {
	defer recovered(&err)
	return db.Apply(batch, pebble.NoSync)
}

// recovered turns a panic into an error. Pebble panics if its log has failed before, under an earlier batch or in the
// background.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("pebble: %v", r)
	}
}

// publish makes a committed group visible to the readers, in order.
func (s *Store) publish(group []*request, sequence uint64, at int64) {
	measures, size := 0, 0
	for _, r := range group {
		for _, b := range r.blocks {
			s.sacks[b.Sack].publish(recentRecord{
				Record: Record{Sequence: sequence, Stamp: Stamp{s.stamps.clock.ID, at}, Block: b.Data, List: b.hash},
				before: b.before, accepted: b.accepted,
			}, b.measures)
			measures += b.measures
		}
		size += r.bytes + len(r.blocks)*recordOverhead
		sequence++
		at++
	}
	s.instruments.requests.Add(float64(len(group)))
	s.instruments.measures.Add(int64(measures))
	if s.recentBytes.Add(int64(size)) > int64(s.options.RecentBytes) {
		s.shrinkRecent()
	}
	for _, r := range group {
		for _, b := range r.blocks {
			s.sacks[b.Sack].wake()
		}
	}
}

// shrinkRecent lets go of the older half of the longest list until all fit: the sack whose reader is furthest behind
// goes to the disk, the others go on in memory.
func (s *Store) shrinkRecent() {
	for s.recentBytes.Load() > int64(s.options.RecentBytes) {
		var longest *sack
		most := 0
		for _, k := range s.sacks {
			k.mu.Lock()
			size := k.recent.size
			k.mu.Unlock()
			if size > most {
				longest, most = k, size
			}
		}
		if longest == nil {
			return
		}
		longest.mu.Lock()
		dropped := longest.recent.drop((len(longest.recent.records) + 1) / 2)
		longest.mu.Unlock()
		s.recentBytes.Add(int64(-dropped))
	}
}
