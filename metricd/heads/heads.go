package heads

import (
	"log/slog"
	"sync"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/internal/roster"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// Options of the heads of a sack. All but Dropped are needed.
type Options struct {
	Store   *archive.Store
	Intake  *intake.Intake
	Bytes   int // memory for heads and the measures in them
	Logger  *slog.Logger
	Corrupt func(n int)   // counts stored values that do not decode
	Dropped func(h *Head) // called with the lock held when a head goes
}

// Heads are those of a sack.
type Heads struct {
	options        Options
	keepsUnsettled bool              // a metric of the store has, or had, unsettled measures
	plans          []*carbonara.Plan // of archives in the schema of earlier policies, for Load

	sync.RWMutex // guards what follows, and the heads
	heads        map[uuid.UUID]*Head
	lists        *roster.Table[*Head]
	dirty        []*Head       // that the next checkpoint writes
	pending      int           // measures in heads
	bytes        int           // what these take, with the memory that heads keep for the next ones
	touched      int           // means nothing, see touch
	limits       intake.Limits // memory
}

// New returns the heads of a sack, which Load makes of its store.
func New(options Options) (*Heads, error) {
	keeps, err := options.Store.KeepsUnsettled()
	return &Heads{options: options, keepsUnsettled: keeps, heads: make(map[uuid.UUID]*Head),
		lists: roster.NewTable[*Head](2 * options.Bytes / headBytes)}, err
}

// KeepsUnsettled reports whether a metric of the store has, or had, unsettled measures. The worker asks.
func (hs *Heads) KeepsUnsettled() bool { return hs.keepsUnsettled }

// Of returns the head of a metric, nil for none. The lock is held, by reads.
func (hs *Heads) Of(metric uuid.UUID) *Head { return hs.heads[metric] }

// Get returns the head of a metric, nil for none.
func (hs *Heads) Get(metric uuid.UUID) *Head {
	hs.RLock()
	defer hs.RUnlock()
	return hs.heads[metric]
}

// IsDirty reports whether the next checkpoint writes a metric.
func (hs *Heads) IsDirty(metric uuid.UUID) bool {
	return hs.has(metric, func(h *Head) bool { return h.dirty })
}

// MustWrite reports whether the next checkpoint writes a metric whose archive has another schema than its policy.
func (hs *Heads) MustWrite(metric uuid.UUID) bool {
	return hs.has(metric, func(h *Head) bool { return h.dirty && !h.matchesPolicy() })
}

// WritesByPolicy reports whether the last checkpoint wrote a metric by its policy as it is, or the next one does.
func (hs *Heads) WritesByPolicy(metric uuid.UUID) bool {
	return hs.has(metric, func(h *Head) bool { return h.surveyed || h.dirty && h.matchesPolicy() })
}

func (hs *Heads) has(metric uuid.UUID, what func(*Head) bool) bool {
	hs.RLock()
	defer hs.RUnlock()
	h := hs.heads[metric]
	return h != nil && what(h)
}

// AnyDirty reports whether the next checkpoint writes any metric.
func (hs *Heads) AnyDirty() bool {
	hs.RLock()
	defer hs.RUnlock()
	return len(hs.dirty) > 0
}

// Len returns the number of heads.
func (hs *Heads) Len() int {
	hs.RLock()
	defer hs.RUnlock()
	return len(hs.heads)
}

// Pending returns how many measures wait in heads.
func (hs *Heads) Pending() int {
	hs.RLock()
	defer hs.RUnlock()
	return hs.pending
}

// enoughMeasures of a metric share the keys that a checkpoint writes for it.
const enoughMeasures = 24

// HasEnough reports whether metrics have so many measures to write, on average, that a later checkpoint saves little.
// Of two replicas' measures about half count.
func (hs *Heads) HasEnough() bool {
	hs.RLock()
	defer hs.RUnlock()
	enough := 0
	for _, h := range hs.dirty {
		if enough += enoughMeasures; h.replicas {
			enough += enoughMeasures
		}
	}
	return hs.pending >= enough
}

// headBytes is about what a head takes without its measures: itself, its place in the map, a row of aggregates by
// granularity, its metric.
const headBytes = 400

// AreFull reports whether heads and their measures have used up their memory. A checkpoint empties it.
func (hs *Heads) AreFull() bool {
	hs.RLock()
	defer hs.RUnlock()
	return hs.bytes+len(hs.heads)*headBytes >= hs.options.Bytes
}

// Listed appends the heads of a list of metrics to dst. ok is false if the list is not known in the index's present
// generation.
func (hs *Heads) Listed(list keyhash.Hash, generation uint64, dst []*Head) (heads []*Head, ok bool) {
	hs.RLock()
	defer hs.RUnlock()
	listed, ok := hs.lists.Get(list, generation)
	return append(dst, listed...), ok
}

// Find appends the heads of metrics to dst, nil for those without a head that the index was asked for in its present
// generation. all reports whether every metric has such a head.
func (hs *Heads) Find(metrics []uuid.UUID, generation uint64, dst []*Head) (heads []*Head, all bool) {
	hs.RLock()
	defer hs.RUnlock()
	all = true
	for _, id := range metrics {
		h := hs.heads[id]
		if h != nil && h.generation != generation {
			h = nil
		}
		all = all && h != nil
		dst = append(dst, h)
	}
	return dst, all
}

// Remember keeps the heads of a list for Listed: all that Find found in a generation. list is zero for metrics that are
// none.
func (hs *Heads) Remember(list keyhash.Hash, generation uint64, heads []*Head) {
	if list == (keyhash.Hash{}) {
		return
	}
	hs.Lock()
	defer hs.Unlock()
	hs.lists.Put(list, generation, heads)
}

// IsCurrent reports whether a metric has a head that the index was asked for in this generation. The lock is held, by
// reads.
func (hs *Heads) IsCurrent(metric uuid.UUID, generation uint64) bool {
	h := hs.heads[metric]
	return h != nil && h.generation == generation
}

// Follow makes the head of a metric, if there is one, follow the metric as the index has it.
func (hs *Heads) Follow(metric *model.Metric) {
	hs.Lock()
	defer hs.Unlock()
	if h := hs.heads[metric.ID]; h != nil {
		h.follow(metric)
	}
}

// Renew makes heads follow metrics that the index was asked for in a generation, and makes the heads of those that have
// none. A nil metric is gone. The worker calls it.
func (hs *Heads) Renew(metrics []*model.Metric, generation uint64) error {
	if err := hs.Load(metrics, generation); err != nil {
		return err
	}
	hs.Lock()
	defer hs.Unlock()
	for _, metric := range metrics {
		if metric == nil {
			continue
		}
		if h := hs.heads[metric.ID]; h.generation != generation {
			h.follow(metric)
			h.generation = generation
		}
	}
	return nil
}

// Counts says what has become of measures.
type Counts struct{ Accepted, TooOld, Late, Deleted int }

func (c *Counts) add(other Counts) {
	c.Accepted += other.Accepted
	c.TooOld += other.TooOld
	c.Late += other.Late
}

// Add adds the measures of one request to the heads of its metrics; nil heads are of metrics that are gone. at is the
// time of the request on its clock, and from is nil if no other store brings measures. ended is called for metrics of
// resources that have ended.
func (hs *Heads) Add(heads []*Head, request *model.Measures, at int64, from *intake.Origin,
	ended func(metric *model.Metric, timestamps []carbonara.Timestamp)) (counts Counts) {
	hs.Lock()
	defer hs.Unlock()
	for i, h := range heads {
		if i%touchedAtOnce == 0 {
			hs.touched += touch(heads[i:min(i+touchedAtOnce, len(heads))])
		}
		timestamps, values := request.Of(i)
		if h == nil {
			counts.Deleted += len(timestamps)
			continue
		}
		counts.add(hs.add(h, at, from, timestamps, values))
		if h.ofEnded {
			ended(h.metric, timestamps)
		}
	}
	return counts
}

func (hs *Heads) add(h *Head, at int64, from *intake.Origin, timestamps []carbonara.Timestamp,
	values []float64) Counts {
	hs.bytes -= h.pending.Bytes()
	counts := h.accept(at, from, timestamps, values, &hs.limits)
	hs.bytes += h.pending.Bytes()
	hs.pending += counts.Accepted
	h.used = true
	if !h.dirty {
		h.dirty = true
		hs.dirty = append(hs.dirty, h)
	}
	return counts
}

// Settle forgets what is settled by now of measures that the next checkpoint writes.
func (hs *Heads) Settle() {
	hs.Lock()
	defer hs.Unlock()
	for _, h := range hs.dirty {
		h.Judge.Settle()
	}
}

// Drop forgets the head of a metric, with its measures. The lock is held.
func (hs *Heads) Drop(metric uuid.UUID) {
	h := hs.heads[metric]
	if h == nil {
		return
	}
	hs.pending -= h.pending.Len()
	hs.drop(metric, h)
	h.pending, h.dropped, h.late = carbonara.MeasureList{}, 0, 0 // it may be dirty
}

func (hs *Heads) drop(metric uuid.UUID, h *Head) {
	if hs.options.Dropped != nil {
		hs.options.Dropped(h)
	}
	hs.bytes -= h.pending.Bytes()
	delete(hs.heads, metric)
	hs.lists.Clear()
}

// forget drops heads while they leave less than a quarter of their memory to measures: first those that were not used
// since the last checkpoint, then any. Which ones is chance, so that of metrics that come in turn some are there the
// next time.
func (hs *Heads) forget() {
	excess := len(hs.heads) - hs.options.Bytes/4*3/headBytes
	for range 2 {
		for id, h := range hs.heads {
			if excess > 0 && !h.used || h.HasMuchAhead() {
				hs.drop(id, h)
				excess--
			}
			h.used = false
		}
	}
}
