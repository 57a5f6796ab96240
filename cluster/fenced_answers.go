package cluster

import (
	"errors"
	"net/http"
	"regexp"
	"time"

	"github.com/gnocco-db/gnocco/storage/claim"
)

// Fence makes a handler answer only while this process has its lease: others may have changed what the answer says. A
// process that stood still for long finds requests that were waiting, and cuts them off. While the lease is suspended
// they wait, and new ones get a 503, except those about the process itself.
func (p *Process) Fence(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lease := p.members.session
		if err := lease.Err(); err == nil || errors.Is(err, claim.ErrLost) {
			next.ServeHTTP(&fencedWriter{ResponseWriter: w, lease: lease}, r)
		} else if aboutItself.MatchString(r.URL.Path) {
			next.ServeHTTP(w, r)
		} else {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "this process waits for etcd, and may not act before", http.StatusServiceUnavailable)
		}
	})
}

var aboutItself = regexp.MustCompile(`^(/[^/]+)?/(live|ready|healthcheck|metrics)$`)

// fencedWriter asks the lease before an answer begins.
type fencedWriter struct {
	http.ResponseWriter
	lease claim.Lease
	begun bool
}

func (w *fencedWriter) WriteHeader(status int) {
	w.begin()
	w.ResponseWriter.WriteHeader(status)
}

func (w *fencedWriter) Write(p []byte) (int, error) {
	w.begin()
	return w.ResponseWriter.Write(p)
}

func (w *fencedWriter) begin() {
	for !w.begun && !w.lease.Valid() {
		select {
		case <-w.lease.Done():
			panic(http.ErrAbortHandler)
		case <-time.After(holderLook): // it is suspended
		}
	}
	w.begun = true
}

// Unwrap is for http.ResponseController.
func (w *fencedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
