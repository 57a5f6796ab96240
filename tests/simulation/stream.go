package simulation

import (
	"io"
	"os"
	"sync"
	"time"
)

// stream is one direction of a connection.
type stream struct {
	from, to string // hosts

	mu       sync.Mutex
	packets  []packet
	last     time.Time // when the last one arrives
	failed   error     // for both ends
	deadline time.Time // of reads
	changed  chan struct{}
}

// packet is bytes on their way, or the end.
type packet struct {
	at   time.Time
	held bool // it does not arrive until release
	data []byte
	end  error // nil: data
}

func newStream(from, to string) *stream {
	return &stream{from: from, to: to, changed: make(chan struct{}, 1)}
}

func (s *stream) signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *stream) push(p packet) {
	if p.at.Before(s.last) {
		p.at = s.last
	}
	s.last = p.at
	s.packets = append(s.packets, p)
	s.signal()
}

func (s *stream) write(b []byte, at time.Time, held bool) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return 0, s.failed
	}
	s.push(packet{at: at, held: held, data: append([]byte(nil), b...)})
	return len(b), nil
}

func (s *stream) end(err error, at time.Time, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = io.EOF
	}
	s.push(packet{at: at, held: held, end: err})
}

func (s *stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = err
	}
	s.signal()
}

// release lets what was held arrive.
func (s *stream) release(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.packets {
		if p := &s.packets[i]; p.held {
			p.held = false
			p.at = at
			s.last = at
		}
	}
	s.signal()
}

func (s *stream) setDeadline(t time.Time) {
	s.mu.Lock()
	s.deadline = t
	s.mu.Unlock()
	s.signal()
}

func (s *stream) read(b []byte) (int, error) {
	for {
		n, wait, err := s.take(b)
		if n > 0 || err != nil || len(b) == 0 {
			return n, err
		}
		if wait == 0 {
			<-s.changed
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-s.changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// take takes what has arrived, or returns how long to wait, 0 for until something changes.
func (s *stream) take(b []byte) (n int, wait time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return 0, 0, s.failed
	}
	now := time.Now()
	if !s.deadline.IsZero() {
		if wait = s.deadline.Sub(now); wait <= 0 {
			return 0, 0, os.ErrDeadlineExceeded
		}
	}
	if len(s.packets) == 0 || s.packets[0].held {
		return 0, wait, nil
	}
	p := &s.packets[0]
	if arrives := p.at.Sub(now); arrives > 0 {
		if wait == 0 || arrives < wait {
			wait = arrives
		}
		return 0, wait, nil
	}
	if p.end != nil {
		s.failed = p.end
		return 0, 0, p.end
	}
	n = copy(b, p.data)
	if p.data = p.data[n:]; len(p.data) == 0 {
		s.packets = s.packets[1:]
	}
	return n, 0, nil
}
