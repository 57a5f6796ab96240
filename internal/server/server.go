package server

import (
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

	"gnocco/internal/peer"
	"gnocco/metricd"
)

// Server is a running process of a cluster, which may have no other. Close ends it.
type Server struct {
	logger   *slog.Logger
	listener net.Listener // nil for none
	http     *http.Server
	statsd   statsdListener
	failed   chan error
	closers  []closer // in the order of opening
	onHurry  func()   // makes what waits for room on the disk fail; nil until there is any
}

// closer ends one part, until ctx ends where that may take long.
type closer struct {
	name  string
	close func(ctx context.Context) error
}

// Start opens the data folder, takes what this process should hold, and serves. The context is for the start only.
func Start(ctx context.Context, options Options) (_ *Server, err error) {
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return nil, err
	}
	s := &Server{logger: options.Logger, failed: make(chan error, 3)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeParts(context.WithoutCancel(ctx)))
		}
	}()

	newBallast(options.Data, options.MinFreeBytes, options.Logger).dropToStart()
	folder, err := ShareFolder(options.Data)
	if err != nil {
		return nil, err
	}
	s.onClose("folder", folder.Release)
	cluster, err := folder.ensureCluster(options.Sacks, options.coordinationKind())
	if err != nil {
		return nil, err
	}
	key, err := peer.LoadKey(folder.Path)
	if err != nil {
		return nil, err
	}
	// Ports are taken before the stores are opened, which may take long: if one is in use, that is told at once.
	if options.Listen != "" {
		if s.listener, err = net.Listen("tcp", options.Listen); err != nil {
			return nil, fmt.Errorf("server: %w", err)
		}
		s.onClose("listener", func() error { s.listener.Close(); return nil }) // closed by http before, if that was started
	}
	peers, address, err := s.listenPeers(&options)
	if err != nil {
		return nil, err
	}
	if err := options.probe(ctx, folder, address); err != nil {
		return nil, err
	}
	n, err := s.join(ctx, folder, cluster, &options, address, key)
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	handler, err := s.open(ctx, n, registry)
	if err != nil {
		return nil, err
	}
	s.servePeers(n, peers, key)
	if err := s.hold(ctx, n); err != nil {
		return nil, err
	}
	if s.listener != nil {
		s.serve(handler)
		options.warnOfBelief(s.listener.Addr())
	}
	options.Logger.Info("serving", "url", s.URL(), "data", folder.Path, "sacks", cluster.Sacks, "build", options.Build,
		"member", n.session.Member().ID, "peers", address)
	return s, ctx.Err()
}

// open opens what this process needs of its own, and returns what answers the public's requests.
func (s *Server) open(ctx context.Context, n *node, registry *prometheus.Registry) (http.Handler, error) {
	s.openCaches(n, registry)
	n.index = &sharedIndex{remote: peer.NewIndex(n.client,
		func(ctx context.Context) (string, error) { return n.holders.address(ctx, indexName) }, n.memory.lookups)}
	s.parts("index", n.closeIndex)
	s.parts("incoming", n.closeIncomings)
	if n.options.Resampler != nil {
		n.resampler = n.options.Resampler(registry)
	}
	if n.options.Role.metricd() {
		var err error
		n.metricd, err = metricd.New(metricd.Options{
			Resampler: n.resampler,
			Sacks:     n.cluster.Sacks, Workers: n.options.Workers, Index: n.index, FS: n.claims.fs,
			CheckpointInterval: n.options.CheckpointInterval, CheckpointBytes: n.memory.heads,
			Cache: n.cache, FileCache: n.files, Logger: n.options.Logger, Registerer: registry, Collector: n.collector, Fail: n.fail,
		})
		if err != nil {
			return nil, err
		}
		s.parts("workers", n.metricd.Close)
	}
	disk := &stale{root: n.folder.Path, cache: n.cache, files: n.files, snapshots: make(map[int]*snapshot)}
	s.onClose("snapshots", disk.close)
	n.archives = &archives{local: n.metricd, lease: n.session, holders: n.holders, stale: disk, client: n.client, sacks: n.cluster.Sacks, reach: n.reachSources}
	n.api = func() http.Handler { return nil }
	if !n.options.Role.api() {
		return newFigures(registry, n.options.Pprof), nil
	}
	if err := n.openOwnIncoming(ctx); err != nil {
		return nil, err
	}
	return newPublic(ctx, n, &s.statsd, registry)
}

// hold takes what this process should hold, tells the others, and keeps at it until Close.
func (s *Server) hold(ctx context.Context, n *node) error {
	if n.metricd != nil {
		s.onClose("sources", n.closeSources)
		s.parts("sacks", n.closeSacks)
	}
	s.parts("statsd", s.statsd.close)
	if err := n.pass(ctx); errors.Is(err, peer.ErrUnreachable) {
		// A process that hangs must not keep others from starting: it answers later, or it is dead before long.
		n.logger.Warn("not all is held that should be; trying again", "error", err)
	} else if err != nil {
		return err
	}
	n.warnOfLoopback(ctx)
	n.wakeOthers(ctx, everyone)
	background, stop := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	s.parts("membership's work", func(ctx context.Context) error {
		stop()
		loops.Wait()
		n.announceLeave(ctx)
		return nil
	})
	loops.Go(func() { n.keep(background) })
	loops.Go(func() { n.ballast.keep(background) })
	loops.Go(func() { n.index.remote.Run(background) })
	loops.Go(func() {
		select {
		case <-background.Done():
		case <-n.session.Done():
			s.failed <- fmt.Errorf("server: %w: %w", ErrFenced, n.session.Err())
		}
	})
	return nil
}

// serve starts to answer requests.
func (s *Server) serve(handler http.Handler) {
	s.http = &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug), // what clients did wrong
	}
	s.parts("http", func(ctx context.Context) error {
		err := s.http.Shutdown(ctx)
		if err != nil { // requests that take too long are cut off: the stores below them are about to close
			err = errors.Join(err, s.http.Close())
		}
		return err
	})
	go func() {
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("server: %w", err)
		}
	}()
}

func (s *Server) parts(name string, close func(context.Context) error) {
	s.closers = append(s.closers, closer{name, close})
}

func (s *Server) onClose(name string, close func() error) {
	s.parts(name, func(context.Context) error { return close() })
}

// URL returns where the server is reached, as http://127.0.0.1:8041; "" if it is not.
func (s *Server) URL() string {
	if s.listener == nil {
		return ""
	}
	address := s.listener.Addr().(*net.TCPAddr)
	host := address.IP.String()
	if address.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(address.Port))
}

// StatsdAddr returns where statsd's messages are taken, nil if they are not.
func (s *Server) StatsdAddr() net.Addr { return s.statsd.address() }

// Failed gives why the server has stopped to serve, if it has by itself. Close is due then as well, but after an ErrFenced:
// then the process should end, having no right to write anything down.
func (s *Server) Failed() <-chan error { return s.failed }

// Close stops to accept requests, waits for those being answered, brings what was accepted into the archives and closes the
// stores. When ctx ends first, requests are cut off, and what is not in the archives is processed at the next start.
func (s *Server) Close(ctx context.Context) error {
	err := s.closeParts(ctx)
	if err == nil {
		s.logger.Info("stopped")
	}
	return err
}

func (s *Server) closeParts(ctx context.Context) error {
	if s.onHurry != nil {
		defer context.AfterFunc(ctx, s.onHurry)()
	}
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		if err := s.closers[i].close(ctx); err != nil {
			errs = append(errs, fmt.Errorf("close %s: %w", s.closers[i].name, err))
		}
	}
	s.closers = nil
	return errors.Join(errs...)
}
