package peer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// fakePeer answers peers by a handler of its own.
func fakePeer(t *testing.T, handler http.Handler) (address string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func newClient(t *testing.T) (*peer.Client, peer.Key) {
	t.Helper()
	key, err := peer.LoadKey(t.TempDir())
	fatal.If(t, err)
	client := peer.NewClient(key, nil, peer.TCP)
	t.Cleanup(client.Close)
	return client, key
}

// A process that takes requests and answers none is found to be silent. Later requests to it fail at once, until it
// answers again. One that answers pings may take as long as it wants.
func TestSilentProcessIsFound(t *testing.T) {
	t.Parallel()
	client, _ := newClient(t)
	var hangs atomic.Bool
	released := make(chan struct{})
	address := fakePeer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hangs.Load() {
			<-released
		}
		if r.URL.Path == "/peer/status" {
			time.Sleep(2 * time.Second)
			fmt.Fprint(w, "{}")
		}
	}))
	if _, err := client.Status(t.Context(), address); err != nil {
		t.Fatalf("a slow process: %v", err)
	}
	hangs.Store(true)
	if err := client.Tell(t.Context(), address, new(peer.Notice)); !errors.Is(err, peer.ErrSilent) {
		t.Fatalf("a process that hangs: %v", err)
	}
	if err := client.Tell(t.Context(), address, new(peer.Notice)); !errors.Is(err, peer.ErrSilent) {
		t.Fatalf("a process that is known to hang: %v", err)
	}
	hangs.Store(false)
	close(released)
	for deadline := time.Now().Add(2 * time.Minute); client.Tell(t.Context(), address,
		new(peer.Notice)) != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a process that answers again is not asked")
		}
	}
}

// A request is sent again, with its body, to the next holder of the index, unless a process may have acted on it.
func TestForwardAsksTheNextHolder(t *testing.T) {
	t.Parallel()
	client, key := newClient(t)
	echo := func(name string) *peer.Process {
		return &peer.Process{Key: key, Logger: slog.New(slog.DiscardHandler), API: func() (http.Handler, func()) {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				fmt.Fprintf(w, "%s %s %s", name, r.Method, body)
			}), func() {}
		}}
	}
	past := &peer.Process{Key: key, API: func() (http.Handler, func()) { return nil, nil }}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	closed.Close()
	var dying atomic.Int64
	dies := func(read bool) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/peer/api") { // no ping, as a slow machine sees some
				dying.Add(1)
			}
			if read {
				_, _ = io.ReadAll(r.Body)
			}
			panic(http.ErrAbortHandler)
		})
	}
	next := fakePeer(t, echo("next").Handler())
	body := strings.Repeat("x", 1<<20)
	for _, test := range []struct {
		name, first  string
		method, body string
		want         string // "" for a refusal
	}{
		{"given away", fakePeer(t, past.Handler()), http.MethodPost, body, "next POST " + body},
		{"given away", fakePeer(t, past.Handler()), http.MethodDelete, "", "next DELETE "},
		{"gone", closed.Addr().String(), http.MethodPatch, body, "next PATCH " + body},
		{"gone", closed.Addr().String(), http.MethodDelete, "", "next DELETE "},
		{"dies before it reads", fakePeer(t, dies(false)), http.MethodPost, body, "next POST " + body},
		{"dies", fakePeer(t, dies(false)), http.MethodGet, "", "next GET "},
		{"dies, having read", fakePeer(t, dies(true)), http.MethodPost, body, ""},
		{"dies, perhaps after it", fakePeer(t, dies(false)), http.MethodDelete, "", ""},
	} {
		ask := func(_ context.Context, _ bool, there func(string) error) error {
			if err := there(test.first); err == nil {
				return nil
			}
			return there(next)
		}
		front := httptest.NewServer(client.Forward(ask, func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}))
		r, err := http.NewRequestWithContext(t.Context(), test.method, front.URL+"/v1/metric",
			strings.NewReader(test.body))
		fatal.If(t, err)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		front.Close()
		if refused := answer.StatusCode == http.StatusServiceUnavailable; err != nil || refused != (test.want == "") ||
			!refused && string(text) != test.want {
			t.Errorf("%s, %s: %d %.60s %v", test.name, test.method, answer.StatusCode, text, err)
		}
	}
	if n := dying.Load(); n != 4 {
		t.Errorf("%d requests reached those that die", n)
	}
}
