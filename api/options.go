package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/policy"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/quota"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/query/activity"
	"github.com/gnocco-db/gnocco/query/correlations"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/storage/index"
)

// appendTimeout is how long a client waits until its measures are durable. A request waits for the sync that is under
// way and for its own: a disk that takes 10 s for one refuses nobody.
const appendTimeout = 30 * time.Second

// Options configure the API. Index (or Metrics and Forward), Incoming, Archives and Sacks have no default.
type Options struct {
	Index   *index.Store // nil if another process holds it: then
	Metrics Metrics      // knows metrics, and
	Forward http.Handler // answers what takes more than that

	Incoming *incoming.Store
	Archives query.Archives
	Sacks    int                                        // number of sacks of the cluster
	Cluster  func(context.Context) *model.ClusterStatus // for GET /v1/status; nil: only what Incoming knows

	Backups func() ([]model.Backup, error) // the newest first; nil: there are none

	NotReady func() []string // why no requests should be sent to this process, nil if they should; nil: they should
	Missing  func() []string // stores that no process holds, by name; nil: none

	// Resampler serves resample= and dynamic aggregates, many requests at once. nil: the CPU's.
	Resampler    carbonara.Resampler
	KnownMetrics int // most metrics kept by name; 0: the default of package ingest

	Activity *activity.Tracker // the queries of this process; nil: one of its own
	// OtherActivity asks the other processes of the cluster for theirs; nil: there are none.
	OtherActivity func(context.Context, activity.Request) []*activity.Report
	Quotas        *quota.Book    // what projects send; nil: one of its own
	Pairs         *series.Pairs  // told of senders in pairs; nil: the log alone is
	Budget        *budget.Budget // the memory that requests share; nil: no bound
	LabelBytes    int64          // of memory for the labels of series; 0: 64 MiB
	QuerySamples  int            // that a query in PromQL may hold at once; 0: the default of package query/promql

	Settings
	Auth   auth.Authenticator // nil: auth.Basic
	Policy *policy.Rules      // who may do what; nil: policy.Default

	Logger     *slog.Logger          // nil: discard
	Registerer prometheus.Registerer // nil: metrics are kept, but not registered
	Gatherer   prometheus.Gatherer   // what /metrics shows; nil: no /metrics
	now        func() time.Time      // nil: time.Now; tests set it
}

// Settings are what the operator of a server sets.
type Settings struct {
	MaxBodyBytes int64    // of a request; 0: 64 MiB
	MaxLimit     int      // most items of one page, and the default; 0: 1000
	Prefix       string   // where the API is found a second time, like "/gnocchi"; "" for nowhere
	ProxyHeaders bool     // believe Forwarded and X-Forwarded-*
	CORSOrigins  []string // origins that browsers may call from; "*" for any

	Limits    web.Limits  // of one request
	Quota     model.Quota // of each project, unless it has its own; zero: none
	AccessLog web.AccessLog

	PromQLNames  string // how PromQL calls metrics of resources: GnocchiNames or CeilometerNames; "": the former
	PromQLEngine string // what evaluates PromQL: ColumnsEngine or UpstreamEngine; "": the former

	Correlations correlations.Options
}

// Names of metrics of resources, and of their labels, in PromQL.
const (
	GnocchiNames    = "gnocchi"
	CeilometerNames = "ceilometer" // as Ceilometer's exporter for Prometheus calls them
)

// Engines of PromQL. They give the same answers.
const (
	ColumnsEngine  = "columns"  // the most asked expressions over many series at once, on all cores
	UpstreamEngine = "upstream" // Prometheus' engine alone
)

// EnsureDefaults fills in what was left zero.
func (o *Options) EnsureDefaults() {
	o.Auth = cmp.Or[auth.Authenticator](o.Auth, auth.Basic{})
	if o.Policy == nil {
		o.Policy = policy.Default()
	}
	o.MaxBodyBytes = cmp.Or(o.MaxBodyBytes, 64<<20)
	o.MaxLimit = cmp.Or(o.MaxLimit, 1000)
	o.Limits.EnsureDefaults()
	o.Quotas = cmp.Or(o.Quotas, new(quota.Book))
	o.LabelBytes = cmp.Or(o.LabelBytes, 64<<20)
	if o.Backups == nil {
		o.Backups = func() ([]model.Backup, error) { return []model.Backup{}, nil }
	}
	if o.NotReady == nil {
		o.NotReady = func() []string { return nil }
	}
	if o.Missing == nil {
		o.Missing = func() []string { return nil }
	}
	o.PromQLNames = cmp.Or(o.PromQLNames, GnocchiNames)
	o.PromQLEngine = cmp.Or(o.PromQLEngine, ColumnsEngine)
	o.Correlations.EnsureDefaults()
	if o.Resampler == nil {
		o.Resampler = carbonara.NewCPUResampler(1) // on the request's own goroutine
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.now == nil {
		o.now = time.Now
	}
}

// Validate reports every fault of o at once.
func (o *Options) Validate() error {
	var faults []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("api: "+format, args...))
		}
	}
	refuse(o.Index == nil && (o.Metrics == nil || o.Forward == nil), "Index is missing")
	refuse(o.Incoming == nil, "Incoming is missing")
	refuse(o.Archives == nil, "Archives is missing")
	refuse(o.Sacks < 1, "Sacks is %d, not positive", o.Sacks)
	refuse(o.PromQLNames != GnocchiNames && o.PromQLNames != CeilometerNames,
		"PromQLNames is %q, not %s or %s", o.PromQLNames, GnocchiNames, CeilometerNames)
	refuse(o.PromQLEngine != ColumnsEngine && o.PromQLEngine != UpstreamEngine,
		"PromQLEngine is %q, not %s or %s", o.PromQLEngine, ColumnsEngine, UpstreamEngine)
	refuse(o.MaxBodyBytes < 0, "MaxBodyBytes is negative")
	refuse(o.MaxLimit < 0, "MaxLimit is negative")
	refuse(o.KnownMetrics < 0, "KnownMetrics is negative")
	faults = append(faults, o.AccessLog.Validate())
	if err := o.Quota.Validate(); err != nil {
		faults = append(faults, fmt.Errorf("api: %w", err))
	}
	faults = append(faults, o.Limits.Validate(), o.Correlations.Validate())
	p := o.Prefix
	refuse(p != "" && (!strings.HasPrefix(p, "/") || strings.HasSuffix(p, "/") || strings.ContainsAny(p, "{}*")),
		"Prefix %q does not look like /gnocchi", p)
	for _, origin := range o.CORSOrigins {
		u, err := url.Parse(origin)
		refuse(origin != "*" && (err != nil || u.Scheme == "" || u.Host == "" || u.Path != ""),
			"CORS origin %q does not look like https://example.org", origin)
	}
	return errors.Join(faults...)
}
