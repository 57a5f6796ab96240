package gpu

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// resamplerMetrics tell which engine did what. The device's own metrics count bytes.
type resamplerMetrics struct {
	batches   *prometheus.CounterVec
	measures  *prometheus.CounterVec
	seconds   *prometheus.CounterVec
	phases    *prometheus.CounterVec
	fallbacks prometheus.Counter
}

func newResamplerMetrics(registerer prometheus.Registerer) *resamplerMetrics {
	vector := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "gnocco", Subsystem: "resampler", Name: name, Help: help}, []string{label})
	}
	m := &resamplerMetrics{
		batches:  vector("batches_total", "Batches resampled.", "engine"),
		measures: vector("measures_total", "Measures resampled.", "engine"),
		seconds:  vector("seconds_total", "Time that resampling took.", "engine"),
		phases:   vector("device_phase_seconds_total", "Time of pieces on a device: packing them, and from the call to the results.", "phase"),
		fallbacks: prometheus.NewCounter(prometheus.CounterOpts{Namespace: "gnocco", Subsystem: "resampler", Name: "fallbacks_total",
			Help: "Pieces of a batch that a device did not do and the CPU did."}),
	}
	if registerer != nil {
		registerer.MustRegister(m.batches, m.measures, m.seconds, m.phases, m.fallbacks)
	}
	return m
}

func (m *resamplerMetrics) done(engine string, measures int, took time.Duration) {
	m.batches.WithLabelValues(engine).Inc()
	m.measures.WithLabelValues(engine).Add(float64(measures))
	m.seconds.WithLabelValues(engine).Add(took.Seconds())
}

func (m *resamplerMetrics) phase(name string, took time.Duration) {
	m.phases.WithLabelValues(name).Add(took.Seconds())
}
