package correlate

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/gpu/device"
)

func newInstruments(registerer prometheus.Registerer) *device.EngineInstruments {
	return device.NewEngineInstruments(registerer, &device.EngineHelp{
		Subsystem: "correlator",
		Batches:   [2]string{"correlations_total", "Correlations of all pairs of columns, by Pearson."},
		Values:    [2]string{"values_total", "Values correlated, rows x columns."},
		Seconds:   [2]string{"seconds_total", "Time that correlating took, reading included."},
		Phases: [2]string{"device_phase_seconds_total",
			"Time of correlations on devices: opening them, reading rows, packing them, waiting for devices, " +
				"finding and handing out pairs."},
		Fallbacks: [2]string{"fallbacks_total", "Correlations that devices did not end and the CPU did."},
	})
}
