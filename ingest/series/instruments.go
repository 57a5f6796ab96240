package series

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// instruments count what is stored and refused.
type instruments struct{ pushed, refused *prometheus.CounterVec }

func newInstruments(registerer prometheus.Registerer) (t instruments, err error) {
	t.pushed, err = counter(registerer, "gnocco_pushed_measures_total",
		"Measures of series with labels that were stored, by protocol.", "protocol")
	if err != nil {
		return t, err
	}
	t.refused, err = counter(registerer, "gnocco_push_refused_total",
		"Elements of series with labels that were not stored, by protocol and reason.", "protocol", "reason")
	return t, err
}

// counter registers a counter, or returns the one that is there: a process that comes to hold the index has another
// Writer than before, and counts on.
func counter(registerer prometheus.Registerer, name, help string, labels ...string) (*prometheus.CounterVec, error) {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	if registerer == nil {
		return c, nil
	}
	err := registerer.Register(c)
	if there, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if existing, ok := there.ExistingCollector.(*prometheus.CounterVec); ok {
			return existing, nil
		}
	}
	if err != nil {
		err = fmt.Errorf("series: register metrics: %w", err)
	}
	return c, err
}
