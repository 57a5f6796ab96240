package series

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/internal/figures"
)

// instruments count what is stored and refused.
type instruments struct{ pushed, refused *prometheus.CounterVec }

func newInstruments(registerer prometheus.Registerer) instruments {
	return instruments{
		pushed: figures.Registered(registerer, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gnocco_pushed_measures_total", Help: "Measures of series with labels that were stored, by protocol.",
		}, []string{"protocol"})),
		refused: figures.Registered(registerer, prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gnocco_push_refused_total",
			Help: "Elements of series with labels that were not stored, by protocol and reason.",
		}, []string{"protocol", "reason"})),
	}
}
