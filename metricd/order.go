package metricd

import (
	"errors"
	"math"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// Several incoming stores are drained side by side, so measures are not processed in the order in which they were sent.
// A measure must not be too old because of another that was sent after its 202, and must not replace one. Records have
// stamps, moments between arrival and 202; clocks differ by their errors. So:
//
//   - A measure is judged by measures of its own store that come before it, and by those of others whose stamps are
//     earlier by more than both clocks' errors. It is accepted where that leaves a doubt.
//   - A measure is settled when all that is still to come has later stamps, by more than these errors: the frontiers of
//     all other stores have passed it. Raw measures are kept by what is settled, so that whatever is still accepted can
//     be computed.
//   - Of equal timestamps the later stamp wins, and where stamps are equal the greater store, whatever came first.
//
// With one store all is settled at once: the order of its sequences is the order.

// Sources says which incoming stores accept measures, as far as that matters for the order.
type Sources struct {
	// Complete: every store that ever accepts a measure is among Waited, or comes to be before it does.
	Complete bool
	// Waited are the IDs of the stores whose measures are waited for before others are settled.
	Waited []string
}

// SetSources replaces what Options.Sources said. A store has to be made known before it accepts its first measure.
func (p *Metricd) SetSources(s Sources) { p.known.Store(&s) }

// waits reports whether measures of a store are waited for.
func (s *Sources) waits(id string) bool { return slices.Contains(s.Waited, id) }

// alone reports whether there is no other store than this one.
func (s *Sources) alone(id string) bool { return s.Complete && len(s.Waited) == 1 && s.Waited[0] == id }

// origin is where records come from: a store, and the clock of their stamps. Changed under the sack's work and mu both.
type origin struct {
	source  string
	clock   uuid.UUID
	error   int64 // of the clock, in nanoseconds
	settled int64 // up to this stamp its records are settled
}

// apart returns by how much the readings of two origins' clocks may differ.
func (o *origin) apart(other *origin) int64 {
	if o.clock == other.clock && o.clock != uuid.Nil {
		return 0
	}
	return o.error + other.error
}

// run is the measures of one request that are not settled.
type run struct {
	origin *origin
	at     int64
	newest carbonara.Timestamp
	others []carbonara.Timestamp
}

func (r *run) has(t carbonara.Timestamp) bool { return t == r.newest || slices.Contains(r.others, t) }

// unsettled is what a head keeps while some of its measures are not settled.
type unsettled struct {
	newest carbonara.Timestamp // of the settled ones that are not ahead; 0 for none
	runs   []run               // in the order of processing
}

// originOf returns the origin of a record. work is held.
func (s *sack) originOf(source string, clock uuid.UUID) *origin {
	for _, o := range s.origins {
		if o.source == source && o.clock == clock {
			return o
		}
	}
	o := &origin{source: source, clock: clock}
	s.settleOrigin(o, s.parent.known.Load())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.origins = append(s.origins, o)
	return o
}

// targetsAreUnsettled reports whether heads of the request in hand have measures of other stores that are not settled,
// and brings what is settled up to date then: such a store may be drained and gone while this one, the last, still has
// what was sent before. work is held.
func (s *sack) targetsAreUnsettled(source string) bool {
	if len(s.origins) == 0 { // there never was another
		return false
	}
	for _, h := range s.targets {
		if h != nil && h.unsettled != nil && h.unsettled.hasOthers(source) {
			s.settle()
			return true
		}
	}
	return false
}

func (u *unsettled) hasOthers(source string) bool {
	return slices.ContainsFunc(u.runs, func(r run) bool { return r.origin.source != source })
}

// settle finds out what is settled by now. work is held.
func (s *sack) settle() {
	known := s.parent.known.Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cursor := range s.cursors {
		cursor.advance(s.number)
	}
	for _, o := range s.origins {
		s.settleOrigin(o, known)
	}
}

// settleDirty forgets what is settled by now, before a checkpoint writes down the rest. work is held.
func (s *sack) settleDirty() {
	if len(s.origins) == 0 {
		return
	}
	s.settle()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.dirty {
		h.settle()
	}
}

func (s *sack) settleOrigin(o *origin, known *Sources) {
	o.error = s.clockError(o.clock)
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
		cursor := s.cursors[id]
		if cursor == nil || !cursor.heard {
			o.settled = math.MinInt64
			return
		}
		other := origin{clock: cursor.frontier.Clock, error: s.clockError(cursor.frontier.Clock)}
		o.settled = min(o.settled, cursor.frontier.At-o.apart(&other))
	}
}

func (s *sack) clockError(clock uuid.UUID) int64 {
	if s.parent.options.ClockError == nil {
		return 0
	}
	return int64(s.parent.options.ClockError(clock))
}

// advance moves the frontier of a cursor that has taken all that its source has. work and mu are held.
func (c *sourceCursor) advance(sack int) {
	if c.source == nil {
		return
	}
	if stamp, ok := c.source.Frontier(sack, c.read); ok {
		c.frontier, c.heard = stamp, true
	}
}

// took notes that what comes next has later stamps. work and mu are held.
func (c *sourceCursor) took(r *incoming.Record) {
	c.read, c.frontier, c.heard = r.Sequence, r.Stamp, true
}

// acceptFrom is accept where several stores bring measures.
func (h *head) acceptFrom(o *origin, at int64, timestamps []carbonara.Timestamp,
	values []float64) (accepted, dropped, late int) {
	h.settle()
	settled, present := h.settled(), h.present()
	oldest, inOrder := h.limitsBy(h.newestBefore(o, at))
	later := h.runsBehind(o, at)
	taken := run{origin: o, at: at}
	for i, t := range timestamps {
		if t < inOrder {
			if t < oldest {
				dropped++
				continue
			}
			late++
		}
		if slices.ContainsFunc(later, func(r run) bool { return r.has(t) }) {
			continue // replaced already by one that was sent later
		}
		h.add(carbonara.Measure{Timestamp: t, Value: values[i]})
		switch {
		case accepted == 0:
			taken.newest = t
		case t > taken.newest:
			taken.newest, t = t, taken.newest
			fallthrough
		default:
			taken.others = append(taken.others, t)
		}
		accepted++
	}
	if accepted > 0 && h.mayBeAhead(at) {
		h.noteAhead(at, present, oldest, timestamps)
	}
	if accepted > 0 && at > o.settled {
		if h.unsettled == nil {
			h.unsettled = &unsettled{newest: settled}
		}
		h.unsettled.runs = append(h.unsettled.runs, taken)
	} else if accepted > 0 && h.unsettled != nil {
		h.unsettled.note(&taken, h.aheadFrom())
	}
	h.count(dropped, late)
	return accepted, dropped, late
}

// note counts a run as settled. What is not before until is ahead.
func (u *unsettled) note(r *run, until carbonara.Timestamp) {
	u.newest = max(u.newest, r.newestBefore(until))
}

// newestBefore returns the newest of the measures before a time, 0 for none.
func (r *run) newestBefore(until carbonara.Timestamp) (newest carbonara.Timestamp) {
	if r.newest < until {
		return r.newest
	}
	for _, t := range r.others {
		if t < until {
			newest = max(newest, t)
		}
	}
	return newest
}

// aheadFrom returns the earliest timestamp that is ahead.
func (h *head) aheadFrom() carbonara.Timestamp {
	if h.ahead == nil {
		return math.MaxInt64
	}
	return h.ahead.until
}

// settledBefore returns the newest settled measure before a time that was ahead so far, 0 for none.
func (h *head) settledBefore(until carbonara.Timestamp) carbonara.Timestamp {
	if h.ahead == nil {
		return 0
	}
	for _, t := range slices.Backward(h.ahead.later[:h.ahead.before(until)]) {
		if !slices.ContainsFunc(h.unsettled.runs, func(r run) bool { return r.has(t) }) {
			return t
		}
	}
	return 0
}

// settle forgets the runs that are settled by now.
func (h *head) settle() {
	u := h.unsettled
	if u == nil {
		return
	}
	u.runs = slices.DeleteFunc(u.runs, func(r run) bool {
		if r.at > r.origin.settled {
			return false
		}
		u.note(&r, h.aheadFrom())
		return true
	})
	if len(u.runs) == 0 {
		h.unsettled = nil
	}
}

// settled returns the newest settled measure that is not ahead, 0 for none.
func (h *head) settled() carbonara.Timestamp {
	if h.unsettled != nil {
		return h.unsettled.newest
	}
	return h.present()
}

// newestBefore returns the newest of the measures that surely come before a record and are not ahead of it, 0 for none.
func (h *head) newestBefore(o *origin, at int64) carbonara.Timestamp {
	if h.unsettled == nil {
		return h.presentAt(at)
	}
	newest, until := h.unsettled.newest, h.aheadFrom()
	if h.ahead != nil {
		until = max(until, model.AheadFrom(h.plan, at))
		newest = max(newest, h.settledBefore(until))
	}
	for i := range h.unsettled.runs {
		r := &h.unsettled.runs[i]
		if r.newest > newest && (r.origin.source == o.source || at-r.at > o.apart(r.origin)) {
			newest = max(newest, r.newestBefore(until))
		}
	}
	return newest
}

// runsBehind returns the runs of other stores whose measures replace those of a record.
func (h *head) runsBehind(o *origin, at int64) (later []run) {
	if h.unsettled == nil {
		return nil
	}
	for _, r := range h.unsettled.runs {
		if r.origin.source != o.source && (r.at > at || r.at == at && r.origin.source > o.source) {
			later = append(later, r)
		}
	}
	return later
}

// stored returns what the archive keeps of unsettled measures, nil for nothing.
func (u *unsettled) stored() *archive.Unsettled {
	if u == nil {
		return nil
	}
	kept := &archive.Unsettled{Newest: u.newest, Any: u.newest > 0}
	for _, r := range u.runs {
		kept.Runs = append(kept.Runs, archive.Run{Source: r.origin.source, Clock: r.origin.clock, At: r.at,
			Timestamps: append([]carbonara.Timestamp{r.newest}, r.others...)})
	}
	return kept
}

// loadUnsettled reads what the archive keeps of a head's unsettled measures. If it does not decode, all count as
// settled. work is held.
func (s *sack) loadUnsettled(h *head) error {
	if !s.keepsUnsettled {
		return nil
	}
	kept, err := s.store.Unsettled(h.metric.ID)
	if errors.Is(err, storage.ErrCorrupt) {
		s.parent.instruments.corrupt.Inc()
		s.parent.options.Logger.Error("unsettled measures do not decode; late ones may be taken for too old",
			"metric", h.metric.ID, "error", err)
		return nil
	}
	if err != nil || kept == nil {
		return err
	}
	h.unsettledStored = true
	h.unsettled = &unsettled{newest: kept.Newest}
	for _, r := range kept.Runs {
		newest := slices.Max(r.Timestamps)
		h.unsettled.runs = append(h.unsettled.runs, run{origin: s.originOf(r.Source, r.Clock), at: r.At, newest: newest,
			others: slices.DeleteFunc(r.Timestamps, func(t carbonara.Timestamp) bool { return t == newest })})
	}
	return nil
}

// writeUnsettled puts what the archive has to keep of a head's unsettled measures into a checkpoint.
func (s *sack) writeUnsettled(c *archive.Checkpoint, h *head) {
	if h.unsettled == nil && !h.unsettledStored {
		return
	}
	if h.unsettled != nil && !s.keepsUnsettled {
		c.KeepUnsettled()
	}
	c.SetUnsettled(h.metric.ID, h.unsettled.stored())
}
