package cluster

import (
	"net/http"

	"github.com/gnocco-db/gnocco/storage/claim"
)

// Fence makes a handler answer only while this process has its lease: others may have changed what the answer says. A
// process that stood still for long finds requests that were waiting, and cuts them off.
func (p *Process) Fence(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&fencedWriter{ResponseWriter: w, lease: p.members.session}, r)
	})
}

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
	if !w.begun && !w.lease.Valid() {
		panic(http.ErrAbortHandler)
	}
	w.begun = true
}

// Unwrap is for http.ResponseController.
func (w *fencedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
