package metrics

import (
	"encoding/binary"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/internal/roster"
	"github.com/gnocco-db/gnocco/model"
)

// cache holds metrics by ID in a table that grows up to a limit. Reading takes no lock: a bucket is one cache line, and
// what its slots point to is never modified. A table that a larger one has replaced stays as it was. Only live metrics
// whose creation is durable get in.
type cache struct {
	table      atomic.Pointer[[]cacheBucket]
	most       int // buckets
	generation atomic.Uint64
	entries    atomic.Int64

	mu sync.Mutex // for all that changes table or generation
}

const bucketSlots = 7

// admitOneIn is how many metrics ask for a place in a full bucket until one gets it. Senders name their metrics in
// turn: if each took a place, with a few more metrics than places none would be found the next time.
const admitOneIn = 8

// cacheBucket fills one cache line. Byte i of tags is the tag of slot i, 0 if the slot is free; the eighth counts those
// that asked for a place in the full bucket.
type cacheBucket struct {
	tags  atomic.Uint64
	slots [bucketSlots]atomic.Pointer[model.Metric]
}

const firstBuckets = 1 << 10

func newMetricCache(entries int) *cache {
	// A fifth more than the entries, since some buckets fill before others.
	c := &cache{most: max(1, (entries+entries/5)/bucketSlots)}
	c.table.Store(new(make([]cacheBucket, min(c.most, firstBuckets))))
	return c
}

// grow doubles the table if two slots of a bucket are used on average, and reports whether it did. mu is held.
func (c *cache) grow() bool {
	old := *c.table.Load()
	if len(old) == c.most || c.entries.Load() < 2*int64(len(old)) {
		return false
	}
	larger := make([]cacheBucket, min(c.most, 2*len(old)))
	c.entries.Store(0)
	c.table.Store(&larger)
	for i := range old {
		for slot := range old[i].slots {
			if m := old[i].slots[slot].Load(); m != nil {
				c.insertLocked(m)
			}
		}
	}
	return true
}

// place returns where id belongs, and its tag, which is never 0.
func (c *cache) place(id *uuid.UUID) (*cacheBucket, uint8) {
	buckets := *c.table.Load()
	// IDs are mostly random, but not all of their bits, and some are chosen by clients.
	h := (binary.LittleEndian.Uint64(id[:8]) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(id[8:]),
		32)) * 0x9e3779b97f4a7c15
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	i, _ := bits.Mul64(h, uint64(len(buckets)))
	return &buckets[i], uint8(h) | 1
}

// get returns the metric, or nil.
func (c *cache) get(id *uuid.UUID) *model.Metric {
	b, tag := c.place(id)
	tags := b.tags.Load()
	for i := range b.slots {
		if uint8(tags>>(8*i)) == tag {
			if m := b.slots[i].Load(); m != nil && m.ID == *id {
				return m
			}
		}
	}
	return nil
}

// insert adds m, which was read when the generation was seen. If something has changed since, m may be out of date, and
// is left out. A copy that is there stays, as others hold it.
func (c *cache) insert(seen uint64, metrics ...*model.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation.Load() != seen {
		return
	}
	for _, m := range metrics {
		c.insertLocked(m)
	}
}

func (c *cache) insertLocked(m *model.Metric) {
	b, tag := c.place(&m.ID)
	tags := b.tags.Load()
	free := -1
	for i := range b.slots {
		switch held := b.slots[i].Load(); {
		case held == nil:
			free = i
		case held.ID == m.ID:
			return
		}
	}
	if free >= 0 {
		c.entries.Add(1)
	} else if c.grow() {
		c.insertLocked(m)
		return
	} else {
		asked := (tags>>56 + 1) % (admitOneIn * bucketSlots)
		tags = tags&^(0xff<<56) | asked<<56
		if asked%admitOneIn != 0 {
			b.tags.Store(tags)
			return
		}
		free = int(asked / admitOneIn)
	}
	// A reader that sees the old tag with the new metric, or the other way round, misses or compares the ID.
	b.slots[free].Store(m)
	b.tags.Store(tags&^(0xff<<(8*free)) | uint64(tag)<<(8*free))
}

// remove forgets metrics and raises the generation, also if none of them was there.
func (c *cache) remove(ids []uuid.UUID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range ids {
		b, _ := c.place(&ids[i])
		for slot := range b.slots {
			if m := b.slots[slot].Load(); m != nil && m.ID == ids[i] {
				b.slots[slot].Store(nil)
				b.tags.Store(b.tags.Load() &^ (0xff << (8 * slot)))
				c.entries.Add(-1)
			}
		}
	}
	c.generation.Add(1)
}

// replacePolicy gives all metrics of the policy's name the new policy, and raises the generation.
func (c *cache) replacePolicy(policy *model.ArchivePolicy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	buckets := *c.table.Load()
	for i := range buckets {
		for slot := range buckets[i].slots {
			p := &buckets[i].slots[slot]
			if m := p.Load(); m != nil && m.ArchivePolicy.Name == policy.Name {
				updated := *m
				updated.ArchivePolicy = policy
				p.Store(&updated)
			}
		}
	}
	c.generation.Add(1)
}

const (
	// listedCreators bounds the creators of remembered lists, at some 150 bytes a list.
	listedCreators = 16 << 10
	// maxCreators is how many creators the metrics of a list may have.
	maxCreators = 8
)

// OneOfEachCreator returns, of metrics that all exist, one of each creator. ok is false if one does not exist or cannot
// be looked up, or if there are too many creators to remember.
func (s *Table) OneOfEachCreator(ids []uuid.UUID) (metrics []*model.Metric, ok bool) {
	generation := s.cache.generation.Load()
	if len(ids) < roster.MinListed {
		return s.findCreators(ids)
	}
	list := keyhash.Of(unsafe.Slice(&ids[0][0], len(ids)*len(ids[0])))
	s.listsMu.RLock()
	metrics, ok = s.creators.Get(list, generation)
	s.listsMu.RUnlock()
	if ok {
		return metrics, true
	}
	if metrics, ok = s.findCreators(ids); ok {
		s.listsMu.Lock()
		s.creators.Put(list, generation, metrics)
		s.listsMu.Unlock()
	}
	return metrics, ok
}

func (s *Table) findCreators(ids []uuid.UUID) (metrics []*model.Metric, ok bool) {
next:
	for i := range ids {
		metric := s.Lookup(ids[i])
		if metric == nil {
			return nil, false
		}
		for _, m := range metrics {
			if m.Creator == metric.Creator {
				continue next
			}
		}
		if len(metrics) == maxCreators {
			return nil, false
		}
		metrics = append(metrics, metric)
	}
	return metrics, true
}
