package server

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"gnocco/statsd"
)

// startStatsd listens for statsd's clients, if that is wanted.
func (s *Server) startStatsd(ctx context.Context, stores *stores, cluster Cluster, options *Options, registerer prometheus.Registerer) error {
	if options.Statsd == nil {
		return nil
	}
	o := *options.Statsd
	o.Index, o.Incoming, o.Sacks = stores.index, stores.incoming, cluster.Sacks
	o.Logger, o.Registerer = options.Logger, registerer
	listener, err := statsd.Start(ctx, o)
	if err != nil {
		return err
	}
	s.statsd = listener
	s.parts("statsd", listener.Close)
	options.Logger.Info("listening for statsd", "address", listener.Addr().String())
	return nil
}
