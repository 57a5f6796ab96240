package device

import (
	"errors"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// instruments of one device. Devices of one ordinal and registerer have the same, so they exclude each other: a process
// that opens one for each kind of work gives each a registerer with a label of its own.
type instruments struct {
	up             prometheus.Gauge
	jobs           prometheus.Counter
	failures       prometheus.Counter
	jobSeconds     prometheus.Histogram
	launches       prometheus.Counter
	uploaded       prometheus.Counter
	downloaded     prometheus.Counter
	allocations    prometheus.Counter
	poolHeld       prometheus.Gauge
	poolUnused     prometheus.Gauge
	pinnedUpload   prometheus.Gauge
	pinnedDownload prometheus.Gauge
	pinnedBorrowed prometheus.Gauge
}

func newInstruments(registerer prometheus.Registerer, ordinal int) *instruments {
	labels := prometheus.Labels{"device": strconv.Itoa(ordinal)}
	counter := func(name, help string) prometheus.Counter {
		return register(registerer, prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: "gnocco", Subsystem: "gpu", Name: name, Help: help, ConstLabels: labels,
		}))
	}
	gauge := func(name, help string, labels prometheus.Labels) prometheus.Gauge {
		return register(registerer, prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: "gnocco", Subsystem: "gpu", Name: name, Help: help, ConstLabels: labels,
		}))
	}
	pinned := func(direction string) prometheus.Gauge {
		return gauge("pinned_bytes", "Host memory pinned for copies, used or not.",
			prometheus.Labels{"device": labels["device"], "direction": direction})
	}
	jobSeconds := prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: "gnocco", Subsystem: "gpu", Name: "job_seconds",
		Help:        "Time of a job from its start on a stream to its results.",
		ConstLabels: labels, Buckets: prometheus.ExponentialBuckets(1e-5, 2, 18),
	})
	return &instruments{
		up:         gauge("up", "1 while the device is open and works.", labels),
		jobs:       counter("jobs_total", "Jobs that came to their end on the device."),
		failures:   counter("job_failures_total", "Jobs that did not, also for lack of memory."),
		launches:   counter("launches_total", "Kernels launched."),
		uploaded:   counter("uploaded_bytes_total", "Bytes copied to the device."),
		downloaded: counter("downloaded_bytes_total", "Bytes copied from the device."),
		jobSeconds: register(registerer, jobSeconds),
		allocations: counter("allocations_total",
			"Blocks of device memory asked from the driver: none in steady state."),
		poolHeld:       gauge("memory_held_bytes", "Device memory held, used or not.", labels),
		poolUnused:     gauge("memory_unused_bytes", "Device memory held for later.", labels),
		pinnedUpload:   pinned("upload"),
		pinnedDownload: pinned("download"),
		pinnedBorrowed: pinned("both"),
	}
}

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

// register registers a metric, or returns the one that is there: devices and correlators come and go, and their figures
// go on. A nil registerer is none.
func register[C prometheus.Collector](registerer prometheus.Registerer, metric C) C {
	if registerer == nil {
		return metric
	}
	err := registerer.Register(metric)
	if there := (prometheus.AlreadyRegisteredError{}); errors.As(err, &there) {
		if same, ok := there.ExistingCollector.(C); ok {
			return same
		}
	}
	if err != nil {
		panic(err) // the names are ours
	}
	return metric
}
