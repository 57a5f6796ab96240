package server

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gnocco-db/gnocco/api/operators"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/internal/version"
)

// front is what the public reaches, from the beginning of the start to the end. It says when the process is about to
// begin or to end, so that balancers send requests elsewhere.
type front struct {
	prefix   string // of the API
	notReady func() []string

	started  chan struct{} // closed when handler is there
	handler  http.Handler
	draining atomic.Bool
	watched  atomic.Int64 // when somebody last asked whether the process is ready, in Unix nanoseconds
}

func newFront(prefix string) *front {
	return &front{prefix: prefix, started: make(chan struct{})}
}

// start lets requests reach handler. notReady says why none should be sent to this process.
func (f *front) start(handler http.Handler, notReady func() []string) {
	f.handler, f.notReady = handler, notReady
	close(f.started)
}

// serverHeader is the header Server of all answers.
var serverHeader = []string{"gnocco/" + version.Number}

// startWait is how long a request waits for a process that starts.
const startWait = 2 * time.Second

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header()["Server"] = serverHeader
	probe := strings.TrimPrefix(r.URL.Path, f.prefix)
	if probe == "/ready" || probe == "/-/ready" || probe == "/healthcheck" {
		f.watched.Store(time.Now().UnixNano())
	}
	if f.draining.Load() {
		w.Header().Set("Connection", "close") // the client comes again by another connection, to another process
	}
	select {
	case <-f.started:
		f.handler.ServeHTTP(w, r)
		return
	default:
	}
	switch probe {
	case "/live", "/-/healthy":
		operators.ServeLive(w, r)
	case "/ready", "/-/ready":
		operators.ServeReady(w, f.reasons(), nil)
	case "/healthcheck": // scripts that start a server ask it as soon as the port is open
		f.wait(w, r, func() { operators.ServeHealth(w, r, f.reasons()) })
	default:
		f.wait(w, r, func() {
			web.Refuse(w, r, &web.Error{Status: http.StatusServiceUnavailable,
				Detail: "The process starts. Please try again."})
		})
	}
}

// wait serves a request once the process has started, or calls late.
func (f *front) wait(w http.ResponseWriter, r *http.Request, late func()) {
	ctx, cancel := context.WithTimeout(r.Context(), startWait)
	defer cancel()
	select {
	case <-f.started:
		f.handler.ServeHTTP(w, r)
	case <-ctx.Done():
		late()
	}
}

// reasons says why no requests should be sent to this process.
func (f *front) reasons() []string {
	select {
	case <-f.started:
	default:
		return []string{"starting"}
	}
	reasons := f.notReady()
	if f.draining.Load() {
		reasons = append(reasons, "draining")
	}
	return reasons
}

// watchedFor is how long somebody who asked whether the process is ready is expected to ask again.
const watchedFor = time.Minute

// drain tells balancers that the process is about to end, and waits until they have noticed. If nobody asked lately,
// nobody would notice.
func (f *front) drain(ctx context.Context, delay time.Duration) {
	f.draining.Store(true)
	if asked := time.Unix(0, f.watched.Load()); time.Since(asked) < watchedFor {
		_ = pause.For(ctx, delay) // if ctx ends before, the process has to
	}
}
