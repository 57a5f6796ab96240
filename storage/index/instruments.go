package index

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/storage/engine"
)

// instruments is what a registry shows of a store.
type instruments struct {
	store      *Store
	registerer prometheus.Registerer
	collectors []prometheus.Collector // registered with registerer
	pebble     *engine.PebbleCollector
}

// newInstruments registers what s counts; the registerer and the collector may be nil.
func newInstruments(s *Store, opts Options) (*instruments, error) {
	t := &instruments{store: s, registerer: opts.Registerer, pebble: opts.Collector}
	if t.pebble != nil {
		t.pebble.Register("index", s.log.DB, engine.ShortLog, nil)
	}
	if t.registerer == nil {
		return t, nil
	}
	for _, c := range append(s.Instruments(), s.log.Corrupt,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "gnocco_index_metrics",
			Help: "Metrics, without those marked deleted.",
		}, func() float64 { return float64(s.CountMetrics()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "gnocco_index_deleted_metrics",
			Help: "Metrics marked deleted that wait to be expunged.",
		}, func() float64 { return float64(s.log.Deleted.Load()) }),
	) {
		if err := t.registerer.Register(c); err != nil {
			t.unregister()
			return nil, err
		}
		t.collectors = append(t.collectors, c)
	}
	return t, nil
}

func (t *instruments) unregister() {
	for _, c := range t.collectors {
		t.registerer.Unregister(c)
	}
	if t.pebble != nil {
		t.pebble.Unregister(t.store.log.DB)
	}
}
