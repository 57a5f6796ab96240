package resample

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/gpu/device"
)

func newInstruments(registerer prometheus.Registerer) *device.EngineInstruments {
	return device.NewEngineInstruments(registerer, &device.EngineHelp{
		Subsystem: "resampler",
		Batches:   [2]string{"batches_total", "Batches resampled."},
		Values:    [2]string{"measures_total", "Measures resampled."},
		Seconds:   [2]string{"seconds_total", "Time that resampling took."},
		Phases: [2]string{"device_phase_seconds_total",
			"Time of chunks on a device: packing them, and from the call to the results."},
		Fallbacks: [2]string{"fallbacks_total", "Chunks of a batch that a device did not do and the CPU did."},
	})
}
