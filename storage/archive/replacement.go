package archive

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// SetRaw replaces a metric's raw series by measures, ascending. keepFrom and present are as in AppendRawAhead.
func (c *Checkpoint) SetRaw(metric uuid.UUID, keepFrom, present carbonara.Timestamp,
	timestamps []carbonara.Timestamp, values []float64) {
	c.scratch = metricKey(c.scratch, metric, kindRaw)
	if len(timestamps) == 0 && keepFrom == 0 {
		c.delete(c.scratch)
		return
	}
	c.changes.begin(setKey, c.scratch)
	c.changes.memory = carbonara.AppendRawAhead(c.changes.memory, keepFrom, present, false, timestamps, values)
	c.changes.end()
}

// ReplaceGroups replaces the groups of a metric that start at from or later and before to by those of put, which all
// do. It returns how many there were, and by how many bytes the values of the splits shrink. Splits within the range
// go whole, whether they decode or not; another one that does not decode is an error that wraps storage.ErrCorrupt.
func (c *Checkpoint) ReplaceGroups(metric uuid.UUID, from, to carbonara.Timestamp, put *carbonara.Groups) (
	before int, bytes int64, err error) {
	c.deletes = true
	r := &replacingSplits{c: c, metric: metric, from: from, to: to, put: put}
	g, r0 := put.Granularity, carbonara.SplitKeyOf(from, put.Granularity)
	lower, upper := splitKey(nil, metric, g, r0.Start), splitKey(nil, metric, g, to)
	err = engine.Each(c.store.reads(), lower, upper, func(of, value []byte) error {
		_, key, ok := parseSplitKey(of)
		if !ok {
			return nil
		}
		r.putBefore(key.Start)
		if err := r.replace(key, value); err != nil {
			return fmt.Errorf("split %v: %w", key, err)
		}
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("archive: read %v of %s: %w", g, metric, err)
	}
	r.putBefore(to)
	r.deleteRun()
	return r.before, r.bytes, nil
}

// replacingSplits is one call of ReplaceGroups.
type replacingSplits struct {
	c        *Checkpoint
	metric   uuid.UUID
	from, to carbonara.Timestamp
	put      *carbonara.Groups
	next     int // the first row of put that is not written yet
	before   int
	bytes    int64

	run    []carbonara.SplitKey // side by side, to be deleted
	reader reader
	groups carbonara.Groups
}

// putBefore writes the groups of put that lie in splits before a time, which the store does not have.
func (r *replacingSplits) putBefore(end carbonara.Timestamp) {
	to := max(r.next, r.put.Search(end))
	if r.next < to {
		part := r.put.Slice(r.next, to)
		size := r.c.Bytes()
		r.c.PutGroups(r.metric, &part)
		r.bytes -= int64(r.c.Bytes() - size)
	}
	r.next = to
}

// replace writes one split that the store has.
func (r *replacingSplits) replace(key carbonara.SplitKey, value []byte) error {
	to := max(r.next, r.put.Search(key.End()))
	part := r.put.Slice(r.next, to)
	r.next = to
	within := key.Start >= r.from && key.End() <= r.to
	columns := r.put.Columns
	if within {
		columns = nil
	}
	r.groups.Reset(key.Granularity, columns)
	corrupt := r.reader.decode(value, key, 0, carbonara.MaxTimestamp, &r.groups)
	if corrupt > 0 && !within {
		return storage.ErrCorrupt
	}
	first, end := r.groups.Search(r.from), r.groups.Search(r.to)
	if first == end && part.Len() == 0 && corrupt == 0 {
		return nil
	}
	r.before += end - first
	r.bytes += int64(len(value))
	if within && part.Len() == 0 {
		r.run = append(r.run, key)
		return nil
	}
	var all carbonara.Groups
	all.Reset(key.Granularity, r.put.Columns)
	if !within {
		all.AppendRows(&r.groups, 0, first)
	}
	all.AppendRows(&part, 0, part.Len())
	if !within {
		all.AppendRows(&r.groups, end, r.groups.Len())
	}
	size := r.c.Bytes()
	r.c.ReplaceSplit(r.metric, key, &all)
	if all.Len() > 0 {
		r.bytes -= int64(r.c.Bytes() - size)
	}
	return nil
}

// deleteRun deletes the splits that go whole. No split that stays lies between them.
func (r *replacingSplits) deleteRun() {
	switch n := len(r.run); {
	case n > pointDeletes && r.put.Len() == 0:
		last := r.run[n-1]
		r.c.changes.deleteRange(splitKey(nil, r.metric, last.Granularity, r.run[0].Start),
			splitKey(nil, r.metric, last.Granularity, last.Start+1))
	default:
		for _, key := range r.run {
			r.c.delete(splitKey(nil, r.metric, key.Granularity, key.Start))
		}
	}
}
