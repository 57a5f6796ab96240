package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"gnocco/api"
	"gnocco/statsd"
)

// Server is a running server. Close ends it.
type Server struct {
	logger   *slog.Logger
	listener net.Listener
	http     *http.Server
	statsd   *statsd.Server // nil for none
	failed   chan error
	closers  []closer // in the order of opening
}

// closer ends one part, until ctx ends where that may take long.
type closer struct {
	name  string
	close func(ctx context.Context) error
}

// Start opens the data folder and serves. The context is for the start only.
func Start(ctx context.Context, options Options) (_ *Server, err error) {
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return nil, err
	}
	s := &Server{logger: options.Logger, failed: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeParts(context.WithoutCancel(ctx)))
		}
	}()

	folder, err := HoldFolder(options.Data, true)
	if err != nil {
		return nil, err
	}
	s.onClose("folder", folder.Release)
	cluster, err := folder.ensureCluster(options.Sacks)
	if err != nil {
		return nil, err
	}
	// The port is taken before the stores are opened, which may take long: if it is in use, that is told at once.
	if s.listener, err = net.Listen("tcp", options.Listen); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s.onClose("listener", func() error { s.listener.Close(); return nil }) // closed by http before, if that was started

	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	stores, err := s.openStores(folder, cluster, &options, registry)
	if err != nil {
		return nil, err
	}
	authenticator, rules, err := options.auth()
	if err != nil {
		return nil, err
	}
	handler, err := api.New(api.Options{
		Index:        stores.index,
		Incoming:     stores.incoming,
		Archives:     stores.metricd,
		Sizes:        stores.metricd,
		Correlations: options.Correlations,
		Sacks:        cluster.Sacks,
		MaxBodyBytes: options.MaxBodyBytes,
		MaxLimit:     options.MaxLimit,
		Prefix:       options.Prefix,
		ProxyHeaders: options.ProxyHeaders,
		CORSOrigins:  options.CORSOrigins,
		Pprof:        options.Pprof,
		Auth:         authenticator,
		Policy:       rules,

		PrometheusLabels: options.PrometheusLabels,
		KnownMetrics:     stores.knownMetrics,

		Build:      options.Build,
		Logger:     options.Logger,
		Registerer: registry,
		Gatherer:   registry,
	})
	if err != nil {
		return nil, err
	}
	if err := s.startStatsd(ctx, stores, cluster, &options, registry); err != nil {
		return nil, err
	}
	s.serve(handler)
	options.Logger.Info("serving", "url", s.URL(), "data", folder.Path, "sacks", cluster.Sacks, "build", options.Build)
	options.warnOfBelief(s.listener.Addr())
	return s, ctx.Err()
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

// URL returns where the server is reached, as http://127.0.0.1:8041.
func (s *Server) URL() string {
	address := s.listener.Addr().(*net.TCPAddr)
	host := address.IP.String()
	if address.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, fmt.Sprint(address.Port))
}

// StatsdAddr returns where statsd's messages are taken, nil if they are not.
func (s *Server) StatsdAddr() net.Addr {
	if s.statsd == nil {
		return nil
	}
	return s.statsd.Addr()
}

// Failed gives why the server has stopped to serve, if it has by itself. Close is due then as well.
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
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		if err := s.closers[i].close(ctx); err != nil {
			errs = append(errs, fmt.Errorf("close %s: %w", s.closers[i].name, err))
		}
	}
	s.closers = nil
	return errors.Join(errs...)
}
