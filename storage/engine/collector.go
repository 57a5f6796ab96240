package engine

import (
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/prometheus/client_golang/prometheus"
)

// Collector is a prometheus.Collector of the figures that Pebble keeps. Stores registered under one name are added
// up, so that a hundred sacks do not become a hundred label values; where a sum means nothing (read amplification,
// the block cache that they share), the highest counts.
type Collector struct {
	// mu is held while figures are read: Pebble panics if asked for those of a closed store.
	mu     sync.Mutex
	stores []namedStore
}

type namedStore struct {
	name string
	db   *pebble.DB
}

// NewCollector returns a collector without stores.
func NewCollector() *Collector { return new(Collector) }

// Register adds a store. It must be unregistered before it is closed.
func (c *Collector) Register(name string, db *pebble.DB) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stores = append(c.stores, namedStore{name, db})
}

// Unregister removes a store; once it returns, the collector does not touch it any more.
func (c *Collector) Unregister(db *pebble.DB) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stores = slices.DeleteFunc(c.stores, func(s namedStore) bool { return s.db == db })
}

// figure is one metric: how it is read from a store, and how stores of one name combine.
type figure struct {
	desc    *prometheus.Desc
	kind    prometheus.ValueType
	highest bool
	read    func(*pebble.Metrics) float64
}

func newFigure(name, help string, kind prometheus.ValueType, read func(*pebble.Metrics) float64) figure {
	desc := prometheus.NewDesc("gnocco_store_"+name, help, []string{"store"}, nil)
	return figure{desc: desc, kind: kind, read: read}
}

func (f figure) ofHighest() figure {
	f.highest = true
	return f
}

var figures = []figure{
	newFigure("open", "Stores held.", prometheus.GaugeValue,
		func(*pebble.Metrics) float64 { return 1 }),
	newFigure("disk_bytes", "Bytes on disk: tables, log, what awaits removal.", prometheus.GaugeValue,
		func(m *pebble.Metrics) float64 { return float64(m.DiskSpaceUsage()) }),
	newFigure("log_bytes", "Bytes of the write-ahead log that a crash would replay.", prometheus.GaugeValue,
		func(m *pebble.Metrics) float64 { return float64(m.WAL.Size) }),
	newFigure("log_written_bytes_total", "Bytes written to the write-ahead log.", prometheus.CounterValue,
		func(m *pebble.Metrics) float64 { return float64(m.WAL.BytesWritten) }),
	newFigure("memtable_bytes", "Memory of memtables.", prometheus.GaugeValue,
		func(m *pebble.Metrics) float64 { return float64(m.MemTable.Size) }),
	newFigure("tables", "Tables on disk.", prometheus.GaugeValue,
		func(m *pebble.Metrics) float64 { return float64(m.Total().TablesCount) }),
	newFigure("read_amplification", "Sorted runs that one read may have to look at.", prometheus.GaugeValue,
		func(m *pebble.Metrics) float64 { return float64(m.ReadAmp()) }).ofHighest(),
	newFigure("flushes_total", "Memtables written to tables.", prometheus.CounterValue,
		func(m *pebble.Metrics) float64 { return float64(m.Flush.Count) }),
	newFigure("flushed_bytes_total", "Bytes written by flushes.", prometheus.CounterValue,
		func(m *pebble.Metrics) float64 { return float64(m.Total().TableBytesFlushed) }),
	newFigure("compactions_total", "Compactions.", prometheus.CounterValue,
		func(m *pebble.Metrics) float64 { return float64(m.Compact.Count) }),
	newFigure("compaction_failures_total", "Compactions that met an error.", prometheus.CounterValue,
		func(m *pebble.Metrics) float64 { return float64(m.Compact.FailedCount) }),
	newFigure("compacted_bytes_total", "Bytes written by compactions.", prometheus.CounterValue,
		func(m *pebble.Metrics) float64 { return float64(m.Total().TableBytesCompacted) }),
	newFigure("compaction_debt_bytes", "Estimated bytes to compact until the store is in shape.", prometheus.GaugeValue,
		func(m *pebble.Metrics) float64 { return float64(m.Compact.EstimatedDebt) }),
	newFigure("compaction_seconds_total", "Time spent in compactions.", prometheus.CounterValue,
		func(m *pebble.Metrics) float64 { return m.Compact.Duration.Seconds() }),
	newFigure("block_cache_bytes", "Size of the block cache, which stores may share.", prometheus.GaugeValue,
		func(m *pebble.Metrics) float64 { return float64(m.BlockCache.Size) }).ofHighest(),
	newFigure("block_cache_hits_total", "Blocks found in the block cache.", prometheus.CounterValue,
		func(m *pebble.Metrics) float64 { return float64(m.BlockCache.Hits) }).ofHighest(),
	newFigure("block_cache_misses_total", "Blocks read from disk.", prometheus.CounterValue,
		func(m *pebble.Metrics) float64 { return float64(m.BlockCache.Misses) }).ofHighest(),
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range figures {
		ch <- f.desc
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	values := make(map[string][]float64)
	c.mu.Lock()
	for _, s := range c.stores {
		v := values[s.name]
		if v == nil {
			v = make([]float64, len(figures))
			values[s.name] = v
		}
		m := s.db.Metrics()
		for i, f := range figures {
			if f.highest {
				v[i] = max(v[i], f.read(m))
			} else {
				v[i] += f.read(m)
			}
		}
	}
	c.mu.Unlock()
	for name, v := range values {
		for i, f := range figures {
			ch <- prometheus.MustNewConstMetric(f.desc, f.kind, v[i], name)
		}
	}
}
