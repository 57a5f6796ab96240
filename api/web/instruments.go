package web

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/internal/figures"
)

// instruments are the API's own metrics for Prometheus.
type instruments struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec

	runningQueries, queuedQueries prometheus.Gauge
	refusedQueries                *prometheus.CounterVec
	failedLogins                  *prometheus.CounterVec
}

func newInstruments(registerer prometheus.Registerer) *instruments {
	return &instruments{
		requests: figures.Registered(registerer, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gnocco_http_requests_total", Help: "HTTP requests answered, by route, method and status code.",
		}, []string{"route", "method", "code"})),
		seconds: figures.Registered(registerer, prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "gnocco_http_request_seconds",
			Help:    "Time from an HTTP request's headers to the end of its answer, by kind: read, query, write or other.",
			Buckets: prometheus.ExponentialBuckets(0.00025, 2.5, 12), // to 6 s
		}, []string{"kind"})),
		runningQueries: figures.Registered(registerer, prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "gnocco_queries_running", Help: "Queries across metrics or resources that are evaluated.",
		})),
		queuedQueries: figures.Registered(registerer, prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "gnocco_queries_queued", Help: "Queries across metrics or resources that wait for their turn.",
		})),
		refusedQueries: figures.Registered(registerer, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gnocco_queries_refused_total",
			Help: "Queries beyond a limit, by which: queue, timeout, rows or terms.",
		}, []string{"reason"})),
		failedLogins: figures.Registered(registerer, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gnocco_failed_logins_total",
			Help: "Requests whose credentials were wrong (reason credentials), or not looked at as too many were (slowed).",
		}, []string{"reason"})),
	}
}

// countLogin counts a request that failed to say who sent it. Without any credentials it did not try.
func (m *instruments) countLogin(r *http.Request, err error) {
	var answer *Error
	switch {
	case !errors.As(err, &answer):
	case answer.Status == http.StatusTooManyRequests:
		m.failedLogins.WithLabelValues("slowed").Inc()
	case answer.Status == http.StatusUnauthorized && (r.Header.Get("Authorization") != "" ||
		r.Header.Get("X-Auth-Token") != ""):
		m.failedLogins.WithLabelValues("credentials").Inc()
	}
}

// Observe counts, times and logs every request.
func (e *Env) Observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		status := statusWriter{ResponseWriter: w, status: http.StatusOK}
		r, log := e.begin(w, r)
		defer func() { // also if the answer is cut off
			took := time.Since(start)
			if log != nil {
				e.logRequest(r, log, &status, took)
			}
			route, method := e.route(r), r.Method
			if route == "" {
				route, method = "other", "other" // not a label for each path and method that somebody tries
			}
			e.instruments.requests.WithLabelValues(route, method, strconv.Itoa(status.status)).Inc()
			e.instruments.seconds.WithLabelValues(kindOf(route, method)).Observe(took.Seconds())
		}()
		next.ServeHTTP(&status, r)
	})
}

// queries are parts of the routes that compute over many metrics or resources.
var queries = []string{"/query", "/aggregat", "/correlat", "/redundant", "/changes", "/search", "/series", "/label"}

// kindOf returns the kind of a request: its latencies share a histogram, since one for each route and method would be a
// thousand series.
func kindOf(route, method string) string {
	switch {
	case slices.ContainsFunc(queries, func(part string) bool { return strings.Contains(route, part) }):
		return "query"
	case method == http.MethodGet:
		return "read"
	case method == http.MethodPost:
		return "write"
	}
	return "other"
}

// route returns the pattern that r's path matched, without the mount prefix; "" for none.
func (e *Env) route(r *http.Request) string {
	return strings.TrimPrefix(chi.RouteContext(r.Context()).RoutePattern(), e.Prefix)
}

// statusWriter remembers the status of the answer, and counts its bytes.
type statusWriter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (w *statusWriter) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
