package listener_test

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/listener"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// words adds a measure of 1 for each line, and refuses "bad". It closes last after "last".
type words struct{ last chan struct{} }

func (w words) Decode(line []byte, now carbonara.Timestamp, to listener.Sink) {
	text := strings.TrimSpace(string(line))
	if text == "last" {
		defer close(w.last)
	}
	if text == "bad" {
		to.Refuse("form", line)
	} else if text != "" {
		to.AddHead([]byte(text), now, 1)
	}
}

func readName(head []byte, labels *series.Labels) error {
	labels.Set("__name__", string(head))
	return nil
}

// stored is what a listener stored.
type stored struct {
	mu    sync.Mutex
	names []string
	fail  error // of the next batch
}

func (s *stored) store(_ context.Context, creator, _ string, batch *series.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fail; err != nil {
		s.fail = nil
		return err
	}
	for i := range batch.Len() {
		name, err := batch.Name(i)
		if err != nil {
			return err
		}
		s.names = append(s.names, creator+" "+name.Metric)
	}
	return nil
}

func (s *stored) wait(t *testing.T, want ...string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		got := slices.Sorted(slices.Values(s.names))
		s.mu.Unlock()
		if slices.Equal(got, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("stored %v, want %v", got, want)
		}
	}
}

func TestServer(t *testing.T) {
	kept := &stored{fail: model.ErrUnavailable}
	registry := prometheus.NewRegistry()
	decoder := words{make(chan struct{})}
	s, err := listener.Start(listener.Options{Protocol: "words", Listen: "127.0.0.1:0", Creator: "jd",
		Decoder: decoder, Read: readName, Store: kept.store, MaxConnections: 2, MaxLineBytes: 200,
		Registerer: registry})
	fatal.If(t, err)
	dial := func(network string) net.Conn {
		t.Helper()
		conn, err := net.Dial(network, s.Addr().String())
		fatal.If(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	send := func(conn net.Conn, text string) {
		t.Helper()
		if _, err := conn.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	one, two := dial("tcp"), dial("tcp")
	send(one, "a\nbad\n"+strings.Repeat("x", 1000)+"\nb\n")
	kept.wait(t, "jd a", "jd b") // after another attempt
	send(two, "c\rcc\r\nunfinished")
	if err := two.(*net.TCPConn).CloseWrite(); err != nil { // a last line without its end
		t.Fatal(err)
	}
	kept.wait(t, "jd a", "jd b", "jd c", "jd cc")
	if n, err := two.Read(make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) { // its place is free then
		t.Fatal(n, err)
	}
	two = dial("tcp")
	send(two, "d\n")
	kept.wait(t, "jd a", "jd b", "jd c", "jd cc", "jd d")
	if _, err := dial("tcp").Read(make([]byte, 1)); err == nil {
		t.Error("a third connection is open")
	}
	kept.mu.Lock()
	kept.fail = model.ErrInvalid
	kept.mu.Unlock()
	send(two, "lost\n")
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		kept.mu.Lock()
		failed := kept.fail == nil
		kept.mu.Unlock()
		if failed {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the line does not arrive")
		}
	}
	packets := dial("udp")
	send(packets, "e\nbad\nf")
	kept.wait(t, "jd a", "jd b", "jd c", "jd cc", "jd d", "jd e", "jd f")
	const want = `
# HELP gnocco_listener_refused_total Elements that a listener did not store, by reason.
# TYPE gnocco_listener_refused_total counter
gnocco_listener_refused_total{protocol="words",reason="connections"} 1
gnocco_listener_refused_total{protocol="words",reason="form"} 2
gnocco_listener_refused_total{protocol="words",reason="line_length"} 1
gnocco_listener_refused_total{protocol="words",reason="unavailable"} 1
gnocco_listener_refused_total{protocol="words",reason="unfinished"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "gnocco_listener_refused_total"); err != nil {
		t.Error(err)
	}
	send(packets, "last")
	<-decoder.last // it is read, and waits for others
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	kept.wait(t, "jd a", "jd b", "jd c", "jd cc", "jd d", "jd e", "jd f", "jd last")
}
