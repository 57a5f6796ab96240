package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/closers"
	"github.com/gnocco-db/gnocco/internal/connections"
	"github.com/gnocco-db/gnocco/internal/quota"
	"github.com/gnocco-db/gnocco/internal/version"
	"github.com/gnocco-db/gnocco/listener"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/activity"
	"github.com/gnocco-db/gnocco/storage/index"
)

// Server is a running process of a cluster, which may have no other. Close ends it.
type Server struct {
	logger   *slog.Logger
	listener net.Listener         // nil for none
	clients  *connections.Limiter // of listener
	tls      *certificates        // nil: no TLS
	http     *connections.Server
	front    *front
	statsd   statsdListener
	labelled statsdListener // of messages that become series with labels

	listeners []*listener.Server

	failed  chan error
	closers closers.Stack

	drainDelay  time.Duration
	onHandOver  func(context.Context) error // gives other processes what this one holds; nil until there is any
	takeAll     func(context.Context) error // takes all sacks and incoming stores
	failWaiting func()                      // makes writes that wait for room on the disk fail; nil until there are any
}

// Start opens the data folder, takes this process's share of the stores, and serves. The context is for the start only.
func Start(ctx context.Context, options Options) (_ *Server, err error) {
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return nil, err
	}
	s := &Server{logger: options.Logger, failed: make(chan error, 4), front: newFront(options.API.Prefix),
		drainDelay: options.DrainDelay}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeParts(context.WithoutCancel(ctx)))
		}
	}()

	registry := prometheus.NewRegistry()
	goFigures := collectors.NewGoCollector(collectors.WithGoCollectorMemStatsMetricsDisabled())
	registry.MustRegister(newBuildInfo(), goFigures,
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registry.MustRegister(newReady(s.front.reasons))
	if options.TLS.Certificate != "" {
		if s.tls, err = newCertificates(options.TLS, options.Logger); err != nil {
			return nil, err
		}
	}
	expiries := newExpiries(&options, s.tls)
	expiries.register(registry)
	// Ports are taken before the stores are opened, which may take long: so a port in use is an error at once, and
	// those who ask whether the process is ready have an answer.
	if options.Listen != "" {
		if s.listener, err = options.Cluster.Machine.Listen("tcp", options.Listen); err != nil {
			return nil, fmt.Errorf("server: %w", err)
		}
		// Until the stores are open, clients learn only that the process is not ready.
		s.clients = limitClients(s.listener, min(options.MaxConnections, minConnections), registry)
		s.serve(s.clients)
	}
	if options.ProfileListen != "" {
		if err := s.serveProfiles(options.ProfileListen); err != nil {
			return nil, err
		}
	}
	files := openFiles()
	options.Cluster.OpenTables = tablesOf(files)
	options.Cluster.Peers.Connections = func(sacks int) int {
		clients, _ := connectionsOf(files, sacks, len(options.Listeners))
		return clients
	}
	memory := divideMemory(options.MemoryBytes)
	options.Cluster.Memory, options.Cluster.Budget = memory.stores, budget.New(memory.requests, registry)
	if options.Cluster.Role.HasAPI() {
		options.Cluster.Quotas = new(quota.Book)
		options.Cluster.Quotas.Set(options.API.Quota, nil)
	}
	devices := newDevices(registry, &options)
	limit := options.MemoryBytes
	options.pairs = new(series.Pairs)
	options.Cluster.Figures = func() model.MemberFigures {
		return model.MemberFigures{
			Version: version.Number, Memory: residentBytes(), MemoryLimit: limit, Device: deviceOf(devices),
			Certificates: expiries.read(), Pair: options.pairs.Found(),
		}
	}
	options.Cluster.Activity = activity.New(int(memory.exemplars))
	options.Cluster.Logger, options.Cluster.Registerer = options.Logger, registry
	process, err := cluster.Open(ctx, options.Cluster)
	if err != nil {
		return nil, err
	}
	most, perListener := connectionsOf(files, process.Sacks(), len(options.Listeners))
	if s.clients != nil {
		limitByFiles(s.clients, options.MaxConnections, most, files, options.Logger)
	}
	for i := range options.Listeners {
		options.Listeners[i].MaxConnections = min(cmp.Or(options.Listeners[i].MaxConnections, perListener), perListener)
	}
	s.failWaiting = process.FailWaitingWrites
	s.closers.Add("cluster", process.Close)
	s.closers.Add("statsd", s.statsd.close)
	handler, handlers, err := s.handlers(ctx, process, &options, memory, registry)
	if err != nil {
		return nil, err
	}
	handlers.Failed = func(err error) { s.failed <- fmt.Errorf("server: %w", err) }
	if err := process.Run(ctx, handlers); err != nil {
		return nil, err
	}
	s.onHandOver, s.takeAll = process.HandOver, process.TakeAll
	if public, ok := handler.(*public); ok {
		if err := s.listen(public.store, &options, registry); err != nil {
			return nil, err
		}
	}
	if s.listener != nil {
		s.front.start(process.Fence(handler), process.NotReady)
		s.closers.Add("http", s.http.End)
		options.warnOfExposure(s.listener.Addr())
	}
	member := process.Member()
	options.Logger.Info("serving", "url", s.URL(), "data", process.Folder(), "sacks", process.Sacks(),
		"version", version.Number, "member", member.ID, "peers", member.Address)
	return s, ctx.Err()
}

// handlers returns the handler of the public's requests, and the functions that the cluster calls.
func (s *Server) handlers(ctx context.Context, process *cluster.Process, o *Options, memory memoryShares,
	registry *prometheus.Registry) (http.Handler, cluster.Handlers, error) {
	if !o.Cluster.Role.HasAPI() {
		return newFigures(registry, s.front.reasons, process.Missing), cluster.Handlers{}, nil
	}
	public, err := newPublic(process, o, memory, registry, s.front.reasons)
	if err != nil {
		return nil, cluster.Handlers{}, err
	}
	s.closers.Add("rules", public.endRules)
	giveIndex := func(ctx context.Context) error { return errors.Join(s.statsd.close(ctx), public.endRules(ctx)) }
	takeIndex := func(store *index.Store) error {
		return public.useIndex(store, func() error { return s.statsd.start(ctx, process, o, store, registry) })
	}
	return public, cluster.Handlers{
		TakeIndex: takeIndex, GiveIndex: giveIndex, API: http.HandlerFunc(public.serveWhole), Push: public.push,
	}, nil
}

// serve starts to answer requests.
func (s *Server) serve(clients *connections.Limiter) {
	s.http = connections.NewServer(newClientServer(clients, s.front))
	s.http.ErrorLog = slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug) // faults of clients
	if s.tls != nil {
		s.tls.secure(s.http.Server)
	}
	s.closers.Add("listener", func(context.Context) error { return s.http.Close() })
	go func() {
		if err := serveOn(s.http.Server, clients); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("server: %w", err)
		}
	}()
}

// URL returns the address of the server, as http://127.0.0.1:8041, or https; "" if it does not listen.
func (s *Server) URL() string {
	if s.listener == nil {
		return ""
	}
	address := s.listener.Addr().(*net.TCPAddr)
	scheme, host := "http", address.IP.String()
	if s.tls != nil {
		scheme = "https"
	}
	if address.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, fmt.Sprint(address.Port))
}

// StatsdAddr returns the address of the listener for statsd, nil for none.
func (s *Server) StatsdAddr() net.Addr {
	if address := s.labelled.address(); address != nil {
		return address
	}
	return s.statsd.address()
}

// Failed gives the error of a server that has stopped by itself. Close is due then as well, except after an ErrFenced
// or a datafolder.ErrRefused: then the process should end, since it has no right to write anything down.
func (s *Server) Failed() <-chan error { return s.failed }

// drainWait is how long Drain waits for the stores of processes that were killed before.
const drainWait = time.Minute

// Drain brings all accepted measures of a data folder into its archives: it starts a server and stops it.
func Drain(ctx context.Context, options Options) error {
	options.Listen = "127.0.0.1:0"
	s, err := Start(ctx, options)
	if err != nil {
		return err
	}
	alone, cancel := context.WithTimeout(ctx, drainWait)
	defer cancel()
	return errors.Join(s.takeAll(alone), s.Close(ctx))
}

// Close tells balancers that the process ends, and gives other processes what they can take of its stores, while it
// goes on to answer. Then it accepts no more requests, waits for those in flight, brings all accepted measures into the
// archives and closes the stores. When ctx ends first, requests are cut off, and the rest of the measures is processed
// at the next start.
func (s *Server) Close(ctx context.Context) error {
	var noticed sync.WaitGroup
	noticed.Go(func() { s.front.drain(ctx, s.drainDelay) })
	var err error
	if s.onHandOver != nil {
		err = s.onHandOver(ctx)
	}
	noticed.Wait()
	err = errors.Join(err, s.closeParts(ctx))
	if err == nil {
		s.logger.Info("stopped")
	}
	return err
}

func (s *Server) closeParts(ctx context.Context) error {
	if s.failWaiting != nil {
		defer context.AfterFunc(ctx, s.failWaiting)()
	}
	return s.closers.Close(ctx)
}
