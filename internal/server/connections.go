package server

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
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

// connections are those of the public's clients. Above the limit the one that has been idle for longest is closed;
// while none is idle, a new one waits.
type connections struct {
	net.Listener
	closed  prometheus.Counter // to make room
	began   time.Time
	waiting atomic.Bool   // Accept waits for room, or is about to
	room    chan struct{} // capacity 1: a connection has ended or is idle

	mu    sync.Mutex
	limit int
	open  map[*connection]struct{}
}

func newConnections(listener net.Listener, limit int, registerer prometheus.Registerer) *connections {
	c := &connections{
		Listener: listener, limit: limit, began: time.Now(),
		room: make(chan struct{}, 1), open: make(map[*connection]struct{}),
	}
	c.closed = prometheus.NewCounter(prometheus.CounterOpts{Name: "gnocco_http_connections_closed_total",
		Help: "Idle connections closed to make room for others."})
	registerer.MustRegister(c.closed, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "gnocco_http_connections",
		Help: "Open connections of clients."}, func() float64 {
		c.mu.Lock()
		defer c.mu.Unlock()
		return float64(len(c.open))
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
	conn := &connection{Conn: accepted, of: c}
	conn.idle.Store(c.now()) // it has sent nothing yet
	limitUnsent(accepted)
	for !c.add(conn) {
		c.waiting.Store(true) // before looking: what becomes idle after that signals
		if !c.closeIdle() {
			<-c.room
		}
		c.waiting.Store(false)
	}
	return conn, nil
}

// add reports whether there was room for one more connection.
func (c *connections) add(conn *connection) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= c.limit {
		return false
	}
	c.open[conn] = struct{}{}
	return true
}

// setLimit changes the limit.
func (c *connections) setLimit(limit int) {
	c.mu.Lock()
	c.limit = limit
	c.mu.Unlock()
	c.signal()
}

// closeIdle closes the connection that has been idle for longest, and reports whether one is.
func (c *connections) closeIdle() bool {
	c.mu.Lock()
	var longest *connection
	var since int64
	for conn := range c.open {
		if idle := conn.idle.Load(); idle != 0 && (longest == nil || idle < since) {
			longest, since = conn, idle
		}
	}
	c.mu.Unlock()
	if longest == nil {
		return false
	}
	if longest.idle.CompareAndSwap(since, 0) { // else a request has come meanwhile
		longest.Close()
		c.closed.Inc()
	}
	return true
}

// now is the time since c was made, never 0.
func (c *connections) now() int64 { return int64(time.Since(c.began)) + 1 }

// track is http.Server.ConnState. It takes no lock, as each request passes here twice.
func (c *connections) track(conn net.Conn, state http.ConnState) {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	client, ok := conn.(*connection)
	switch {
	case !ok || state == http.StateNew: // idle since Accept
	case state == http.StateIdle:
		client.idle.Store(c.now())
		if c.waiting.Load() {
			c.signal()
		}
	default:
		client.idle.Store(0)
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
	idle  atomic.Int64 // since when, as of connections.now; also if it has sent nothing yet; 0: in use
	mu    sync.Mutex
	moved time.Time // when the deadline of writes was moved
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
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.moved) < writeTimeout/8 {
		return nil
	}
	c.moved = time.Now()
	return c.Conn.SetWriteDeadline(c.moved.Add(writeTimeout))
}

// SetDeadline implements net.Conn.
func (c *connection) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moved = time.Time{}
	return c.Conn.SetDeadline(t)
}

// SetWriteDeadline implements net.Conn.
func (c *connection) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moved = time.Time{}
	return c.Conn.SetWriteDeadline(t)
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	c.of.signal()
	return c.Conn.Close()
}
