package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof" // adds its handlers to http.DefaultServeMux, which nothing else serves

	"github.com/prometheus/client_golang/prometheus"
)

// serveProfiles serves profiles of the process, on an address of their own: they show the command line, and ask for no
// credentials.
func (s *Server) serveProfiles(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("server: profiles: %w", err)
	}
	if tcp, ok := listener.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		s.logger.Warn("profiles show the command line to other machines: give --pprof a loopback address",
			"address", listener.Addr().String())
	}
	few := limitClients(listener, minConnections, prometheus.NewRegistry())
	server := newClientServer(few, http.DefaultServeMux)
	s.closers.Add("profiles", func(context.Context) error { return server.Close() })
	go func() {
		if err := server.Serve(few); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("server: profiles: %w", err)
		}
	}()
	s.logger.Info("serving profiles", "url", "http://"+listener.Addr().String()+"/debug/pprof/")
	return nil
}
