package intake

import (
	"bytes"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/storage/incoming"
)

// Sources says which incoming stores accept measures, as far as that matters for the order.
type Sources struct {
	// Complete: every store that ever accepts a measure is among Waited, or comes to be before it does.
	Complete bool
	// Waited are the IDs of the stores whose measures are waited for before others are settled.
	Waited []string
}

// waits reports whether measures of a store are waited for.
func (s *Sources) waits(id string) bool { return slices.Contains(s.Waited, id) }

// alone reports whether there is no other store than this one.
func (s *Sources) alone(id string) bool { return s.Complete && len(s.Waited) == 1 && s.Waited[0] == id }

// Options of an Intake.
type Options struct {
	// Sources returns the known stores; nil: there is only one, or their order does not matter.
	Sources func() *Sources
	// ClockError bounds how far a clock is from the other ones of the cluster; nil: they agree.
	ClockError func(clock uuid.UUID) time.Duration
}

// Intake follows the stores that bring a sack its measures: how far each was read, and up to which stamps everything
// is settled.
type Intake struct {
	options Options
	cursors map[string]*Cursor
	origins []*Origin
	corrupt []CorruptBlock
}

// CorruptBlock is a record's block that did not decode, until a checkpoint keeps it.
type CorruptBlock struct {
	Source   string
	Sequence uint64
	Block    []byte
}

// New returns an Intake without stores.
func New(options Options) *Intake {
	return &Intake{options: options, cursors: make(map[string]*Cursor)}
}

// Cursor is a sack's position in one store. It outlives the store's attachment: the next checkpoint must write the mark
// of the measures that the heads hold, and none may be read twice if the store comes back under another address.
type Cursor struct {
	id       string
	attached bool

	read    atomic.Uint64 // sequence up to which the heads or the archives have all measures
	applied uint64        // sequence up to which the archives have all measures

	// frontier is below the stamps of all records behind read, once anything was heard.
	frontier incoming.Stamp
	heard    bool
}

// ID returns the store's identity.
func (c *Cursor) ID() string { return c.id }

// Read returns the sequence up to which the heads or the archives have all measures. Any goroutine may ask.
func (c *Cursor) Read() uint64 { return c.read.Load() }

// Applied returns the sequence up to which the archives have all measures.
func (c *Cursor) Applied() uint64 { return c.applied }

// Advance notes that a record's measures are in the heads. Later records have later stamps.
func (c *Cursor) Advance(r *incoming.Record) {
	c.frontier, c.heard = r.Stamp, true
	c.read.Store(r.Sequence)
}

// Hear notes a frontier: all records behind Read have later stamps.
func (c *Cursor) Hear(frontier incoming.Stamp) { c.frontier, c.heard = frontier, true }

// Attach returns the cursor of a store that is now drained. mark is asked for the position of a store without a cursor.
func (in *Intake) Attach(id string, mark func(id string) (uint64, error)) (*Cursor, error) {
	c := in.cursors[id]
	if c == nil {
		sequence, err := mark(id)
		if err != nil {
			return nil, err
		}
		c = &Cursor{id: id, applied: sequence}
		c.read.Store(sequence)
		in.cursors[id] = c
	}
	c.attached = true
	return c, nil
}

// Detach notes that a store is no longer drained.
func (in *Intake) Detach(c *Cursor) { c.attached = false }

// EachMark calls f with the stores whose measures the archives do not have yet, and how far they were read.
func (in *Intake) EachMark(f func(id string, read uint64)) {
	for _, c := range in.cursors {
		if read := c.Read(); read != c.applied {
			f(c.id, read)
		}
	}
}

// Quarantine takes a record whose block, which it copies, does not decode.
func (in *Intake) Quarantine(c *Cursor, r *incoming.Record, block []byte) {
	in.corrupt = append(in.corrupt, CorruptBlock{c.id, r.Sequence, bytes.Clone(block)})
	c.Advance(r)
}

// Quarantined returns the blocks that the next checkpoint keeps.
func (in *Intake) Quarantined() []CorruptBlock { return in.corrupt }

// Apply notes that the archives hold everything that was read. It forgets detached stores, except those that are
// waited for.
func (in *Intake) Apply() {
	known := in.sources()
	in.corrupt = nil
	for id, c := range in.cursors {
		c.applied = c.Read()
		if !c.attached && (known == nil || !known.waits(id)) {
			delete(in.cursors, id)
		}
	}
}

func (in *Intake) sources() *Sources {
	if in.options.Sources == nil {
		return nil
	}
	return in.options.Sources()
}

// Alone reports whether no other store than this one brings measures: then its records count in their order.
func (in *Intake) Alone(c *Cursor) bool {
	known := in.sources()
	return known == nil || known.alone(c.id)
}

// WasAlone reports whether there never was more than one store.
func (in *Intake) WasAlone() bool { return len(in.origins) == 0 }

// Origin is where records come from: a store, and the clock of their stamps.
type Origin struct {
	source  string
	clock   uuid.UUID
	error   int64 // of the clock, in nanoseconds
	settled int64 // up to this stamp its records are settled
}

// Source returns the store's identity.
func (o *Origin) Source() string { return o.source }

// Clock returns the identity of the clock.
func (o *Origin) Clock() uuid.UUID { return o.clock }

// apart returns by how much the readings of two origins' clocks may differ.
func (o *Origin) apart(other *Origin) int64 {
	if o.clock == other.clock && o.clock != uuid.Nil {
		return 0
	}
	return o.error + other.error
}

// Origin returns the origin of a store's records with a clock.
func (in *Intake) Origin(source string, clock uuid.UUID) *Origin {
	for _, o := range in.origins {
		if o.source == source && o.clock == clock {
			return o
		}
	}
	o := &Origin{source: source, clock: clock}
	in.settle(o, in.sources())
	in.origins = append(in.origins, o)
	return o
}

// Settle computes what is settled by the frontiers that were heard so far.
func (in *Intake) Settle() {
	known := in.sources()
	for _, o := range in.origins {
		in.settle(o, known)
	}
}

func (in *Intake) settle(o *Origin, known *Sources) {
	o.error = in.clockError(o.clock)
	o.settled = math.MaxInt64
	if known == nil {
		return
	}
	if !known.Complete {
		o.settled = math.MinInt64
		return
	}
	for _, id := range known.Waited {
		if id == o.source {
			continue
		}
		c := in.cursors[id]
		if c == nil || !c.heard {
			o.settled = math.MinInt64
			return
		}
		other := Origin{clock: c.frontier.Clock, error: in.clockError(c.frontier.Clock)}
		o.settled = min(o.settled, c.frontier.At-o.apart(&other))
	}
}

func (in *Intake) clockError(clock uuid.UUID) int64 {
	if in.options.ClockError == nil {
		return 0
	}
	return int64(in.options.ClockError(clock))
}
