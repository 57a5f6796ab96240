package server

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/statsd"
	"github.com/gnocco-db/gnocco/storage/index"
)

// A statsdListener takes statsd's messages. By Gnocchi's names it does so while this process holds the index, since a
// message may create a metric.
type statsdListener struct {
	mu     sync.Mutex
	server *statsd.Server // nil for none
}

// start listens, if the options say so.
func (l *statsdListener) start(ctx context.Context, p *cluster.Process, o *Options, store *index.Store,
	registerer prometheus.Registerer) error {
	if o.Statsd == nil || o.Statsd.Labels {
		return nil
	}
	options := *o.Statsd
	options.Index, options.Incoming, options.Sacks = store, p.Incoming(), p.Sacks()
	options.Quotas = o.Cluster.Quotas
	return l.listen(ctx, options, o, registerer)
}

// listenForStatsd listens for messages that become series with labels. It needs no index in this process.
func (s *Server) listenForStatsd(store series.Store, o *Options, registerer prometheus.Registerer) error {
	if o.Statsd == nil || !o.Statsd.Labels {
		return nil
	}
	options := *o.Statsd
	options.Store = series.Retry(store, statsdRetry, o.Logger)
	s.closers.Add("statsd", s.labelled.close)
	return s.labelled.listen(context.Background(), options, o, registerer)
}

// statsdRetry is how long a flush waits for a process that holds the index.
const statsdRetry = 10 * time.Second

func (l *statsdListener) listen(ctx context.Context, options statsd.Options, o *Options,
	registerer prometheus.Registerer) error {
	options.Logger, options.Registerer = o.Logger, registerer
	server, err := statsd.Start(ctx, options)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.server = server
	o.Logger.Info("listening for statsd", "address", server.Addr().String())
	return nil
}

// address returns the address of the listener, nil for none.
func (l *statsdListener) address() net.Addr {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.server == nil {
		return nil
	}
	return l.server.Addr()
}

// close ends listening. Messages that were taken become measures before.
func (l *statsdListener) close(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.server == nil {
		return nil
	}
	err := l.server.Close(ctx)
	l.server = nil
	return err
}
