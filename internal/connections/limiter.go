package connections

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Limiter is a listener of an http.Server, whose ConnState has to be Track. Above the limit the connection that has
// been idle for longest is closed; while none is idle, a new one waits.
type Limiter struct {
	net.Listener
	closed  prometheus.Counter // to make room
	began   time.Time
	waiting atomic.Bool   // Accept waits for room, or is about to
	room    chan struct{} // capacity 1: a connection has ended or is idle

	mu    sync.Mutex
	limit int
	open  map[*connection]struct{}
}

// Limit bounds the connections of a listener. The help of its metrics names the other ends by who, such as "clients",
// and their names begin with prefix.
func Limit(listener net.Listener, limit int, prefix, who string, registerer prometheus.Registerer) *Limiter {
	l := &Limiter{
		Listener: listener, limit: limit, began: time.Now(),
		room: make(chan struct{}, 1), open: make(map[*connection]struct{}),
	}
	l.closed = prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + "_connections_closed_total",
		Help: "Idle connections of " + who + " closed to make room for others."})
	registerer.MustRegister(l.closed, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: prefix + "_connections",
		Help: "Open connections of " + who + "."}, func() float64 {
		l.mu.Lock()
		defer l.mu.Unlock()
		return float64(len(l.open))
	}))
	return l
}

func (l *Limiter) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	conn := &connection{Conn: accepted, of: l}
	conn.idle.Store(l.now()) // it has sent nothing yet
	for !l.add(conn) {
		l.waiting.Store(true) // before looking: a connection that becomes idle later signals
		if !l.closeIdle() {
			<-l.room
		}
		l.waiting.Store(false)
	}
	return conn, nil
}

// add reports whether there was room for one more connection.
func (l *Limiter) add(conn *connection) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.limit {
		return false
	}
	l.open[conn] = struct{}{}
	return true
}

// SetLimit changes the limit.
func (l *Limiter) SetLimit(limit int) {
	l.mu.Lock()
	l.limit = limit
	l.mu.Unlock()
	l.signal()
}

// closeIdle closes the connection that has been idle for longest, and reports whether one is.
func (l *Limiter) closeIdle() bool {
	l.mu.Lock()
	var longest *connection
	var since int64
	for conn := range l.open {
		if idle := conn.idle.Load(); idle != 0 && (longest == nil || idle < since) {
			longest, since = conn, idle
		}
	}
	l.mu.Unlock()
	if longest == nil {
		return false
	}
	if longest.idle.CompareAndSwap(since, 0) { // else a request has come meanwhile
		longest.Close()
		l.closed.Inc()
	}
	return true
}

// now is the time since l was made, never 0.
func (l *Limiter) now() int64 { return int64(time.Since(l.began)) + 1 }

// Track is an http.Server's ConnState. It takes no lock, as each request passes here twice.
func (l *Limiter) Track(conn net.Conn, state http.ConnState) {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	client, ok := conn.(*connection)
	switch {
	case !ok || state == http.StateNew: // idle since Accept
	case state == http.StateIdle:
		client.idle.Store(l.now())
		if l.waiting.Load() {
			l.signal()
		}
	default:
		client.idle.Store(0)
	}
}

func (l *Limiter) signal() {
	select {
	case l.room <- struct{}{}:
	default:
	}
}

// connection is one that counts.
type connection struct {
	net.Conn
	of   *Limiter
	idle atomic.Int64 // since when, as of Limiter.now; also if it has sent nothing yet; 0: in use
}

func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	c.of.signal()
	return c.Conn.Close()
}
