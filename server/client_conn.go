package server

import (
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sys/unix"

	"github.com/gnocco-db/gnocco/internal/connections"
)

const (
	// writeTimeout is how long a client may take to read a chunk of its answer.
	writeTimeout = 20 * time.Second
	writeChunk   = 64 << 10
	// unsentBytes is what the kernel keeps for a client that does not read. Without a bound it is megabytes.
	unsentBytes = 256 << 10
)

// limitClients bounds the connections of clients.
func limitClients(listener net.Listener, limit int, registerer prometheus.Registerer) *connections.Limiter {
	return connections.Limit(clientListener{listener}, limit, "gnocco_http", "clients", registerer)
}

// newClientServer returns the server of clients' connections, which cuts off clients that take too long.
func newClientServer(clients *connections.Limiter, handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           limitBodyTime(handler),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ConnState:         clients.Track,
	}
}

// clientListener is a listener for clients, who have to read what they asked for.
type clientListener struct{ net.Listener }

func (l clientListener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	limitUnsent(accepted)
	return &clientConn{Conn: accepted}, nil
}

// limitUnsent bounds the kernel's buffer of bytes that the client has not asked for yet. It ignores failures.
func limitUnsent(conn net.Conn) {
	if raw, ok := conn.(syscall.Conn); ok {
		if control, err := raw.SyscallConn(); err == nil {
			_ = control.Control(func(fd uintptr) {
				_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsentBytes)
			})
		}
	}
}

// clientConn is a connection of a client. A write fails unless the client reads each chunk in time.
type clientConn struct {
	net.Conn
	mu    sync.Mutex
	moved time.Time // when the deadline of writes was moved
}

func (c *clientConn) Write(b []byte) (written int, err error) {
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
func (c *clientConn) extend() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.moved) < writeTimeout/8 {
		return nil
	}
	c.moved = time.Now()
	return c.Conn.SetWriteDeadline(c.moved.Add(writeTimeout))
}

func (c *clientConn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moved = time.Time{}
	return c.Conn.SetDeadline(t)
}

func (c *clientConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moved = time.Time{}
	return c.Conn.SetWriteDeadline(t)
}
