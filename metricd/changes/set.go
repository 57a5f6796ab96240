package changes

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
)

// A Change is a range of time in which measures or groups of a metric are others than before. uuid.Nil is any metric.
type Change struct {
	Metric   uuid.UUID
	From, To carbonara.Timestamp // To is excluded
}

// A Request sets the horizon of a sack, and acknowledges an answer.
type Request struct {
	Seen    uint64              // number of the answer; 0: none
	Horizon carbonara.Timestamp // 0: the listener leaves, and the sack notes nothing any more
}

// An Answer has the changes that were not acknowledged.
type Answer struct {
	Number  uint64
	Changes []Change
}

// Most is how many metrics of a sack have notes of their own.
const Most = 4096

// A note is a change that the listener may have to hear of.
type note struct {
	Change
	answered bool // by the last answer, and not changed since
}

// A Set is the notes of a sack. Its methods may be called at any time, after Load.
type Set struct {
	mu      sync.Mutex
	number  uint64              // of the last answer
	horizon carbonara.Timestamp // MaxTimestamp: not known; negative: no listener
	notes   map[uuid.UUID]note
}

// Load makes a set continue the notes that Encode returned; without any nobody listens. Bytes that do not decode are a
// change of all metrics.
func (s *Set) Load(encoded []byte) {
	s.number, s.horizon, s.notes = rand.Uint64()|1, -1, map[uuid.UUID]note{}
	if len(encoded) == 0 {
		return
	}
	var all []Change
	if json.Unmarshal(encoded, &all) != nil {
		all = []Change{{To: carbonara.MaxTimestamp}}
	}
	s.horizon = carbonara.MaxTimestamp
	s.Note(all...)
}

// Horizon returns the time up to which measures have to be noted once they can be read.
func (s *Set) Horizon() carbonara.Timestamp {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.horizon
}

// Note notes changes, if somebody listens.
func (s *Set) Note(all ...Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 0; i < len(all) && s.horizon >= 0; i++ {
		s.note(all[i])
	}
}

func (s *Set) note(c Change) {
	was, ok := s.notes[c.Metric]
	if ok {
		c.From, c.To = min(c.From, was.From), max(c.To, was.To)
	} else if len(s.notes) >= Most { // from here on one note is of all metrics
		for _, was = range s.notes {
			c = Change{From: min(c.From, was.From), To: max(c.To, was.To)}
		}
		clear(s.notes)
	}
	s.notes[c.Metric] = note{c, false}
}

// Encode returns the notes as Load reads them, with changes that are about to be; nil if nobody listens.
func (s *Set) Encode(more []Change) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.horizon < 0 {
		return nil
	}
	all := slices.Clone(more)
	for _, n := range s.notes {
		all = append(all, n.Change)
	}
	encoded, _ := json.Marshal(all) // numbers; null is no changes
	return encoded
}

// Ask answers a listener. stored is false if one comes or leaves: that has to be durable before the answer is sent.
func (s *Set) Ask(r Request) (answer Answer, stored bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored = (s.horizon >= 0) == (r.Horizon > 0)
	switch {
	case r.Horizon == 0:
		s.horizon = -1
		clear(s.notes)
	case !stored:
		s.horizon = r.Horizon
		s.note(Change{To: carbonara.MaxTimestamp}) // anything may have changed until now
	case s.horizon == carbonara.MaxTimestamp || r.Horizon > s.horizon:
		s.horizon = r.Horizon
	}
	for id, n := range s.notes {
		if n.answered && r.Seen == s.number {
			delete(s.notes, id)
			continue
		}
		s.notes[id] = note{n.Change, true}
		answer.Changes = append(answer.Changes, n.Change)
	}
	s.number++
	answer.Number = s.number
	return answer, stored
}
