package metricd

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/metricd/heads"
)

// Why measures are dropped.
const (
	reasonTooOld  = "too_old"
	reasonDeleted = "metric_deleted"
	reasonCorrupt = "corrupt_block"
)

// Outcomes of a rebuild, for each metric.
const (
	resultChanged   = "changed"
	resultUnchanged = "unchanged"
	resultFailed    = "failed"
)

type instruments struct {
	processed          atomic.Int64
	dropped            *prometheus.CounterVec
	late               prometheus.Counter
	corrupt            prometheus.Counter
	failures           prometheus.Counter
	expunged           prometheus.Counter
	rebuilt            *prometheus.CounterVec
	checkpointSeconds  prometheus.Histogram
	checkpointMeasures prometheus.Histogram
	checkpointBytes    prometheus.Counter
	checkpointGroups   prometheus.Counter
	readSeconds        prometheus.Histogram
}

func newInstruments(registerer prometheus.Registerer, p *Metricd) *instruments {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "gnocco", Subsystem: "metricd",
			Name: name, Help: help})
	}
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "gnocco", Subsystem: "metricd", Name: name,
			Help: help, Buckets: buckets})
	}
	m := &instruments{
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "gnocco", Subsystem: "metricd",
			Name: "measures_dropped_total", Help: "Measures dropped, by reason."}, []string{"reason"}),
		late: counter("measures_late_total",
			"Measures older than the newest of their metric's earlier requests, within the back window: they count."),
		corrupt: counter("corrupt_values_total",
			"Stored values met that did not decode; they are left out of answers and kept."),
		failures: counter("failures_total", "Drains and checkpoints that failed and were tried again."),
		rebuilt: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "gnocco", Subsystem: "metricd",
			Name: "metrics_rebuilt_total", Help: "Metrics looked at by rebuilds, by result."}, []string{"result"}),
		expunged: counter("metrics_expunged_total", "Deleted metrics removed for good."),
		checkpointSeconds: histogram("checkpoint_seconds", "Time of a sack's checkpoint.",
			prometheus.ExponentialBuckets(0.001, 4, 7)),
		checkpointMeasures: histogram("checkpoint_measures", "Measures in a checkpoint: the resampler's batch.",
			prometheus.ExponentialBuckets(10, 10, 7)),
		checkpointGroups: counter("checkpoint_groups_total",
			"Groups written by checkpoints, new and changed, of all granularities."),
		checkpointBytes: counter("checkpoint_bytes_total",
			"Bytes of checkpoints committed, before compression and compaction."),
		readSeconds: histogram("read_seconds",
			"Time to read the groups of one metric at one granularity; of several that are read together the mean.",
			prometheus.ExponentialBuckets(2.5e-5, 4, 8)),
	}
	for _, reason := range []string{reasonTooOld, reasonDeleted, reasonCorrupt} {
		m.dropped.WithLabelValues(reason)
	}
	for _, result := range []string{resultChanged, resultUnchanged, resultFailed} {
		m.rebuilt.WithLabelValues(result)
	}
	if registerer != nil {
		gauge := func(name, help string, value func(*sack) int) prometheus.Collector {
			return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "gnocco", Subsystem: "metricd", Name: name,
				Help: help}, func() float64 {
				total := 0
				for _, s := range p.open() {
					total += value(s)
				}
				return float64(total)
			})
		}
		processed := prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "gnocco", Subsystem: "metricd",
			Name: "measures_processed_total", Help: "Measures taken into heads; reads see them."},
			func() float64 { return float64(m.processed.Load()) })
		registerer.MustRegister(processed, m.dropped, m.late, m.corrupt, m.failures, m.expunged, m.rebuilt,
			m.checkpointSeconds, m.checkpointMeasures, m.checkpointBytes, m.checkpointGroups, m.readSeconds,
			gauge("sacks", "Sacks held by this process.", func(*sack) int { return 1 }),
			gauge("heads", "Metrics in memory.", func(s *sack) int { return s.heads.Len() }),
			gauge("recent_groups_bytes", "Memory for recent groups of metrics that are read.", func(s *sack) int {
				return s.view.RecentBytes()
			}),
			gauge("pending_measures", "Measures in heads: visible, not yet in the archives.", func(s *sack) int {
				return s.heads.Pending()
			}))
	}
	return m
}

// count adds a whole request: one counter that all cores add to for each metric takes longer than the measures.
func (m *instruments) count(c heads.Counts) {
	m.processed.Add(int64(c.Accepted))
	if c.Late > 0 {
		m.late.Add(float64(c.Late))
	}
	if c.TooOld > 0 {
		m.dropped.WithLabelValues(reasonTooOld).Add(float64(c.TooOld))
	}
	if c.Deleted > 0 {
		m.dropped.WithLabelValues(reasonDeleted).Add(float64(c.Deleted))
	}
}
