package statsd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/pause"
)

// Server is a running listener. Close ends it.
type Server struct {
	options     Options
	ingester    *ingest.Ingester
	instruments *instruments
	conn        net.PacketConn
	stop        context.CancelFunc
	done        sync.WaitGroup

	// mu guards gathered, which the receiver fills and each flush empties.
	mu       sync.Mutex
	gathered *gathered

	// rows and what follows belong to the flushing goroutine, and to Close after it.
	rows  rows
	batch ingest.NamedBatch

	series series.Batch // with Options.Store
}

const (
	maxDatagramBytes   = 64 << 10
	receiveBufferBytes = 4 << 20 // the kernel may give less
)

// Start creates the resource, if it is not there, and begins to listen. The context is for the start only. The stores
// stay the caller's: close them after the server.
func Start(ctx context.Context, options Options) (*Server, error) {
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return nil, err
	}
	s := &Server{options: options, gathered: newGathered(options.MaxMetrics, options.MaxValues, options.Store != nil)}
	err := s.useIndex(ctx)
	if err != nil {
		return nil, err
	}
	if s.conn, err = Listen(options.Listen, options.Logger); err != nil {
		return nil, fmt.Errorf("statsd: %w", err)
	}
	if s.instruments, err = newInstruments(options.Registerer); err != nil {
		return nil, errors.Join(fmt.Errorf("statsd: register metrics: %w", err), s.conn.Close())
	}
	running, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.done.Go(s.receive)
	s.done.Go(func() { s.flushEvery(running) })
	return s, nil
}

// useIndex creates the resource in the index, unless Store takes series.
func (s *Server) useIndex(ctx context.Context) error {
	o := &s.options
	if o.Store != nil {
		return nil
	}
	s.ingester = ingest.New(ingest.Options{Index: o.Index, Incoming: o.Incoming, Sacks: o.Sacks,
		Quotas: o.Quotas, KnownMetrics: 2 * o.MaxMetrics, Now: o.Now})
	if err := s.ingester.EnsureResource(ctx, o.Resource, o.Creator); err != nil {
		return fmt.Errorf("statsd: create resource %s: %w", o.Resource, err)
	}
	return nil
}

// Addr returns where the server listens.
func (s *Server) Addr() net.Addr { return s.conn.LocalAddr() }

// Close stops listening and flushes what has come in.
func (s *Server) Close(ctx context.Context) error {
	s.stop()
	err := s.conn.Close()
	s.done.Wait()
	s.instruments.unregister()
	return errors.Join(err, s.flush(ctx))
}

// receive gathers what comes in until the connection is closed.
func (s *Server) receive() {
	buffer := make([]byte, maxDatagramBytes+1)
	for {
		n, _, err := s.conn.ReadFrom(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // the fault of one datagram
			s.instruments.refuse(reasonForm, 1)
			continue
		}
		at := carbonara.FromTime(s.options.Now())
		s.mu.Lock()
		accepted := s.gathered.datagram(buffer[:n], at, func(reason string) { s.instruments.refuse(reason, 1) })
		s.mu.Unlock()
		s.instruments.messages.Add(float64(accepted))
	}
}

func (s *Server) flushEvery(ctx context.Context) {
	for range pause.Ticks(ctx, s.options.FlushInterval) {
		// A flush that has begun is completed: only it has its values.
		if err := s.flush(context.WithoutCancel(ctx)); err != nil {
			s.options.Logger.Error("statsd: flush failed", "error", err)
		}
	}
}
