package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/internal/closers"
	"github.com/gnocco-db/gnocco/internal/connections"
	"github.com/gnocco-db/gnocco/storage/index"
)

// peerServer answers the other processes.
type peerServer struct {
	listener net.Listener
	limiter  *connections.Limiter // below listener: its connections are TCP's
	address  string               // by which the others reach it
	key      peer.Key
	logger   *slog.Logger
}

// listen takes the port for the other processes. Its connections use no more than its share of the descriptors, so they
// cost this process neither its heartbeat nor its clients.
func listen(o *Options, sacks int, key peer.Key, closers *closers.Stack) (*peerServer, error) {
	config, err := o.Peers.TLS.Config()
	if err != nil {
		return nil, err
	}
	listener, err := o.Machine.Listen("tcp", o.Peers.Listen)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	// If requests were answered, the HTTP server has closed it before.
	closers.Add("peer listener", func(context.Context) error { listener.Close(); return nil })
	address := o.Peers.Advertise
	if address == "" {
		tcp := listener.Addr().(*net.TCPAddr)
		if tcp.IP.IsUnspecified() {
			ip, err := onlyAddress()
			if err != nil {
				return nil, err
			}
			tcp = &net.TCPAddr{IP: ip, Port: tcp.Port}
		}
		address = tcp.String()
	}
	limiter := connections.Limit(listener, o.Peers.Connections(sacks), "gnocco_peer", "other processes", o.Registerer)
	listener = limiter
	if config != nil {
		listener = tls.NewListener(limiter, config)
	}
	return &peerServer{listener: listener, limiter: limiter, address: address, key: key, logger: o.Logger}, nil
}

// onlyAddress returns the address by which other machines reach this one, if it has just one, as a container does.
func onlyAddress() (net.IP, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	var found []net.IP
	for _, address := range all {
		if network, ok := address.(*net.IPNet); ok && network.IP.IsGlobalUnicast() {
			found = append(found, network.IP)
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("cluster: processes listen to each other on all addresses, and this machine has %v: "+
			"say by which one this process is reached (--peer-advertise)", found)
	}
	return found[0], nil
}

// isLoopback reports whether an address is reached from this machine only.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// answers returns this process as the others see it.
func (p *Process) answers(handlers *Handlers) *peer.Process {
	shared := p.index.shared
	process := &peer.Process{
		Key:   p.peers.key,
		Store: p.incoming.withID, Unreadable: p.incoming.unreadable,
		Index: func() (*index.Store, uint64, func()) {
			if local := shared.use(); local != nil {
				return local.Store, local.epoch, local.release
			}
			return nil, 0, nil
		},
		IndexDamage: func() error { return p.damaged.of(datafolder.IndexName) },
		API: func() (http.Handler, func()) {
			if release := shared.Use(); release != nil {
				return handlers.API, release
			}
			return nil, nil
		},
		Push:   handlers.Push,
		Notice: p.notice, Status: p.status, Activity: p.options.Activity,
		Budget:    p.options.Budget,
		Quotas:    p.options.Quotas,
		ShowNames: p.members.session.ShowNames,
		Pulse:     func() peer.Pulse { return peer.Pulse{Member: p.members.own(), Pulse: p.members.session.Pulse()} },
		Clock:     p.clocks.own,
		Logger:    p.logger,
	}
	local := p.archives.local
	if local != nil {
		process.Groups = local.Groups
	}
	for _, operation := range operations {
		process.Operations = append(process.Operations, operation(local))
	}
	return process
}

// notice acts on another process's notice. After one of no single store this process knows all incoming stores.
func (p *Process) notice(ctx context.Context, n *peer.Notice) error {
	ofSack := p.workers != nil && n.Sack >= 0 && n.Sack < p.cluster.Sacks
	switch {
	case n.Taken != "":
		p.holders.learn(n.Taken, n.Holder)
		if ofSack {
			p.workers.sacks.learn(n.Sack, n.Holder.Member.ID)
			p.members.wake() // the next ones can move
		}
		return nil
	case n.Given && ofSack:
		return p.workers.sacks.take(context.WithoutCancel(ctx), n.Sack)
	case n.Store != "":
		if p.workers != nil {
			p.workers.sources.known.announce(n.Store)
		}
		p.members.wake()
		return nil
	}
	if n.Leaving != "" {
		p.members.noteLeaving(n.Leaving)
	}
	p.holders.forgetAll()
	p.members.wake()
	p.members.lookSoon()
	if p.workers == nil {
		return nil
	}
	p.workers.sacks.lookAnew()
	return p.workers.sources.reconcile(ctx, false)
}

// serve starts to answer. failed is called if answering ends by itself.
func (s *peerServer) serve(handler http.Handler, closers *closers.Stack, failed func(error)) {
	ctx, cancel := context.WithCancel(context.Background())
	server := connections.NewServer(&http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnState:   s.limiter.Track,
		ErrorLog:    slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	})
	closers.Add("peers", func(stop context.Context) error {
		cancel() // requests that wait for measures end
		return server.End(stop)
	})
	go func() {
		if err := server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			failed(fmt.Errorf("cluster: peers: %w", err))
		}
	}()
}
