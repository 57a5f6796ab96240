package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/prometheus/client_golang/prometheus"
)

// PebbleCollector knows the open stores of a process. It is a prometheus.Collector of the figures that Pebble keeps of
// them, and Upkeep keeps them small. Stores registered under one name are
// added up, so that a hundred sacks do not become a hundred label values; where a sum means nothing (read
// amplification, the block cache that they share), the highest counts.
type PebbleCollector struct {
	// mu is held while figures are read: Pebble panics if asked for those of a closed store.
	mu     sync.Mutex
	stores []*registered
}

// registered is an open store. Upkeep alone uses what is below cancel.
type registered struct {
	name    string
	db      *pebble.DB
	old     *OldLogs
	longLog uint64
	open    sync.RWMutex // held by Upkeep, so that the store is not closed meanwhile
	ctx     context.Context
	cancel  func() // ends what Upkeep waits for

	flushes int64     // when there was nothing left of them in memory
	changes uint64    // bytes written to the log, and tables taken in, when it was looked at last
	since   time.Time // nothing was written since then
	next    []byte    // and up to this key it is compacted; nil: not yet
	atRest  bool      // and nothing is left to do
}

// NewPebbleCollector returns a collector without stores.
func NewPebbleCollector() *PebbleCollector { return new(PebbleCollector) }

// ShortLog is what a log may have before Upkeep flushes it, unless the store's tables are much larger.
const ShortLog = 512 << 10

// Register adds a store. It must be unregistered before it is closed. Upkeep lets its log have so many bytes, or a
// quarter of the tables', and removes the old ones, those of its Options, when it is at rest.
func (c *PebbleCollector) Register(name string, db *pebble.DB, longLog uint64, old *OldLogs) {
	s := &registered{name: name, db: db, old: old, longLog: longLog}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stores = append(c.stores, s)
}

// Unregister removes a store; once it returns, the collector does not touch it any more.
func (c *PebbleCollector) Unregister(db *pebble.DB) {
	c.mu.Lock()
	at := slices.IndexFunc(c.stores, func(s *registered) bool { return s.db == db })
	var s *registered
	if at >= 0 {
		s = c.stores[at]
		c.stores = slices.Delete(c.stores, at, at+1)
	}
	c.mu.Unlock()
	if s != nil {
		s.cancel()
		s.open.Lock() // until Upkeep has let go of it
		defer s.open.Unlock()
	}
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
		func(m *pebble.Metrics) float64 { return float64(m.Levels[0].TableBytesFlushed) }), // Total adds the log
	newFigure("ingested_bytes_total", "Bytes of checkpoints written as tables, without log and flush.",
		prometheus.CounterValue, func(m *pebble.Metrics) float64 { return float64(m.Total().TableBytesIngested) }),
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
func (c *PebbleCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range figures {
		ch <- f.desc
	}
}

func (c *PebbleCollector) Collect(ch chan<- prometheus.Metric) {
	values := make(map[string][]float64)
	c.mu.Lock()
	for _, s := range c.stores {
		v := values[s.name]
		if v == nil {
			v = make([]float64, len(figures))
			values[s.name] = v
		}
		m := s.db.Metrics()
		m.WAL.ObsoletePhysicalSize += uint64(s.old.Bytes())
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
