package server

import (
	"net/http"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/storage/index"
)

// public is the REST API of this process. While the process does not hold the index, public passes on the requests that
// need it.
type public struct {
	options      api.Options // without the index
	index        *cluster.SharedIndex
	withoutIndex http.Handler
	whole        atomic.Pointer[http.Handler] // as of the last index that this process held
}

func (p *public) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if release := p.index.Use(); release != nil {
		defer release()
		p.serveWhole(w, r)
		return
	}
	p.withoutIndex.ServeHTTP(w, r)
}

// serveWhole answers while this process holds the index.
func (p *public) serveWhole(w http.ResponseWriter, r *http.Request) {
	(*p.whole.Load()).ServeHTTP(w, r)
}

// newPublic returns the API of a process, which becomes whole once the process takes the index.
func newPublic(p *cluster.Process, o *Options, memory memoryShares, registry *prometheus.Registry,
	notReady func() []string) (*public, error) {
	authenticator, rules, err := o.auth(p.Secret("sessions"))
	if err != nil {
		return nil, err
	}
	options := api.Options{
		Metrics: p.Index(), Incoming: p.Incoming(), Archives: p.Archives(), Sacks: p.Sacks(), Cluster: p.Status,
		Backups:  (&datafolder.Folder{Path: o.Cluster.Data}).Backups,
		NotReady: notReady, Missing: p.Missing,
		Resampler: p.Resampler(), Elsewhere: p.Forward(web.Refuse),
		KnownMetrics: memory.knownMetrics, LabelBytes: memory.labels, QuerySamples: memory.samples,
		Activity: o.Cluster.Activity, OtherActivity: p.OtherActivity,
		Quotas: o.Cluster.Quotas, Budget: o.Cluster.Budget, Settings: o.API, Auth: authenticator, Policy: rules,
		Logger: o.Logger, Registerer: registry, Gatherer: registry,
	}
	if o.Correlator != nil {
		options.Correlations.Engine = o.Correlator(registry)
	}
	withoutIndex, err := api.New(options)
	if err != nil {
		return nil, err
	}
	return &public{options: options, index: p.Index(), withoutIndex: withoutIndex}, nil
}

// useIndex makes the API whole, after a call of ready.
func (p *public) useIndex(store *index.Store, ready func() error) error {
	options := p.options
	options.Index = store
	handler, err := api.New(options)
	if err != nil {
		return err
	}
	if err := ready(); err != nil {
		return err
	}
	p.whole.Store(&handler)
	return nil
}

// newFigures returns the pages of a process without an API.
func newFigures(registry *prometheus.Registry, notReady, missing func() []string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /live", api.ServeLive)
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		api.ServeReady(w, notReady(), missing())
	})
	mux.HandleFunc("GET /healthcheck", func(w http.ResponseWriter, r *http.Request) {
		api.ServeHealth(w, r, notReady())
	})
	return mux
}
