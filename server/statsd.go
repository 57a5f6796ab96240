package server

import (
	"context"
	"net"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/statsd"
	"github.com/gnocco-db/gnocco/storage/index"
)

// statsdListener takes statsd's messages while this process holds the index, since a message may make a metric.
type statsdListener struct {
	mu     sync.Mutex
	server *statsd.Server // nil for none
}

// start listens, if the options say so.
func (l *statsdListener) start(ctx context.Context, p *cluster.Process, o *Options, store *index.Store,
	registerer prometheus.Registerer) error {
	if o.Statsd == nil {
		return nil
	}
	options := *o.Statsd
	options.Index, options.Incoming, options.Sacks = store, p.Incoming(), p.Sacks()
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
