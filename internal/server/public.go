package server

import (
	"context"
	"fmt"
	"net/http"
	"net/http/pprof"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"gnocco/api"
)

// public is the REST API of this process: the whole of it while it holds the index, else what can be done without, passing
// the rest on.
type public struct {
	apart http.Handler
	whole atomic.Pointer[http.Handler] // nil while another process holds the index
}

// ServeHTTP implements http.Handler.
func (p *public) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if whole := p.whole.Load(); whole != nil {
		(*whole).ServeHTTP(w, r)
		return
	}
	p.apart.ServeHTTP(w, r)
}

// handler returns the whole API, nil while another process holds the index.
func (p *public) handler() http.Handler {
	if whole := p.whole.Load(); whole != nil {
		return *whole
	}
	return nil
}

// newPublic returns the API of a process, which becomes whole once the process takes the index.
func newPublic(ctx context.Context, n *node, listener *statsdListener, registry *prometheus.Registry) (*public, error) {
	authenticator, rules, err := n.options.auth()
	if err != nil {
		return nil, err
	}
	o := &n.options
	options := api.Options{
		Metrics: n.index, Incoming: n.incoming, Archives: n.archives, Sacks: n.cluster.Sacks, Cluster: n.clusterStatus,
		Sizes: n.archives, Correlations: o.Correlations, Resampler: n.resampler,
		Elsewhere: n.client.Forward(func(ctx context.Context) (string, error) { return n.holders.await(ctx, indexName) },
			func(w http.ResponseWriter, r *http.Request, err error) {
				n.holders.forget(indexName)
				n.logger.Debug("request not passed on", "path", r.URL.Path, "error", err)
				api.Refuse(w, r, err)
			}),

		MaxBodyBytes: o.MaxBodyBytes, MaxLimit: o.MaxLimit, Prefix: o.Prefix, ProxyHeaders: o.ProxyHeaders, CORSOrigins: o.CORSOrigins,
		Pprof: o.Pprof, Auth: authenticator, Policy: rules, PrometheusLabels: o.PrometheusLabels, KnownMetrics: n.memory.known,
		Build: o.Build, Logger: o.Logger, Registerer: registry, Gatherer: registry,
	}
	if o.Correlator != nil {
		options.Correlations.Engine = o.Correlator(registry)
	}
	p := new(public)
	if p.apart, err = api.New(options); err != nil {
		return nil, err
	}
	n.api = p.handler
	n.took = func(local *localIndex) error {
		whole := options
		whole.Index = local.Store
		handler, err := api.New(whole)
		if err != nil {
			return err
		}
		if err := listener.start(ctx, n, local, registry); err != nil {
			return err
		}
		p.whole.Store(&handler)
		return nil
	}
	return p, nil
}

// newFigures returns what a process without an API shows.
func newFigures(registry *prometheus.Registry, profiles bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthcheck", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	if profiles {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	}
	return mux
}
