package device

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// register registers a metric, or returns the one that is there: devices and correlators come and go, and their figures
// go on. A nil registerer is none.
func register[C prometheus.Collector](registerer prometheus.Registerer, metric C) C {
	if registerer == nil {
		return metric
	}
	err := registerer.Register(metric)
	if there := (prometheus.AlreadyRegisteredError{}); errors.As(err, &there) {
		if same, ok := there.ExistingCollector.(C); ok {
			return same
		}
	}
	if err != nil {
		panic(err) // the names are ours
	}
	return metric
}
