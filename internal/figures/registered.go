package figures

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Registered registers a collector, or returns the one that is there: a process that comes to hold the index serves
// another API than before, and counts on. A nil registerer is none.
func Registered[C prometheus.Collector](registerer prometheus.Registerer, collector C) C {
	if registerer == nil {
		return collector
	}
	err := registerer.Register(collector)
	if there, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if existing, ok := there.ExistingCollector.(C); ok {
			return existing
		}
	}
	if err != nil {
		panic(err) // the names are ours
	}
	return collector
}
