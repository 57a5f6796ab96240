package metrics

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/internal/roster"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
)

// Table is the metrics of an index: the metrics of a log, with their caches. Its methods may be called by many
// goroutines.
type Table struct {
	log      *commits.Log
	logger   *slog.Logger
	policies func() map[string]*model.ArchivePolicy // all that there are; not modified
	limits   *keyspace.Costs
	misses   prometheus.Counter

	cache    *cache
	listsMu  sync.RWMutex                 // guards creators
	creators *roster.Table[*model.Metric] // of lists of metrics
	ended    endedResources
	last     lastMetric // guarded by the log's lock
	known    knownLabels
	bound    atomic.Pointer[func(project string) int64] // of series; nil: none
}

// NewTable returns the metrics of a log. A cache of them has about so many places.
func NewTable(log *commits.Log, logger *slog.Logger, policies func() map[string]*model.ArchivePolicy,
	limits *keyspace.Costs, places int) *Table {
	return &Table{log: log, logger: logger, policies: policies, limits: limits, cache: newMetricCache(places),
		misses: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "gnocco_index_lookup_misses_total",
			Help: "Lookups of metrics that were not in memory.",
		}),
		creators: roster.NewTable[*model.Metric](listedCreators)}
}

// Generation rises with every change that outdates a *model.Metric handed out earlier. These are an update of its
// policy, another resource or name, its deletion, and its resource's deletion. A caller that keeps metrics asks for
// them again then.
func (s *Table) Generation() uint64 { return s.cache.generation.Load() }

// Instruments returns what a registry shows of the metrics.
func (s *Table) Instruments() []prometheus.Collector {
	return []prometheus.Collector{s.misses,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "gnocco_index_cached_metrics",
			Help: "Metrics that Lookup holds in memory.",
		}, func() float64 { return float64(s.cache.entries.Load()) }),
	}
}

// Forget removes metrics from the cache once they have changed, and raises the generation.
func (s *Table) Forget(ids ...uuid.UUID) { s.cache.remove(ids) }

// ReplacePolicy gives cached metrics the policy in force, and raises the generation.
func (s *Table) ReplacePolicy(p *model.ArchivePolicy) { s.cache.replacePolicy(p) }

// NoteEnd is called before a change that ends a resource is committed.
func (s *Table) NoteEnd(resource uuid.UUID) { s.ended.add(resource) }
