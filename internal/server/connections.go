package server

import (
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sys/unix"
)

const (
	// writeTimeout is how long a client may take to read a chunk of its answer.
	writeTimeout = 20 * time.Second
	writeChunk   = 64 << 10
	// unsentBytes is what the kernel keeps for a client that does not read. Without a bound it is megabytes.
	unsentBytes = 256 << 10
)

// connections are those of the public's clients. Above the limit the one that has been idle for longest is closed; while
// none is idle, a new one waits.
type connections struct {
	net.Listener
	limit  int
	closed prometheus.Counter // to make room

	mu   sync.Mutex
	open int
	idle map[net.Conn]time.Time // since when; also those that have sent nothing yet
	room chan struct{}          // capacity 1: one has ended
}

func newConnections(listener net.Listener, limit int, registerer prometheus.Registerer) *connections {
	c := &connections{Listener: listener, limit: limit, idle: make(map[net.Conn]time.Time), room: make(chan struct{}, 1)}
	c.closed = prometheus.NewCounter(prometheus.CounterOpts{Name: "gnocco_http_connections_closed_total",
		Help: "Idle connections closed to make room for others."})
	registerer.MustRegister(c.closed, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "gnocco_http_connections",
		Help: "Open connections of clients."}, func() float64 {
		c.mu.Lock()
		defer c.mu.Unlock()
		return float64(c.open)
	}))
	return c
}

// server returns the server of these connections, which cuts off clients that take too long.
func (c *connections) server(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           limitBodyTime(handler),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ConnState:         c.track,
	}
}

// Accept implements net.Listener.
func (c *connections) Accept() (net.Conn, error) {
	accepted, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	for {
		c.mu.Lock()
		if c.open < c.limit {
			c.open++
			c.mu.Unlock()
			limitUnsent(accepted)
			return &connection{Conn: accepted, of: c}, nil
		}
		longest := c.longestIdle()
		delete(c.idle, longest)
		c.mu.Unlock()
		if longest == nil {
			<-c.room
			continue
		}
		longest.Close()
		c.closed.Inc()
	}
}

// longestIdle returns the connection that has been idle for longest, nil if none is. mu is held.
func (c *connections) longestIdle() (longest net.Conn) {
	for conn, since := range c.idle {
		if longest == nil || since.Before(c.idle[longest]) {
			longest = conn
		}
	}
	return longest
}

// track is http.Server.ConnState.
func (c *connections) track(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew, http.StateIdle:
		c.idle[conn] = time.Now()
	default:
		delete(c.idle, conn)
	}
	if len(c.idle) > 0 && c.open >= c.limit {
		c.signal() // Accept may close it
	}
}

func (c *connections) signal() {
	select {
	case c.room <- struct{}{}:
	default:
	}
}

// limitUnsent bounds what the kernel keeps that the client has not asked for yet. What cannot be set stays as it is.
func limitUnsent(conn net.Conn) {
	if raw, ok := conn.(syscall.Conn); ok {
		if control, err := raw.SyscallConn(); err == nil {
			_ = control.Control(func(fd uintptr) {
				_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsentBytes)
			})
		}
	}
}

// connection is one of a client. A write fails unless the client reads each chunk in time.
type connection struct {
	net.Conn
	of    *connections
	once  sync.Once
	mu    sync.Mutex
	renew time.Time // when the deadline of writes is due to be moved
}

// Write implements net.Conn.
func (c *connection) Write(b []byte) (written int, err error) {
	for {
		chunk := b[written:min(len(b), written+writeChunk)]
		if err := c.extend(); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(chunk)
		if written += n; err != nil || written == len(b) {
			return written, err
		}
	}
}

// extend moves the deadline of writes, if it was not moved just now.
func (c *connection) extend() error {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Before(c.renew) {
		return nil
	}
	c.renew = now.Add(writeTimeout / 8)
	return c.Conn.SetWriteDeadline(now.Add(writeTimeout))
}

// SetDeadline implements net.Conn.
func (c *connection) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.renew = time.Time{}
	return c.Conn.SetDeadline(t)
}

// SetWriteDeadline implements net.Conn.
func (c *connection) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.renew = time.Time{}
	return c.Conn.SetWriteDeadline(t)
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.once.Do(func() {
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		c.of.open--
		c.of.signal()
	})
	return c.Conn.Close()
}
