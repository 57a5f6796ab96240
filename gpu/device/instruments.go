package device

import (
	"strconv"

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
