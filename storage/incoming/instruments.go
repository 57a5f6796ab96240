package incoming

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// instruments are the metrics that the store gives Prometheus.
type instruments struct {
	requests                      prometheus.Counter
	measures                      atomic.Int64
	refused                       *prometheus.CounterVec
	commitRequests, commitSeconds prometheus.Histogram

	registerer prometheus.Registerer
	registered []prometheus.Collector
}

func newInstruments(s *Store) (*instruments, error) {
	t := &instruments{
		requests: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "gnocco_incoming_requests_total", Help: "Requests whose measures were accepted."}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gnocco_incoming_refused_total", Help: "Requests whose measures were not accepted, by reason."},
			[]string{"reason"}),
		commitRequests: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "gnocco_incoming_commit_requests", Help: "Requests made durable by one sync.",
			Buckets: prometheus.ExponentialBuckets(1, 4, 6)}),
		commitSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "gnocco_incoming_commit_seconds", Help: "Time that a commit took, with its sync.",
			Buckets: prometheus.ExponentialBuckets(0.00025, 2.5, 12)}), // to 6 s
		registerer: s.options.Registerer,
	}
	for _, r := range refusals {
		t.refused.WithLabelValues(r.reason)
	}
	measures := prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "gnocco_incoming_measures_total", Help: "Measures accepted."},
		func() float64 { return float64(t.measures.Load()) })
	backlogMeasures := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "gnocco_incoming_backlog_measures", Help: "Measures accepted but not processed."},
		func() float64 { return float64(s.Backlog().Measures) })
	backlogAge := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "gnocco_incoming_backlog_age_seconds", Help: "How long the oldest measure not processed has waited."},
		func() float64 { return s.Backlog().Age(time.Now()).Seconds() })
	recentBytes := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "gnocco_incoming_recent_bytes", Help: "Memory of the latest blocks, kept for their readers."},
		func() float64 { return float64(s.recentBytes.Load()) })
	return t, t.register(t.requests, measures, t.refused, t.commitRequests, t.commitSeconds,
		backlogMeasures, backlogAge, recentBytes)
}

func (t *instruments) register(collectors ...prometheus.Collector) error {
	if t.registerer == nil {
		return nil
	}
	var errs []error
	for _, c := range collectors {
		if err := t.registerer.Register(c); err != nil {
			errs = append(errs, err)
			continue
		}
		t.registered = append(t.registered, c)
	}
	if len(errs) > 0 {
		t.unregister()
	}
	return errors.Join(errs...)
}

func (t *instruments) unregister() {
	for _, c := range t.registered {
		t.registerer.Unregister(c)
	}
}
