package incoming

import (
	"sync"
	"time"
)

// sack is what the store keeps in memory about one sack.
type sack struct {
	ready chan struct{} // capacity 1
	busy  chan struct{} // capacity 1

	mu     sync.Mutex
	recent recentRecords
	first  uint64 // sequence of the first record that Open found; 0 for none
	last   uint64 // the highest published sequence
	sent   total  // up to last

	// processed and what follows are the reader's own reports.
	processed     uint64
	processedSent total     // up to processed
	oldest        time.Time // when the first record behind processed was accepted; zero without one
	polled        time.Time // when a reader in another process last reported; zero: the reader is in this one
}

// silentAfter is how long a reader in another process does not poll before what it processed and did not save counts as
// backlog: it may have died. One that is well polls every 2 s.
const silentAfter = 10 * time.Second

func (s *sack) setPolled(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.polled = at
}

func (s *sack) isSilent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.polled.IsZero() && time.Since(s.polled) > silentAfter
}

// publish makes a record visible.
func (s *sack) publish(r recentRecord, measures int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent == s.processedSent {
		s.oldest = r.accepted
	}
	s.last = r.Sequence
	s.sent = r.before.plus(measures)
	s.recent.records = append(s.recent.records, r)
	s.recent.size += r.size()
}

// busyBytes of recent records end a reader's pause.
const busyBytes = 16 << 10

// wake leaves the tokens, after all that they announce is published.
func (s *sack) wake() {
	leave(s.ready)
	s.mu.Lock()
	size := s.recent.size
	s.mu.Unlock()
	if size >= busyBytes {
		leave(s.busy)
	}
}

func leave(token chan struct{}) {
	select {
	case token <- struct{}{}:
	default:
	}
}

// process notes that the reader has processed everything up to sequence, and that what comes next is a record with
// these figures. mu is held.
func (s *sack) process(sequence uint64, before total, accepted time.Time) {
	s.processed, s.processedSent, s.oldest = sequence, before, accepted
}

// processAll notes that the reader has processed everything. mu is held.
func (s *sack) processAll(sequence uint64) { s.process(sequence, s.sent, time.Time{}) }

// skip notes that there are no records between sequence and last, which was the highest published one: they were
// deleted.
func (s *sack) skip(sequence, last uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == last {
		s.processAll(sequence)
	}
}

// backlog returns what is not yet processed.
func (s *sack) backlog() SackBacklog {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := SackBacklog{Oldest: s.oldest}
	if s.sent.blocks > s.processedSent.blocks { // else after a corrupt record, whose figures are lost
		b.Blocks = int(s.sent.blocks - s.processedSent.blocks)
		b.Measures = int(max(s.sent.measures, s.processedSent.measures) - s.processedSent.measures)
	}
	return b
}
