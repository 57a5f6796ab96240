package statsd

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/quota"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/storage/index"
)

// Options configure a Server. Index, Incoming and Sacks have no default, unless Store is given.
type Options struct {
	// Labels: names without types, DogStatsD's tags as labels. The server of the process sets Store.
	Labels bool
	// Store makes series with labels durable. nil: Gnocchi's names, in the index.
	Store series.Store

	Index    *index.Store
	Incoming *incoming.Store
	Sacks    int         // number of sacks of the cluster
	Quotas   *quota.Book // of projects; nil: none

	Listen            string        // UDP address, or unix:PATH of a socket; "": 127.0.0.1:8125; port 0 for any
	Resource          string        // ID of the resource that holds the metrics, a UUID or any text; "": statsd
	Creator           string        // of the resource and the metrics; "" for none
	ArchivePolicyName string        // of new metrics; "": by the archive policy rules
	FlushInterval     time.Duration // 0: 10 s
	MaxMetrics        int           // most metrics between two flushes, and most gauges remembered; 0: 100,000
	MaxValues         int           // most values of timers and members of sets between two flushes; 0: 1,000,000

	Logger     *slog.Logger          // nil: discard
	Registerer prometheus.Registerer // nil: metrics are kept, but not registered
	Now        func() time.Time      // nil: time.Now
}

// EnsureDefaults fills in what was left zero.
func (o *Options) EnsureDefaults() {
	o.Listen = cmp.Or(o.Listen, "127.0.0.1:8125")
	o.Resource = cmp.Or(o.Resource, "statsd")
	o.FlushInterval = cmp.Or(o.FlushInterval, 10*time.Second)
	o.MaxMetrics = cmp.Or(o.MaxMetrics, 100_000)
	o.MaxValues = cmp.Or(o.MaxValues, 1_000_000)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
}

// Validate reports every fault of o at once.
func (o *Options) Validate() error {
	var faults []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("statsd: "+format, args...))
		}
	}
	refuse(o.Labels && o.ArchivePolicyName != "",
		"ArchivePolicyName: series with labels have the archive policy of all pushed series")
	refuse(o.Labels != (o.Store != nil), "Labels and Store are given together")
	if o.Store == nil { // Gnocchi's names
		refuse(o.Index == nil, "Index is missing")
		refuse(o.Incoming == nil, "Incoming is missing")
		refuse(o.Sacks < 1, "Sacks is %d, not positive", o.Sacks)
		_, err := model.ResourceID(o.Resource, o.Creator)
		refuse(err != nil, "Resource %q: %w", o.Resource, err)
	}
	refuse(o.FlushInterval < 0, "FlushInterval is negative")
	refuse(o.MaxMetrics < 0, "MaxMetrics is negative")
	refuse(o.MaxValues < 0, "MaxValues is negative")
	return errors.Join(faults...)
}
