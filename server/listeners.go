package server

import (
	"net"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/listener"
)

// listen starts the listeners of the options, whose batches go to a store.
func (s *Server) listen(store series.Store, o *Options, registerer prometheus.Registerer) error {
	if err := s.listenForStatsd(store, o, registerer); err != nil {
		return err
	}
	for _, options := range o.Listeners {
		options.Logger, options.Registerer, options.Store = o.Logger, registerer, store
		l, err := listener.Start(options)
		if err != nil {
			return err
		}
		s.listeners = append(s.listeners, l)
		s.closers.Add(options.Protocol, l.Close)
	}
	return nil
}

// ListenerAddr returns the address of the listener of a protocol, nil for none.
func (s *Server) ListenerAddr(protocol string) net.Addr {
	for _, l := range s.listeners {
		if l.Protocol() == protocol {
			return l.Addr()
		}
	}
	return nil
}
