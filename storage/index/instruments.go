package index

import "github.com/prometheus/client_golang/prometheus"

type instruments struct {
	lookupMisses prometheus.Counter
	corrupt      prometheus.Counter
}

// newInstruments registers what s counts; registerer may be nil.
func newInstruments(s *Store, registerer prometheus.Registerer) (instruments, []prometheus.Collector, error) {
	t := instruments{
		lookupMisses: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "gnocco_index_lookup_misses_total",
			Help: "Lookups of metrics that were not in memory.",
		}),
		corrupt: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "gnocco_index_corrupt_total",
			Help: "Stored values that did not decode and were skipped.",
		}),
	}
	collectors := []prometheus.Collector{
		t.lookupMisses, t.corrupt,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "gnocco_index_metrics",
			Help: "Metrics, without those marked deleted.",
		}, func() float64 { return float64(s.CountMetrics()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "gnocco_index_deleted_metrics",
			Help: "Metrics marked deleted that wait to be expunged.",
		}, func() float64 { return float64(s.deleted.Load()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "gnocco_index_cached_metrics",
			Help: "Metrics that Lookup holds in memory.",
		}, func() float64 { return float64(s.cache.entries.Load()) }),
	}
	if registerer == nil {
		return t, nil, nil
	}
	for i, c := range collectors {
		if err := registerer.Register(c); err != nil {
			for _, registered := range collectors[:i] {
				registerer.Unregister(registered)
			}
			return t, nil, err
		}
	}
	return t, collectors, nil
}
