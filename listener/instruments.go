package listener

import "github.com/prometheus/client_golang/prometheus"

// instruments are what a listener tells Prometheus. Its stored measures are in gnocco_pushed_measures_total.
type instruments struct {
	refused     *prometheus.CounterVec
	connections prometheus.Gauge
	registerer  prometheus.Registerer
}

func newInstruments(o *Options) *instruments {
	labels := prometheus.Labels{"protocol": o.Protocol}
	t := &instruments{
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "gnocco_listener_refused_total",
			Help: "Elements that a listener did not store, by reason.", ConstLabels: labels}, []string{"reason"}),
		connections: prometheus.NewGauge(prometheus.GaugeOpts{Name: "gnocco_listener_connections",
			Help: "Open connections of a listener's senders.", ConstLabels: labels}),
		registerer: o.Registerer,
	}
	if t.registerer != nil {
		t.registerer.MustRegister(t.refused, t.connections)
	}
	return t
}

func (t *instruments) unregister() {
	if t.registerer != nil {
		t.registerer.Unregister(t.refused)
		t.registerer.Unregister(t.connections)
	}
}
