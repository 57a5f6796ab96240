package server

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/internal/version"
)

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
