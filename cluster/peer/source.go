package peer

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

const (
	// pollWait is how long the other side waits for records. Acknowledgements also wait until then.
	pollWait = 2 * time.Second
	// pollPause is the least time between two answers with records: later records are then brought over together. It
	// doubles, up to pollPauseLongest, as long as each answer has muchBytes of them.
	pollPause        = 10 * time.Millisecond
	pollPauseLongest = 40 * time.Millisecond
	muchBytes        = 16 << 10
	// bufferBytes bounds the records here that are not drained: beyond it the loop asks for no more.
	bufferBytes = 32 << 20
	retryPause  = 250 * time.Millisecond
	// tellPause is the time until the other side learns what is processed, if no records come.
	tellPause = 250 * time.Millisecond
	// damagedPause is the time until a sack whose records are damaged is asked for again: a damaged block takes the
	// other side half a second.
	damagedPause = 10 * time.Second
)

// Source is an incoming store that another process holds. One goroutine brings over the records that its followers
// want, with one request for all sacks.
type Source struct {
	client      *Client
	address, id string
	clocks      Clocks // nil: not reported
	logger      *slog.Logger

	stop  context.CancelFunc
	ended chan struct{}

	mu       sync.Mutex
	sacks    map[int]*stream
	finished map[int]uint64     // sequences to acknowledge
	size     int                // of the records that are here
	changed  chan struct{}      // capacity 1: there is something else to ask
	cancel   context.CancelFunc // of the request that waits
	telling  bool               // tellProgress is due
	asked    time.Time          // when the first request without an answer was due; zero for none
}

// stream holds the records of one sack that are here.
type stream struct {
	ready   chan struct{} // capacity 1
	records []incoming.Record
	last    uint64 // the next request asks for records behind it
	read    uint64 // up to which the reader has processed them
	told    uint64 // read, in the last request

	// frontier bounds stamps: records that the store gets behind last have later ones. ok is false if that is not
	// known.
	frontier incoming.Stamp
	ok       bool

	damaged error // a model.DamagedError, if the records behind last cannot be read; nil: they can
	again   time.Time
}

// position is what the next request says of the sack.
func (k *stream) position(sack int) pollSack {
	read := k.read
	k.told = read
	return pollSack{Sack: sack, After: k.last, Processed: &read}
}

// wake wakes the sack's worker.
func (k *stream) wake() {
	select {
	case k.ready <- struct{}{}:
	default:
	}
}

// Clocks learn how far the clocks of other processes are from this one's.
type Clocks interface {
	// Now returns what this process's clock says, in nanoseconds.
	Now() int64
	// Measured notes that the clock of the process at an address is ahead by no more than most and no less than least,
	// in nanoseconds.
	Measured(address string, clock uuid.UUID, most, least int64)
}

// NewSource returns the store with this ID, which the process at the address holds. The caller closes it.
func NewSource(client *Client, address, id string, clocks Clocks, logger *slog.Logger) *Source {
	ctx, stop := context.WithCancel(context.Background())
	s := &Source{client: client, address: address, id: id, clocks: clocks, logger: logger, stop: stop,
		ended: make(chan struct{}), sacks: make(map[int]*stream), finished: make(map[int]uint64),
		changed: make(chan struct{}, 1)}
	go s.run(ctx)
	return s
}

// Close ends the requests. Before, it sends the last acknowledgements, if the other side answers.
func (s *Source) Close() {
	s.stop()
	<-s.ended
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.tell(ctx) // else the next holder of the sack does
}

// ID implements metricd.Source.
func (s *Source) ID() string { return s.id }

// Follow implements metricd.RemoteSource.
func (s *Source) Follow(sack int, after uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sacks[sack] = &stream{ready: make(chan struct{}, 1), last: after, read: after, told: after}
	s.ask()
}

func (s *Source) Unfollow(sack int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.sacks[sack]; k != nil {
		s.size -= blockBytes(k.records)
		delete(s.sacks, sack)
	}
	s.ask()
}

// Ready implements metricd.Source, for a sack that is followed.
func (s *Source) Ready(sack int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.sacks[sack]; k != nil {
		return k.ready
	}
	return nil
}

// Drain implements metricd.Source. The returned records stay here until the reader asks for later ones: to apply them
// may have failed.
func (s *Source) Drain(sack int, after uint64, maxBytes int) ([]incoming.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.sacks[sack]
	if k == nil {
		return nil, nil
	}
	if k.read = max(k.read, after); k.read != k.told && !s.telling {
		s.telling = true
		time.AfterFunc(tellPause, s.tellProgress)
	}
	taken := 0
	for taken < len(k.records) && k.records[taken].Sequence <= after {
		taken++
	}
	if taken > 0 {
		s.size -= blockBytes(k.records[:taken])
		clear(k.records[:taken])
		k.records = k.records[taken:]
		s.notify()
	}
	if len(k.records) == 0 {
		return nil, k.damaged
	}
	n, size := 0, 0
	for n < len(k.records) && (n == 0 || size+len(k.records[n].Block) <= maxBytes) {
		size += len(k.records[n].Block)
		n++
	}
	return slices.Clone(k.records[:n]), nil
}

// tellProgress sends a new request instead of the one that waits, unless a later one has said what is processed.
func (s *Source) tellProgress() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.telling = false
	for _, k := range s.sacks {
		if k.read != k.told {
			s.ask()
			return
		}
	}
}

// Acknowledge implements metricd.Source. The next request carries the acknowledgement.
func (s *Source) Acknowledge(sack int, upTo uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished[sack] = max(upTo, s.finished[sack])
	s.notify()
	return nil
}

func (s *Source) Fetch(ctx context.Context, sack int) (more bool, err error) {
	s.mu.Lock()
	k := s.sacks[sack]
	if k == nil {
		s.mu.Unlock()
		return false, nil
	}
	request := pollRequest{Store: s.id, Sacks: []pollSack{k.position(sack)}}
	streams := map[int]*stream{sack: k}
	s.mu.Unlock()
	_, lasts, err := s.poll(ctx, &request, streams)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k.damaged != nil {
		return false, k.damaged
	}
	return k.last < lasts[sack], nil
}

func (s *Source) Frontier(sack int, after uint64) (f incoming.Stamp, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.sacks[sack]
	if k == nil || after < k.last {
		return f, false
	}
	return k.frontier, k.ok
}

// Silent returns for how long the store has not answered, 0 if it has, or was not asked.
func (s *Source) Silent() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked.IsZero() {
		return 0
	}
	return time.Since(s.asked)
}

// ask makes the loop send a new request instead of the one that waits. mu is held.
func (s *Source) ask() {
	if s.cancel != nil {
		s.cancel()
	}
	s.notify()
}

// notify wakes the loop if it waits here. mu is held.
func (s *Source) notify() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// run asks until ctx ends.
func (s *Source) run(ctx context.Context) {
	defer close(s.ended)
	failing, least := false, pollPause
	for ctx.Err() == nil {
		request, streams, poll, cancel := s.next(ctx)
		if request == nil {
			select {
			case <-ctx.Done():
			case <-s.changed:
			case <-time.After(damagedPause):
			}
			continue
		}
		began := time.Now()
		size, _, err := s.poll(poll, request, streams)
		again := poll.Err() != nil // the wanted sacks have changed
		cancel()
		switch {
		case err == nil:
			failing = false
			if size > 0 {
				_ = pause.For(ctx, least-time.Since(began)) // the loop's condition looks at ctx
			}
			if least = min(2*least, pollPauseLongest); size < muchBytes {
				least = pollPause
			}
		case !again:
			if !failing {
				s.logger.Warn("incoming store does not answer; trying again", "store", s.id, "address", s.address,
					"error", err)
			}
			failing = true
			_ = pause.For(ctx, retryPause)
		}
	}
}

// next returns the next request, and a context for it; nil if there is nothing to ask for now.
func (s *Source) next(ctx context.Context) (*pollRequest, map[int]*stream, context.Context, context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	request := &pollRequest{Store: s.id, Wait: pollWait}
	streams := make(map[int]*stream)
	if s.size < bufferBytes {
		for sack, k := range s.sacks {
			if k.damaged != nil && time.Now().Before(k.again) {
				continue
			}
			request.Sacks = append(request.Sacks, k.position(sack))
			streams[sack] = k
		}
	}
	for sack, upTo := range s.finished {
		request.Finished = append(request.Finished, pollSack{Sack: sack, After: upTo})
	}
	if len(request.Sacks) == 0 {
		request.Wait = 0
		if len(request.Finished) == 0 {
			return nil, nil, nil, nil
		}
	}
	ctx, s.cancel = context.WithCancel(ctx)
	return request, streams, ctx, s.cancel
}

// poll sends a request and takes its answer. It returns the bytes of the records that came, and each sack's last
// sequence.
func (s *Source) poll(ctx context.Context, request *pollRequest, streams map[int]*stream) (
	size int, lasts map[int]uint64, err error) {
	var answer *pollAnswer
	request.Lists = true
	idle := request.Wait > 0
	began := s.begin()
	err = s.client.postWatched(ctx, s.address, "poll", request, idle, func(body io.Reader) (err error) {
		answer, err = readAnswer(body)
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	if s.clocks != nil {
		s.clocks.Measured(s.address, answer.clock, answer.received-began, answer.answered-s.clocks.Now())
	}
	came := make(map[int][]incoming.Record)
	for _, r := range answer.records {
		came[r.sack] = append(came[r.sack], r.Record)
	}
	lasts = make(map[int]uint64)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = time.Time{}
	for _, f := range request.Finished {
		if s.finished[f.Sack] == f.After {
			delete(s.finished, f.Sack)
		}
	}
	for sack, list := range came {
		k := streams[sack]
		if k == nil || s.sacks[sack] != k {
			continue // the sack is not followed any more
		}
		for _, r := range list {
			if r.Sequence <= k.last {
				continue // another request was faster
			}
			k.records = append(k.records, r)
			k.last, k.ok = r.Sequence, false
			s.size += len(r.Block)
			size += len(r.Block)
		}
		k.wake()
	}
	for sack, k := range streams {
		k.damaged = nil
		if i := slices.IndexFunc(answer.damaged, func(d damagedSack) bool { return d.Sack == sack }); i >= 0 {
			k.damaged = &model.DamagedError{Store: answer.damaged[i].Store, Reason: answer.damaged[i].Reason}
			k.again = time.Now().Add(damagedPause)
			k.wake() // so that the sack's worker tells of it
		}
	}
	for _, end := range answer.sacks {
		lasts[end.sack] = end.last
		// Another request may have been faster: then the frontier is that of fewer records, and holds all the more.
		if k := streams[end.sack]; k != nil && s.sacks[end.sack] == k && end.hasFrontier {
			k.frontier, k.ok = end.frontier, true
		}
	}
	return size, lasts, nil
}

// begin notes that the store is asked, and returns when, by this process's clock.
func (s *Source) begin() (now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked.IsZero() {
		s.asked = time.Now()
	}
	if s.clocks == nil {
		return 0
	}
	return s.clocks.Now()
}

// tell sends acknowledgements without asking for records.
func (s *Source) tell(ctx context.Context) error {
	s.mu.Lock()
	request := &pollRequest{Store: s.id}
	for sack, upTo := range s.finished {
		request.Finished = append(request.Finished, pollSack{Sack: sack, After: upTo})
	}
	s.mu.Unlock()
	if len(request.Finished) == 0 {
		return nil
	}
	_, _, err := s.poll(ctx, request, nil)
	return err
}

func blockBytes(records []incoming.Record) int {
	size := 0
	for _, r := range records {
		size += len(r.Block)
	}
	return size
}
