package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"gnocco/api/policy"
	"gnocco/carbonara"
	"gnocco/model"
	"gnocco/storage/incoming"
	"gnocco/storage/index"
)

// Archives is what the API reads aggregates from. Package metricd implements it for the sacks that this process owns.
type Archives interface {
	// Groups sets dst to the groups that read asks for. What the archive policy no longer keeps is left out. A metric without
	// any measures has no groups: that is no error.
	Groups(ctx context.Context, read model.Read, dst *carbonara.Groups) error

	// Refresh returns once everything accepted for these metrics before the call is visible to Groups.
	Refresh(ctx context.Context, metrics []uuid.UUID) error
}

// Options configure the API. Index (or Metrics and Elsewhere), Incoming, Archives and Sacks have no default.
type Options struct {
	Index     *index.Store // nil if another process holds it: then
	Metrics   Metrics      // knows metrics, and
	Elsewhere http.Handler // answers what takes more than that

	Incoming *incoming.Store
	Archives Archives
	Sacks    int                            // number of sacks of the cluster
	Cluster  func(context.Context) *Cluster // for GET /v1/status; nil: what Incoming tells is all there is
	Sizes    ArchiveSizes                   // nil: what metrics take is told as 0

	Correlations CorrelationOptions
	Resampler    carbonara.Resampler // of resample= and dynamic aggregates; many requests use it at once; nil: the CPU's

	Auth         Authenticator // nil: Basic
	Policy       *policy.Rules // who may do what; nil: policy.Default
	MaxBodyBytes int64         // of a request; 0: 64 MiB
	MaxLimit     int           // most items of one page, and the default; 0: 1000
	Timeout      time.Duration // of an append and of a refresh; 0: 10 s, as Gnocchi's operation_timeout
	Prefix       string        // where the API is found a second time, like "/gnocchi"; "" for nowhere
	ProxyHeaders bool          // believe Forwarded and X-Forwarded-*
	CORSOrigins  []string      // origins that browsers may call from; "*" for any
	Pprof        bool          // serve /debug/pprof
	Build        string        // version told by GET /

	PrometheusLabels bool // keep all labels of Prometheus' series, as attributes of resources; else Gnocchi's mapping
	KnownMetrics     int  // most metrics kept by their names in other databases' protocols; 0: 250,000

	Logger     *slog.Logger          // nil: discard
	Registerer prometheus.Registerer // nil: metrics are kept, but not registered
	Gatherer   prometheus.Gatherer   // what /metrics shows; nil: no /metrics
	Now        func() time.Time      // nil: time.Now
}

// EnsureDefaults fills in what was left zero.
func (o *Options) EnsureDefaults() {
	if o.Auth == nil {
		o.Auth = Basic{}
	}
	if o.Policy == nil {
		o.Policy = policy.Default()
	}
	if o.MaxBodyBytes == 0 {
		o.MaxBodyBytes = 64 << 20
	}
	if o.MaxLimit == 0 {
		o.MaxLimit = 1000
	}
	if o.KnownMetrics == 0 {
		o.KnownMetrics = 250_000
	}
	o.Correlations.ensureDefaults()
	if o.Resampler == nil {
		o.Resampler = carbonara.NewCPUResampler(1) // on the request's own goroutine
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	if o.Build == "" {
		o.Build = "unknown"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// Validate reports every fault of o at once.
func (o *Options) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("api: "+format, args...)) }
	if o.Index == nil && (o.Metrics == nil || o.Elsewhere == nil) {
		fault("Index is missing")
	}
	if o.Incoming == nil {
		fault("Incoming is missing")
	}
	if o.Archives == nil {
		fault("Archives is missing")
	}
	if o.Sacks < 1 {
		fault("Sacks is %d, not positive", o.Sacks)
	}
	if o.MaxBodyBytes < 0 {
		fault("MaxBodyBytes is negative")
	}
	if o.MaxLimit < 0 {
		fault("MaxLimit is negative")
	}
	if o.KnownMetrics < 0 {
		fault("KnownMetrics is negative")
	}
	if err := o.Correlations.validate(); err != nil {
		faults = append(faults, err)
	}
	if o.Timeout < 0 {
		fault("Timeout is negative")
	}
	if p := o.Prefix; p != "" && (!strings.HasPrefix(p, "/") || strings.HasSuffix(p, "/") || strings.ContainsAny(p, "{}*")) {
		fault("Prefix %q does not look like /gnocchi", p)
	}
	for _, origin := range o.CORSOrigins {
		if u, err := url.Parse(origin); origin != "*" && (err != nil || u.Scheme == "" || u.Host == "" || u.Path != "") {
			fault("CORS origin %q does not look like https://example.org", origin)
		}
	}
	return errors.Join(faults...)
}
