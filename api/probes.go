package api

import (
	"github.com/gnocco-db/gnocco/api/web"
	"net/http"
	"strings"
)

// ServeLive says that the process answers, and asks nothing. A process that does not say so should be started again.
func ServeLive(w http.ResponseWriter, _ *http.Request) {
	_ = web.WriteJSON(w, http.StatusOK, struct{}{})
}

// readiness is the answer of GET /ready.
type readiness struct {
	Ready   bool     `json:"ready"`
	Reasons []string `json:"reasons"` // why not
	// Missing names stores that no process of the cluster holds, such as "index" and "sacks/003". That is no reason to
	// send requests elsewhere: other processes also lack them.
	Missing []string `json:"missing"`
}

// ServeReady says whether requests should be sent to this process: if there are no reasons against it.
func ServeReady(w http.ResponseWriter, reasons, missing []string) {
	_ = web.WriteJSON(w, unready(w, reasons), readiness{len(reasons) == 0, append([]string{}, reasons...),
		append([]string{}, missing...)})
}

// ServeHealth says the same as Gnocchi does, whose health check a file can make fail.
func ServeHealth(w http.ResponseWriter, r *http.Request, reasons []string) {
	status := unready(w, reasons)
	switch {
	case r.Method == http.MethodHead:
		if status == http.StatusOK {
			status = http.StatusNoContent
		}
		w.WriteHeader(status)
	case strings.Contains(r.Header.Get("Accept"), "application/json"):
		_ = web.WriteJSON(w, status, struct {
			Detailed bool     `json:"detailed"`
			Reasons  []string `json:"reasons"`
		}{Reasons: append([]string{}, reasons...)})
	default:
		w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
		web.WriteBody(w, status, []byte(strings.Join(reasons, "\n")))
	}
}

// unready returns the status of a process that is not ready for these reasons.
func unready(w http.ResponseWriter, reasons []string) (status int) {
	if len(reasons) == 0 {
		return http.StatusOK
	}
	w.Header().Set("Retry-After", "1")
	return http.StatusServiceUnavailable
}

// probes are the routes of those who ask whether the process is well. They need no credentials, and ask no store: a
// full disk is no reason to be restarted.
func (a *api) probes(page func(path string, h http.HandlerFunc)) {
	page("/live", ServeLive)
	notReady, missing := a.options.NotReady, a.options.Missing
	page("/ready", func(w http.ResponseWriter, _ *http.Request) { ServeReady(w, notReady(), missing()) })
	page("/healthcheck", func(w http.ResponseWriter, r *http.Request) { ServeHealth(w, r, notReady()) })
}
