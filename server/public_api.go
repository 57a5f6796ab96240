package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/operators"
	"github.com/gnocco-db/gnocco/api/policy"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/backup"
	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
)

// public is the REST API of this process. While the process does not hold the index, public passes on the requests that
// need it.
type public struct {
	options      api.Options // without the index
	index        *cluster.SharedIndex
	withoutIndex http.Handler
	whole        atomic.Pointer[api.Handler] // as of the last index that this process held
	stopRules    func()                      // ends the evaluation of recording rules
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
func (p *public) serveWhole(w http.ResponseWriter, r *http.Request) { p.whole.Load().ServeHTTP(w, r) }

// store is a series.Store of the whole cluster.
func (p *public) store(ctx context.Context, creator, protocol string, batch *series.Batch) error {
	release := p.index.Use()
	if release == nil {
		return p.index.Push(ctx, creator, protocol, batch.Encode())
	}
	defer release()
	account := p.options.Budget.Context(ctx)
	defer account.Close()
	return p.whole.Load().Series.Store(account, creator, protocol, batch)
}

// push is a series.Store for another process's batch, while this process holds the index.
func (p *public) push(ctx context.Context, creator, protocol string, encoded []byte) error {
	batch := new(series.Batch)
	err := batch.Decode(encoded)
	if err == nil {
		err = p.whole.Load().Series.Store(ctx, creator, protocol, batch)
	}
	if err != nil && !series.Temporary(err) {
		return fmt.Errorf("%w: %w", model.ErrInvalid, err)
	}
	return err
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
		Backups: func() ([]model.Backup, error) {
			return backup.Records(&datafolder.Folder{Path: o.Cluster.Data})
		},
		NotReady: notReady, Missing: p.Missing,
		Resampler: p.Resampler(), Forward: p.Forward(web.Refuse),
		KnownMetrics: memory.knownMetrics, LabelBytes: memory.labels, QuerySamples: memory.samples,
		Activity: o.Cluster.Activity, OtherActivity: p.OtherActivity, Pairs: o.pairs,
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
	return &public{options: options, index: p.Index(), withoutIndex: withoutIndex, stopRules: func() {}}, nil
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
	p.whole.Store(handler)
	p.stopRules = pause.Go(func(ctx context.Context) {
		defer pause.Go(func(ctx context.Context) { keepLabels(ctx, handler.Labels.Follow, store) })()
		handler.Rules.Manager.Run(ctx)
	})
	return nil
}

// keepLabels reads the labels of series at once, and those of new ones after a second, once the store has pushed ones,
// which PromQL is asked for. Labels that do not fit into memory are tried again after a minute.
func keepLabels(ctx context.Context, follow func(context.Context, bool) error, store *index.Store) {
	var refused time.Time
	look := func(now time.Time) {
		_, err := store.ArchivePolicy(model.SeriesArchivePolicy().Name)
		if now.Sub(refused) >= time.Minute && follow(ctx, err == nil) != nil {
			refused = now
		}
	}
	look(time.Now())
	for now := range pause.Ticks(ctx, time.Second) {
		look(now)
	}
}

// endRules ends the evaluation of recording rules.
func (p *public) endRules(context.Context) error {
	p.stopRules()
	return nil
}

// newFigures returns the pages of a process without an API.
func newFigures(registry *prometheus.Registry, notReady, missing func() []string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	for _, prometheus := range []string{"", "/-"} {
		mux.HandleFunc("GET "+prometheus+"/ready", func(w http.ResponseWriter, _ *http.Request) {
			operators.ServeReady(w, notReady(), missing())
		})
	}
	mux.HandleFunc("GET /live", operators.ServeLive)
	mux.HandleFunc("GET /-/healthy", operators.ServeLive)
	mux.HandleFunc("GET /healthcheck", func(w http.ResponseWriter, r *http.Request) {
		operators.ServeHealth(w, r, notReady())
	})
	return mux
}

// auth returns the authenticator of users, whose sessions are sealed with a secret, and the rules of their rights.
func (o *Options) auth(secret []byte) (auth.Authenticator, *policy.Rules, error) {
	o.Auth.ProxyHeaders = o.API.ProxyHeaders
	authenticator, err := o.Auth.New(o.Logger)
	if err != nil {
		return nil, nil, err
	}
	if authenticator, err = auth.NewSessions(authenticator, secret, time.Now); err != nil {
		return nil, nil, err
	}
	if o.PolicyFile == "" {
		return authenticator, policy.Default(), nil
	}
	text, err := os.ReadFile(o.PolicyFile)
	if err != nil {
		return nil, nil, fmt.Errorf("server: policy file: %w", err)
	}
	rules, err := policy.Parse(text)
	if err != nil {
		return nil, nil, fmt.Errorf("server: policy file %s: %w", o.PolicyFile, err)
	}
	return authenticator, rules, nil
}

// warnOfExposure warns, if requests come from other machines, of secrets sent in clear and of a mode that believes the
// user name in a request.
func (o *Options) warnOfExposure(address net.Addr) {
	tcp, ok := address.(*net.TCPAddr)
	if !ok || tcp.IP.IsLoopback() {
		return
	}
	if o.TLS.Certificate == "" {
		o.Logger.Warn("without TLS whoever listens in on the network reads passwords, tokens and measures: "+
			"use --tls-cert and --tls-key, or listen on a loopback address behind a proxy that speaks TLS",
			"address", address.String())
	}
	switch mode := o.Auth.Mode; {
	case mode == "" || mode == "basic":
		o.Logger.Warn("mode basic checks no passwords: whoever reaches this address can be anyone, admin included; "+
			"use mode htpasswd, or a proxy that checks", "address", address.String())
	case mode == "remoteuser", mode == "keystone" && o.Auth.KeystoneURL == "":
		o.Logger.Warn("headers name the user of a request: let none but the proxy that sets them reach this address",
			"mode", mode, "address", address.String())
	}
}
