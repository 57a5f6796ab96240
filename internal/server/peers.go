package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/internal/peer"
	"gnocco/metricd"
	"gnocco/model"
	"gnocco/storage/archive"
	"gnocco/storage/index"
)

// peerTLS returns the configuration by which processes know each other, nil for none.
func (o *Options) peerTLS() (*tls.Config, error) {
	if o.PeerCert == "" {
		return nil, nil
	}
	certificate, err := tls.LoadX509KeyPair(o.PeerCert, o.PeerCertKey)
	if err != nil {
		return nil, fmt.Errorf("server: certificate for other processes: %w", err)
	}
	text, err := os.ReadFile(o.PeerCA)
	if err != nil {
		return nil, fmt.Errorf("server: authority for other processes: %w", err)
	}
	authority := x509.NewCertPool()
	if !authority.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("server: %s holds no certificate", o.PeerCA)
	}
	return &tls.Config{Certificates: []tls.Certificate{certificate}, RootCAs: authority, ClientCAs: authority,
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13}, nil
}

// listenPeers takes the port for the other processes, and returns the address that they are told.
func (s *Server) listenPeers(options *Options) (net.Listener, string, error) {
	config, err := options.peerTLS()
	if err != nil {
		return nil, "", err
	}
	listener, err := net.Listen("tcp", options.PeerListen)
	if err != nil {
		return nil, "", fmt.Errorf("server: %w", err)
	}
	s.onClose("peer listener", func() error { listener.Close(); return nil }) // closed before, if requests were answered
	address := options.PeerAdvertise
	if address == "" {
		tcp := listener.Addr().(*net.TCPAddr)
		if tcp.IP.IsUnspecified() {
			ip, err := onlyAddress()
			if err != nil {
				return nil, "", err
			}
			tcp = &net.TCPAddr{IP: ip, Port: tcp.Port}
		}
		address = tcp.String()
	}
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	return listener, address, nil
}

// onlyAddress returns the address by which other machines reach this one, if it has one only, as a container has.
func onlyAddress() (net.IP, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	var found []net.IP
	for _, address := range all {
		if network, ok := address.(*net.IPNet); ok && network.IP.IsGlobalUnicast() {
			found = append(found, network.IP)
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("server: processes listen to each other on all addresses, and this machine has %v: say by which one this "+
			"process is reached (--peer-advertise)", found)
	}
	return found[0], nil
}

// warnOfLoopback tells of processes on other machines that could not reach this one.
func (n *node) warnOfLoopback(ctx context.Context) {
	own := n.session.Member()
	if !isLoopback(own.Address) {
		return
	}
	members, err := n.session.Members(ctx)
	if err != nil {
		return // keep tells
	}
	for _, m := range members {
		if m.Process.BootID != own.Process.BootID {
			n.logger.Warn("processes on other machines cannot reach this one: say by --peer-listen where it is", "address", own.Address, "other", m.ID)
			return
		}
	}
}

// isLoopback tells whether an address is of this machine only.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// servePeers answers the other processes.
func (s *Server) servePeers(n *node, listener net.Listener, key peer.Key) {
	process := &peer.Process{
		Key:   key,
		Store: n.storeOfID,
		Index: func() (*index.Store, uint64) {
			if local := n.index.local.Load(); local != nil {
				return local.Store, local.epoch
			}
			return nil, 0
		},
		Sees: n.index.remote.Sees,
		API:  func() http.Handler { return n.api() }, Wake: n.answerWake, Status: n.status, Logger: n.logger,
	}
	if n.metricd != nil {
		process.Archives = ownArchives{n.archives}
	}
	ctx, cancel := context.WithCancel(context.Background())
	server := &http.Server{
		Handler: process.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
	s.parts("peers", func(stop context.Context) error {
		cancel() // requests that wait for measures end
		err := server.Shutdown(stop)
		if err != nil {
			err = errors.Join(err, server.Close())
		}
		return err
	})
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("server: peers: %w", err)
		}
	}()
}

// ownArchives are what others read here.
type ownArchives struct{ *archives }

// Groups implements peer.Archives.
func (o ownArchives) Groups(ctx context.Context, read model.Read, dst *carbonara.Groups) error {
	return elsewhere(o.localGroups(ctx, read, dst))
}

// RefreshSacks implements peer.Archives.
func (o ownArchives) RefreshSacks(ctx context.Context, sacks []int) error {
	return elsewhere(o.refreshLocal(ctx, sacks))
}

// Sizes implements peer.Archives.
func (o ownArchives) Sizes(ctx context.Context, metrics []uuid.UUID) ([]archive.Size, error) {
	sizes, err := o.localSizes(ctx, metrics)
	return sizes, elsewhere(err)
}

func elsewhere(err error) error {
	if errors.Is(err, metricd.ErrNotOwned) {
		return fmt.Errorf("%w: %w", peer.ErrElsewhere, err)
	}
	return err
}

// Reaggregate implements peer.Archives.
func (o ownArchives) Reaggregate(ctx context.Context, metrics []*model.Metric) (model.Reaggregated, error) {
	done, err := o.local.Reaggregate(ctx, metrics)
	return done, elsewhere(err)
}
