package server

import (
	"fmt"
	"os"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/internal/version"
	"github.com/gnocco-db/gnocco/model"
)

// newDevices returns the part of the registry for resampler and correlator, which get it instead of the whole.
func newDevices(whole *prometheus.Registry, o *Options) *prometheus.Registry {
	devices := prometheus.NewRegistry()
	whole.MustRegister(devices)
	if resampler := o.Cluster.Resampler; resampler != nil {
		o.Cluster.Resampler = func(prometheus.Registerer) carbonara.Resampler { return resampler(devices) }
	}
	if correlator := o.Correlator; correlator != nil {
		o.Correlator = func(prometheus.Registerer) correlate.Engine { return correlator(devices) }
	}
	return devices
}

// deviceOf says what the devices' metrics tell.
func deviceOf(devices prometheus.Gatherer) model.Device {
	families, _ := devices.Gather() // what could be read
	device := model.DeviceNone
	for _, family := range families {
		if family.GetName() != "gnocco_gpu_up" {
			continue
		}
		device = model.DeviceDown
		for _, metric := range family.GetMetric() {
			if metric.GetGauge().GetValue() > 0 {
				return model.DeviceUp
			}
		}
	}
	return device
}

// residentBytes returns how much memory this process has, 0 if the system does not tell.
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}

// newReady returns a metric that says what GET /ready does.
func newReady(reasons func() []string) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "gnocco_ready",
		Help: "1 if requests should be sent to this process, 0 while it starts or is about to end.",
	}, func() float64 {
		if len(reasons()) > 0 {
			return 0
		}
		return 1
	})
}

// newBuildInfo returns a metric whose labels name the build of this program.
func newBuildInfo() prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "gnocco_build_info", Help: "1, labelled by what this program was built from.",
		ConstLabels: prometheus.Labels{"version": version.Number, "revision": version.Revision(),
			"goversion": runtime.Version()},
	})
	info.Set(1)
	return info
}
