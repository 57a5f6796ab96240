package api

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
)

// metrics are what the API tells Prometheus about itself.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gnocco_http_requests_total", Help: "HTTP requests answered, by route, method and status code.",
		}, []string{"route", "method", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gnocco_http_request_seconds", Help: "Time from an HTTP request's headers to the end of its answer.",
			Buckets: prometheus.ExponentialBuckets(0.000125, 2, 17), // to 8 s
		}, []string{"route", "method"}),
	}
	if registerer == nil {
		return m, nil
	}
	var err error
	if m.requests, err = registered(registerer, m.requests); err != nil {
		return nil, err
	}
	m.seconds, err = registered(registerer, m.seconds)
	return m, err
}

// registered registers a collector, or returns the one that is there: a process that comes to hold the index serves another
// API than before, and counts on.
func registered[C prometheus.Collector](registerer prometheus.Registerer, collector C) (C, error) {
	err := registerer.Register(collector)
	var there prometheus.AlreadyRegisteredError
	if errors.As(err, &there) {
		if existing, ok := there.ExistingCollector.(C); ok {
			return existing, nil
		}
	}
	if err != nil {
		err = fmt.Errorf("api: register metrics: %w", err)
	}
	return collector, err
}

// observe counts and times every request.
func (a *api) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		status := statusWriter{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(&status, r)
		route, method := a.route(r), r.Method
		if route == "" {
			route, method = "other", "other" // not a label for each path and method that somebody tries
		}
		a.metrics.requests.WithLabelValues(route, method, strconv.Itoa(status.status)).Inc()
		a.metrics.seconds.WithLabelValues(route, method).Observe(time.Since(start).Seconds())
	})
}

// route returns the pattern that r's path matched, without the mount prefix; "" for none.
func (a *api) route(r *http.Request) string {
	return strings.TrimPrefix(chi.RouteContext(r.Context()).RoutePattern(), a.Prefix)
}

// statusWriter remembers the status of the answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
