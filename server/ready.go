package server

import "github.com/prometheus/client_golang/prometheus"

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
