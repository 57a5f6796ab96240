package statsd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/model"
	"gnocco/storage/incoming"
)

// Server is a running listener. Close ends it.
type Server struct {
	options   Options
	resource  uuid.UUID
	telemetry *telemetry
	conn      *net.UDPConn
	stop      context.CancelFunc
	done      sync.WaitGroup

	// mu guards gathered, which the receiver fills and each flush takes away.
	mu       sync.Mutex
	gathered *gathered

	// These belong to the flushing goroutine, and to Close after it.
	metrics   map[string]uuid.UUID // by name
	measures  model.Measures
	partition incoming.Partition
}

const (
	maxDatagramBytes   = 64 << 10
	receiveBufferBytes = 4 << 20 // the kernel may give less
)

// Start creates the resource, if it is not there, and begins to listen. The context is for the start only. The stores stay
// the caller's: close them after the server.
func Start(ctx context.Context, options Options) (*Server, error) {
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return nil, err
	}
	resource, err := model.ResourceID(options.Resource, options.Creator)
	if err != nil {
		return nil, fmt.Errorf("statsd: %w", err)
	}
	s := &Server{options: options, resource: resource, gathered: newGathered(options.MaxMetrics)}
	if err := s.ensureResource(ctx); err != nil {
		return nil, fmt.Errorf("statsd: create resource %s: %w", options.Resource, err)
	}
	if err := s.loadMetrics(ctx); err != nil {
		return nil, fmt.Errorf("statsd: read metrics: %w", err)
	}
	address, err := net.ResolveUDPAddr("udp", options.Listen)
	if err != nil {
		return nil, fmt.Errorf("statsd: %w", err)
	}
	if s.conn, err = net.ListenUDP("udp", address); err != nil {
		return nil, fmt.Errorf("statsd: %w", err)
	}
	if err := s.conn.SetReadBuffer(receiveBufferBytes); err != nil {
		options.Logger.Warn("statsd: receive buffer stays small", "error", err)
	}
	if s.telemetry, err = newTelemetry(options.Registerer); err != nil {
		return nil, errors.Join(fmt.Errorf("statsd: register metrics: %w", err), s.conn.Close())
	}
	running, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.done.Go(s.receive)
	s.done.Go(func() { s.flushEvery(running) })
	return s, nil
}

// Addr returns where the server listens.
func (s *Server) Addr() net.Addr { return s.conn.LocalAddr() }

// Close stops listening and flushes what has come in.
func (s *Server) Close(ctx context.Context) error {
	s.stop()
	err := s.conn.Close()
	s.done.Wait()
	s.telemetry.unregister()
	return errors.Join(err, s.flush(ctx))
}

// receive gathers what comes in until the connection is closed.
func (s *Server) receive() {
	buffer := make([]byte, maxDatagramBytes)
	for {
		n, _, err := s.conn.ReadFromUDPAddrPort(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // the fault of one datagram
			s.telemetry.refuse(reasonForm, 1)
			continue
		}
		at := carbonara.FromTime(s.options.Now())
		s.mu.Lock()
		accepted := s.gathered.datagram(buffer[:n], at, func(reason string) { s.telemetry.refuse(reason, 1) })
		s.mu.Unlock()
		s.telemetry.messages.Add(float64(accepted))
	}
}

func (s *Server) flushEvery(ctx context.Context) {
	ticker := time.NewTicker(s.options.FlushInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		// A flush that has begun is brought to its end: what it took away is nowhere else.
		if err := s.flush(context.WithoutCancel(ctx)); err != nil {
			s.options.Logger.Error("statsd: flush failed", "error", err)
		}
	}
}
