package listener

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

type noLines struct{}

func (noLines) Decode([]byte, carbonara.Timestamp, Sink) {}

// Idle connections shut nobody out: where there are as many as may be, the one that is idle for longest ends.
func TestIdlestConnectionMakesRoom(t *testing.T) {
	const most = 3
	s, err := Start(Options{Protocol: "words", Listen: "127.0.0.1:0", Decoder: noLines{}, MaxConnections: most,
		Read:  func([]byte, *series.Labels) error { return nil },
		Store: func(context.Context, string, string, *series.Batch) error { return nil }})
	fatal.If(t, err)
	defer func() { fatal.If(t, s.Close(t.Context())) }()
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", s.Addr().String())
		fatal.If(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	opened := func(want int) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			s.mu.Lock()
			n := len(s.open)
			s.mu.Unlock()
			if n == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d connections, not %d", n, want)
			}
		}
	}
	var conns []net.Conn
	for i := range most {
		conns = append(conns, dial())
		opened(i + 1)
	}
	s.mu.Lock()
	for conn := range s.open {
		if conn.RemoteAddr().String() == conns[1].LocalAddr().String() {
			s.open[conn] = time.Now().Add(-2 * idleInFull)
		}
	}
	s.mu.Unlock()
	another := dial()
	if n, err := conns[1].Read(make([]byte, 1)); n > 0 || err != io.EOF {
		t.Errorf("the idlest one: %d, %v", n, err)
	}
	opened(most)
	for _, conn := range []net.Conn{conns[0], conns[2], another} {
		fatal.If(t, conn.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
		if _, err := conn.Read(make([]byte, 1)); err == io.EOF {
			t.Error("another one ended")
		}
	}
	if _, err := dial().Read(make([]byte, 1)); err == nil {
		t.Error("one too many is open, and none was idle for long")
	}
}
