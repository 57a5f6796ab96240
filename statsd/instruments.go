package statsd

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// instruments are what the listener tells Prometheus.
type instruments struct {
	messages   prometheus.Counter
	refused    *prometheus.CounterVec
	registerer prometheus.Registerer
}

func newInstruments(registerer prometheus.Registerer) (*instruments, error) {
	t := &instruments{
		messages: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "gnocco_statsd_messages_total", Help: "Statsd messages understood."}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gnocco_statsd_refused_total",
			Help: "Statsd messages, and measures made of them, that were not accepted, by reason."},
			[]string{"reason"}),
		registerer: registerer,
	}
	for _, reason := range reasons {
		t.refused.WithLabelValues(reason)
	}
	if registerer == nil {
		return t, nil
	}
	return t, errors.Join(registerer.Register(t.messages), registerer.Register(t.refused))
}

func (t *instruments) unregister() {
	if t.registerer != nil {
		t.registerer.Unregister(t.messages)
		t.registerer.Unregister(t.refused)
	}
}

// refuse counts n messages or measures.
func (t *instruments) refuse(reason string, n int) { t.refused.WithLabelValues(reason).Add(float64(n)) }
