package device

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Labels of engines.
const (
	OnCPU    = "cpu"
	OnDevice = "device"
)

// EngineInstruments count how much of one kind of work the CPU did, and how much devices did. The devices' own
// instruments count bytes and launches.
type EngineInstruments struct {
	batches   *prometheus.CounterVec
	values    *prometheus.CounterVec
	seconds   *prometheus.CounterVec
	phases    *prometheus.CounterVec
	fallbacks prometheus.Counter
}

// EngineHelp names one kind of work and holds the name and help text of each of its metrics.
type EngineHelp struct {
	Subsystem                                   string
	Batches, Values, Seconds, Phases, Fallbacks [2]string
}

// NewEngineInstruments registers the metrics of one kind of work. A nil registerer is none.
func NewEngineInstruments(registerer prometheus.Registerer, h *EngineHelp) *EngineInstruments {
	options := func(metric [2]string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Namespace: "gnocco", Subsystem: h.Subsystem, Name: metric[0], Help: metric[1]}
	}
	vector := func(metric [2]string, label string) *prometheus.CounterVec {
		return register(registerer, prometheus.NewCounterVec(options(metric), []string{label}))
	}
	return &EngineInstruments{
		batches: vector(h.Batches, "engine"), values: vector(h.Values, "engine"), seconds: vector(h.Seconds, "engine"),
		phases: vector(h.Phases, "phase"), fallbacks: register(registerer, prometheus.NewCounter(options(h.Fallbacks))),
	}
}

// Done counts a batch that an engine, OnCPU or OnDevice, finished.
func (m *EngineInstruments) Done(engine string, values int64, took time.Duration) {
	m.batches.WithLabelValues(engine).Inc()
	m.values.WithLabelValues(engine).Add(float64(values))
	m.seconds.WithLabelValues(engine).Add(took.Seconds())
}

// Phase adds the time that a part of the work on a device took.
func (m *EngineInstruments) Phase(name string, took time.Duration) {
	m.phases.WithLabelValues(name).Add(took.Seconds())
}

// FellBack counts work that a device was given and the CPU did.
func (m *EngineInstruments) FellBack() { m.fallbacks.Inc() }
