package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// network connects hosts. It delivers the bytes of a connection in order, as TCP does: a lost packet is late.
type network struct {
	mu        sync.Mutex
	rand      *rand.Rand
	listeners map[string]*listener // by address
	down      map[string]bool      // hosts without power
	cut       map[[2]string]bool   // from, to
	conns     map[*conn]bool
	port      int
	lossOneIn int // 0: no packet is lost
	delay     time.Duration
	trace     func(what string, args ...any) // nil: none
}

const (
	dialTimeout = 2 * time.Second
	// keepAlive is after how long TCP notices that the other machine is gone.
	keepAlive = 100 * time.Second
)

func newNetwork(seed uint64) *network {
	return &network{rand: rand.New(rand.NewPCG(seed, 1)), listeners: make(map[string]*listener),
		down: make(map[string]bool), cut: make(map[[2]string]bool), conns: make(map[*conn]bool), port: 40000,
		delay: 200 * time.Microsecond}
}

// trip returns how long a packet takes. mu is held.
func (n *network) trip() time.Duration {
	d := n.delay/2 + time.Duration(n.rand.Int64N(int64(n.delay)))
	for n.lossOneIn > 0 && n.rand.IntN(n.lossOneIn) == 0 {
		d += 200 * time.Millisecond // until it is sent again
	}
	return d
}

// listen takes a port of a host for a process.
func (n *network) listen(p *process, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if port == "0" {
		n.port = max(40000, (n.port+1)%65536)
		address = net.JoinHostPort(host, fmt.Sprint(n.port))
	}
	if n.listeners[address] != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Err: syscall.EADDRINUSE}
	}
	l := &listener{network: n, address: address, host: host, process: p, accepted: make(chan *conn, 1024),
		closed: make(chan struct{})}
	n.listeners[address] = l
	return l, nil
}

// dial connects a process of a host, nil for a client's.
func (n *network) dial(ctx context.Context, p *process, host, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	target, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (net.Conn, error) { return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for wait := 1 * time.Second; ; wait *= 2 {
		n.mu.Lock()
		lost := n.down[target] || n.down[host] || n.cut[[2]string{host, target}] || n.cut[[2]string{target, host}]
		l, trip := n.listeners[address], 2*n.trip()
		n.mu.Unlock()
		if lost {
			trip = wait // for the next SYN
		}
		select {
		case <-time.After(trip):
		case <-ctx.Done():
			return fail(os.ErrDeadlineExceeded)
		}
		if lost {
			continue
		}
		if l == nil {
			return fail(syscall.ECONNREFUSED)
		}
		a, b := n.pair(p, host, l)
		select {
		case l.accepted <- b:
			return a, nil
		case <-l.closed:
			a.reset(syscall.ECONNRESET)
			return fail(syscall.ECONNREFUSED)
		case <-ctx.Done():
			return fail(os.ErrDeadlineExceeded)
		}
	}
}

func (n *network) pair(p *process, host string, l *listener) (a, b *conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.port = max(40000, (n.port+1)%65536)
	from, to := address(net.JoinHostPort(host, fmt.Sprint(n.port))), address(l.address)
	there, back := newStream(host, l.host), newStream(l.host, host)
	a = &conn{network: n, process: p, in: back, out: there, local: from, remote: to}
	b = &conn{network: n, process: l.process, in: there, out: back, local: to, remote: from}
	a.other, b.other = b, a
	n.conns[a], n.conns[b] = true, true
	return a, b
}

// address is one of TCP.
func address(text string) *net.TCPAddr {
	a, err := net.ResolveTCPAddr("tcp", text)
	if err != nil {
		panic(err)
	}
	return a
}

// unlisten frees a process's ports.
func (n *network) unlisten(p *process) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for key, l := range n.listeners {
		if l.process == p {
			delete(n.listeners, key)
			close(l.closed)
		}
	}
}

// kill ends a process's connections: its kernel tells the others.
func (n *network) kill(p *process) {
	n.mu.Lock()
	ended := n.of(func(c *conn) bool { return c.process == p })
	n.mu.Unlock()
	for _, c := range ended {
		c.in.fail(net.ErrClosed)
		c.sendEnd(syscall.ECONNRESET)
	}
}

// of returns connections in the order of their addresses. mu is held.
func (n *network) of(want func(*conn) bool) []*conn {
	var found []*conn
	for c := range n.conns {
		if want(c) {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b *conn) int { return a.order() - b.order() })
	return found
}

// setPower turns a host off, so that connections to it are half-open, or on.
func (n *network) setPower(host string, on bool) {
	n.mu.Lock()
	n.down[host] = !on
	open := n.of(func(c *conn) bool { return c.in.from == host || c.in.to == host })
	n.mu.Unlock()
	for _, c := range open {
		if on {
			c.reset(syscall.ECONNRESET)
			continue
		}
		time.AfterFunc(keepAlive, func() { c.reset(syscall.ETIMEDOUT) }) // half-open until then
	}
}

// setCut cuts the way from one host to another, or opens it.
func (n *network) setCut(from, to string, cut bool) {
	n.mu.Lock()
	if cut {
		n.cut[[2]string{from, to}] = true
	} else {
		delete(n.cut, [2]string{from, to})
	}
	open := n.of(func(c *conn) bool { return c.out.from == from && c.out.to == to })
	trips := make([]time.Duration, len(open))
	for i := range open {
		trips[i] = n.trip() + time.Duration(n.rand.Int64N(int64(time.Second)))
	}
	n.mu.Unlock()
	for i, c := range open {
		if !cut {
			c.out.release(time.Now().Add(trips[i]))
		}
	}
}

// holds reports whether packets on a stream are lost. mu is held.
func (n *network) holds(s *stream) bool {
	return n.down[s.from] || n.down[s.to] || n.cut[[2]string{s.from, s.to}]
}

type listener struct {
	network  *network
	address  string
	host     string
	process  *process
	accepted chan *conn
	closed   chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.network.mu.Lock()
	defer l.network.mu.Unlock()
	if l.network.listeners[l.address] != l {
		return net.ErrClosed
	}
	delete(l.network.listeners, l.address)
	close(l.closed)
	return nil
}

func (l *listener) Addr() net.Addr { return address(l.address) }

// conn is one end of a connection.
type conn struct {
	network       *network
	process       *process // nil: a client's
	in, out       *stream
	other         *conn
	local, remote *net.TCPAddr
}

func (c *conn) order() int { return c.local.Port<<16 + c.remote.Port }

func (c *conn) Read(b []byte) (int, error) {
	if c.process != nil {
		c.process.step()
	}
	n, err := c.in.read(b)
	if err != nil && err.Error() != "EOF" {
		err = &net.OpError{Op: "read", Net: "tcp", Err: err}
	}
	return n, err
}

func (c *conn) Write(b []byte) (int, error) {
	if c.process != nil {
		c.process.step()
	}
	c.network.mu.Lock()
	trip, held := c.network.trip(), c.network.holds(c.out)
	c.network.mu.Unlock()
	if c.network.trace != nil {
		c.network.trace("packet", "from", c.local, "to", c.remote, "trip", trip, "bytes", string(b[:min(len(b), 300)]))
	}
	n, err := c.out.write(b, time.Now().Add(trip), held)
	if err != nil {
		err = &net.OpError{Op: "write", Net: "tcp", Err: err}
	}
	return n, err
}

// sendEnd makes the other end read err, or the end of the stream, after all that was sent.
func (c *conn) sendEnd(err error) {
	c.network.mu.Lock()
	delete(c.network.conns, c)
	trip, held := c.network.trip(), c.network.holds(c.out)
	c.network.mu.Unlock()
	c.out.end(err, time.Now().Add(trip), held)
}

// reset breaks both directions at once.
func (c *conn) reset(err error) {
	c.network.mu.Lock()
	delete(c.network.conns, c)
	delete(c.network.conns, c.other)
	c.network.mu.Unlock()
	c.in.fail(err)
	c.out.fail(err)
}

func (c *conn) Close() error {
	c.in.fail(net.ErrClosed)
	c.sendEnd(nil)
	return nil
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.remote }

func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(t)
	return nil
}

// SetWriteDeadline does nothing: a write does not wait.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }
