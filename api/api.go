package api

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/api/correlations"
	"github.com/gnocco-db/gnocco/api/imports"
	"github.com/gnocco-db/gnocco/api/influxdb"
	"github.com/gnocco-db/gnocco/api/operators"
	"github.com/gnocco-db/gnocco/api/otlp"
	"github.com/gnocco-db/gnocco/api/pages"
	"github.com/gnocco-db/gnocco/api/prometheus"
	"github.com/gnocco-db/gnocco/api/promql"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/query"
	jobs "github.com/gnocco-db/gnocco/query/correlations"
	"github.com/gnocco-db/gnocco/query/postings"
	evaluation "github.com/gnocco-db/gnocco/query/promql"
	recording "github.com/gnocco-db/gnocco/rules/handlers"

	"github.com/go-chi/chi/v5"
)

// api serves the routes. All requests share it; its parts that change have locks of their own.
type api struct {
	*web.Env
	options  Options
	incoming budget.Pool[incomingScratch]
	outgoing budget.Pool[outgoingScratch]

	reader   *query.Reader
	ingester *ingest.Ingester
	series   *series.Writer // nil without an index
}

// A room has routes and their handlers.
type room interface {
	Routes(at func(method, path string, h http.HandlerFunc))
}

// A Handler is the whole API.
type Handler struct {
	http.Handler
	Series *series.Writer      // of all protocols; nil without an index
	Rules  *recording.Handlers // their Manager does nothing until it runs
	Labels *postings.Catalog
}

// New returns the handler of the whole API. The stores stay the caller's: close them after the server has stopped.
func New(options Options) (*Handler, error) {
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return nil, err
	}
	env := web.NewEnv(&web.Env{
		Authorizer: web.Authorizer{Auth: options.Auth, Policy: options.Policy, Index: options.Index,
			Quotas: options.Quotas},
		MaxBodyBytes: options.MaxBodyBytes, MaxLimit: options.MaxLimit,
		Prefix: options.Prefix, ProxyHeaders: options.ProxyHeaders,
		Limits: options.Limits, AccessLog: options.AccessLog, Budget: options.Budget,
		Activity: options.Activity, Logger: options.Logger, Now: options.now,
	}, options.Registerer)
	options.Archives = countedArchives{options.Archives}
	a := &api{Env: env, options: options}
	a.incoming.Most = a.Budget.MostKept()
	a.reader = &query.Reader{Archives: options.Archives, Resampler: options.Resampler}
	a.ingester = ingest.New(ingest.Options{Index: a.Index, Incoming: options.Incoming, Sacks: options.Sacks,
		Quotas: options.Quotas, KnownMetrics: options.KnownMetrics, MaxFuture: a.Limits.MaxFuture,
		Timeout: appendTimeout, Now: a.Now})
	router := chi.NewRouter()
	allowed := origins(options.CORSOrigins)
	router.Use(a.Observe, web.Compress, a.account, allowed.cors, allowed.protect(env), a.requireText, normalizePath,
		web.AllowStale)
	asked := &operators.Handlers{Env: env, Incoming: options.Incoming, Cluster: options.Cluster,
		Backups: options.Backups, NotReady: options.NotReady, Missing: options.Missing,
		LastMeasures: options.Archives.LastMeasures, OtherActivity: options.OtherActivity, Gatherer: options.Gatherer,
		Quota: options.Quota}
	if err := asked.LoadQuotas(); err != nil {
		return nil, err
	}
	browsed := &pages.Handlers{Env: env}
	asked.Metrics(router.MethodFunc)
	// at adds routes at all prefixes.
	at := func(method, path string, h http.HandlerFunc) {
		for _, prefix := range slices.Compact([]string{"", a.Prefix}) {
			router.MethodFunc(method, cmp.Or(prefix+path, "/"), h)
		}
	}
	if a.Index == nil {
		router.NotFound(options.Forward.ServeHTTP)
		router.MethodNotAllowed(options.Forward.ServeHTTP)
		asked.RoutesWithoutIndex(at)
		browsed.RoutesWithoutIndex(at)
		a.routesWithoutIndex(at)
		return &Handler{Handler: router}, nil
	}
	router.NotFound(a.Public(func(http.ResponseWriter, *http.Request) error {
		return &web.Error{Status: http.StatusNotFound}
	}))
	router.MethodNotAllowed(a.Public(func(w http.ResponseWriter, r *http.Request) error {
		if err := a.checkRouteType(router, r); err != nil {
			return err
		}
		w.Header().Set("Allow", strings.Join(allowedMethods(router, r), ", "))
		return &web.Error{Status: http.StatusMethodNotAllowed}
	}))
	labels := postings.New(a.Index, postings.Options{Bytes: options.LabelBytes, Budget: a.Budget,
		Ceilometer: options.PromQLNames == CeilometerNames, Logger: a.Logger})
	engine := evaluation.New(evaluation.Options{Archives: options.Archives, Series: labels,
		Policies: a.Index.ArchivePolicies, MaxSamples: options.QuerySamples, Logger: a.Logger, Now: a.Now,
		Upstream: options.PromQLEngine == UpstreamEngine})
	var err error
	a.series, err = series.NewWriter(series.Options{Ingester: a.ingester, NewSeries: a.Limits.NewSeries,
		Replicas: a.Limits.ReplicaLabels, Pairs: options.Pairs, Exemplars: a.Activity.Exemplars, Logger: a.Logger,
		Registerer: options.Registerer})
	if err != nil {
		return nil, err
	}
	options.Correlations.Budget = a.Budget
	rules := recording.New(env, engine, options.Archives.(countedArchives).Archives, a.series, options.Sacks)
	rooms := []room{a, asked, browsed, rules, otlp.New(env, a.series), imports.New(env, a.series),
		influxdb.New(env, a.ingester, a.series), prometheus.New(env, a.ingester, a.series),
		promql.Handlers{Env: env, Engine: engine, Series: labels, SentMetadata: a.series.Metadata,
			TypeOf: a.series.TypeOf, Delete: a.deleteSeries, ActivityOf: asked.ActivityOf, UseRules: rules.Use},
		&correlations.Handlers{Env: env, Jobs: jobs.New(a.reader, options.Correlations), Reader: a.reader,
			Engine: engine, Series: labels, TypeOf: a.series.TypeOf}}
	for _, room := range rooms {
		room.Routes(at)
	}
	return &Handler{router, a.series, rules, labels}, nil
}

// allowedMethods lists the methods that r's path can be called with, by name.
func allowedMethods(router chi.Routes, r *http.Request) []string {
	path := routePath(r)
	var methods []string
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPatch,
		http.MethodPost, http.MethodPut} {
		if router.Match(chi.NewRouteContext(), method, path) {
			methods = append(methods, method)
		}
	}
	return methods
}

// checkRouteType returns the error of a 404 if r's path, which other methods have, names a resource type that does not
// exist.
func (a *api) checkRouteType(router chi.Routes, r *http.Request) error {
	for _, method := range allowedMethods(router, r) {
		route := chi.NewRouteContext()
		if router.Match(route, method, routePath(r)) {
			if kind := web.UnescapeParam(r, route.URLParam("type")); kind != "" {
				_, err := a.Index.ResourceType(kind)
				return err
			}
		}
	}
	return nil
}

// routePath is the path by which the router matches r.
func routePath(r *http.Request) string {
	if path := chi.RouteContext(r.Context()).RoutePath; path != "" {
		return path
	}
	return r.URL.Path
}
