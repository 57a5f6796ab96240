package server

import (
	"context"
	"net"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"gnocco/statsd"
)

// statsdListener takes statsd's messages while this process holds the index: it makes metrics as they come.
type statsdListener struct {
	mu     sync.Mutex
	server *statsd.Server // nil for none
}

// start listens, if that is wanted.
func (l *statsdListener) start(ctx context.Context, n *node, index *localIndex, registerer prometheus.Registerer) error {
	if n.options.Statsd == nil {
		return nil
	}
	o := *n.options.Statsd
	o.Index, o.Incoming, o.Sacks = index.Store, n.incoming, n.cluster.Sacks
	o.Logger, o.Registerer = n.options.Logger, registerer
	server, err := statsd.Start(ctx, o)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.server = server
	n.options.Logger.Info("listening for statsd", "address", server.Addr().String())
	return nil
}

// address returns where messages are taken, nil if they are not.
func (l *statsdListener) address() net.Addr {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.server == nil {
		return nil
	}
	return l.server.Addr()
}

func (l *statsdListener) close(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.server == nil {
		return nil
	}
	return l.server.Close(ctx)
}
