package gpu

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Labels of engines.
const (
	onCPU    = "cpu"
	onDevice = "device"
)

// engineMetrics tell which engine, the CPU or devices, did how much of one kind of work. The devices' own metrics count bytes and
// launches.
type engineMetrics struct {
	batches   *prometheus.CounterVec
	values    *prometheus.CounterVec
	seconds   *prometheus.CounterVec
	phases    *prometheus.CounterVec
	fallbacks prometheus.Counter
}

// engineHelp says what is counted: name and help of each metric.
type engineHelp struct {
	batches, values, seconds, phases, fallbacks [2]string
}

func newEngineMetrics(registerer prometheus.Registerer, subsystem string, h engineHelp) *engineMetrics {
	options := func(what [2]string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Namespace: "gnocco", Subsystem: subsystem, Name: what[0], Help: what[1]}
	}
	vector := func(what [2]string, label string) *prometheus.CounterVec {
		return register(registerer, prometheus.NewCounterVec(options(what), []string{label}))
	}
	return &engineMetrics{
		batches: vector(h.batches, "engine"), values: vector(h.values, "engine"), seconds: vector(h.seconds, "engine"),
		phases: vector(h.phases, "phase"), fallbacks: register(registerer, prometheus.NewCounter(options(h.fallbacks))),
	}
}

func newResamplerMetrics(registerer prometheus.Registerer) *engineMetrics {
	return newEngineMetrics(registerer, "resampler", engineHelp{
		batches:   [2]string{"batches_total", "Batches resampled."},
		values:    [2]string{"measures_total", "Measures resampled."},
		seconds:   [2]string{"seconds_total", "Time that resampling took."},
		phases:    [2]string{"device_phase_seconds_total", "Time of pieces on a device: packing them, and from the call to the results."},
		fallbacks: [2]string{"fallbacks_total", "Pieces of a batch that a device did not do and the CPU did."},
	})
}

func newCorrelatorMetrics(registerer prometheus.Registerer) *engineMetrics {
	return newEngineMetrics(registerer, "correlator", engineHelp{
		batches: [2]string{"correlations_total", "Correlations of all pairs of columns, by Pearson."},
		values:  [2]string{"values_total", "Values correlated, rows x columns."},
		seconds: [2]string{"seconds_total", "Time that correlating took, reading included."},
		phases: [2]string{"device_phase_seconds_total",
			"Time of correlations on devices: opening them, reading rows, packing them, waiting for devices, finding and handing out pairs."},
		fallbacks: [2]string{"fallbacks_total", "Correlations that devices did not end and the CPU did."},
	})
}

func (m *engineMetrics) done(engine string, values int64, took time.Duration) {
	m.batches.WithLabelValues(engine).Inc()
	m.values.WithLabelValues(engine).Add(float64(values))
	m.seconds.WithLabelValues(engine).Add(took.Seconds())
}

func (m *engineMetrics) phase(name string, took time.Duration) {
	m.phases.WithLabelValues(name).Add(took.Seconds())
}
