package server

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sys/unix"

	"github.com/gnocco-db/gnocco/internal/connections"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// pipes is a listener whose connections are pipes, which keep to synctest's clock.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial() net.Conn {
	client, server := net.Pipe()
	p <- server
	return client
}

// serving calls test in a bubble with a server of at most so many connections.
func serving(t *testing.T, limit int, handler http.HandlerFunc, test func(t *testing.T, p pipes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := make(pipes, 10)
		clients := limitClients(p, limit, prometheus.NewRegistry())
		s := newClientServer(clients, handler)
		ended := make(chan struct{})
		go func() { defer close(ended); s.Serve(clients) }()
		test(t, p)
		s.Close()
		<-ended
		time.Sleep(time.Second) // in which a server lets its last words arrive
	})
}

// A client that does not read a chunk of its answer in time is cut off; one that reads slowly is not.
func TestReadersWhoDoNotRead(t *testing.T) {
	const size = 1 << 20
	var wrote error
	var took time.Duration
	handler := func(w http.ResponseWriter, _ *http.Request) {
		began := time.Now()
		_, wrote = w.Write(make([]byte, size))
		took = time.Since(began)
	}
	serving(t, 10, handler, func(t *testing.T, p pipes) {
		client := p.dial()
		fmt.Fprint(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		time.Sleep(time.Minute)
		synctest.Wait()
		if !errors.Is(wrote, os.ErrDeadlineExceeded) || took > writeTimeout {
			t.Errorf("a write to who does not read ended after %v: %v", took, wrote)
		}
		client.Close()

		slow := p.dial()
		defer slow.Close()
		fmt.Fprint(slow, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		answer, err := http.ReadResponse(bufio.NewReaderSize(slow, 16), nil)
		fatal.If(t, err)
		got := 0
		for chunk := make([]byte, 32<<10); ; time.Sleep(5 * time.Second) {
			n, err := io.ReadFull(answer.Body, chunk)
			if got += n; err != nil {
				break
			}
		}
		if got != size || wrote != nil {
			t.Errorf("who reads slowly got %d bytes, %v", got, wrote)
		}
	})
}

// A body has to come at a rate.
func TestSlowBodies(t *testing.T) {
	var read int
	var failed error
	var took time.Duration
	handler := func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		body, err := io.ReadAll(r.Body)
		read, failed, took = len(body), err, time.Since(began)
		time.Sleep(time.Hour) // a long answer is no business of the body's deadline
		if err == nil && r.Context().Err() != nil {
			t.Error("the request was given up")
		}
	}
	send := func(t *testing.T, p pipes, size, step int, every time.Duration) {
		client := p.dial()
		defer client.Close()
		fmt.Fprintf(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size)
		read, failed, took = 0, nil, 0
		for sent := 0; sent < size; sent += step {
			if _, err := client.Write(bytes.Repeat([]byte{'x'}, min(step, size-sent))); err != nil {
				break
			}
			time.Sleep(every)
		}
		synctest.Wait()
		if failed == nil {
			time.Sleep(2 * time.Hour)
		}
		synctest.Wait()
	}
	serving(t, 10, handler, func(t *testing.T, p pipes) {
		if send(t, p, 100, 1, time.Second); !errors.Is(failed, os.ErrDeadlineExceeded) || took != bodyGrace {
			t.Errorf("a byte a second: %v after %v", failed, took)
		}
		if send(t, p, 1<<20, 32<<10, time.Second); failed != nil || read != 1<<20 {
			t.Errorf("32 KiB a second: %v after %v, %d bytes", failed, took, read)
		}
		if send(t, p, 64<<20, 32<<10, time.Second); !errors.Is(failed, os.ErrDeadlineExceeded) || took > longestBody {
			t.Errorf("a large body at 32 KiB a second: %v after %v", failed, took)
		}
	})
}

// A body that comes by halves, and that no handler reads, holds its connection for a while only. The answer arrives.
func TestHalfBodies(t *testing.T) {
	const long = time.Hour
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/large" {
			_, _ = w.Write(make([]byte, 64<<10))
		}
		if r.URL.Path == "/long" {
			time.Sleep(long)
			if r.Context().Err() != nil {
				t.Error("the request was given up")
			}
		}
	}
	serving(t, 10, handler, func(t *testing.T, p pipes) {
		for _, request := range []string{"POST /", "GET /", "POST /large", "GET /large"} {
			for _, length := range []string{"Content-Length: 1000", "Transfer-Encoding: chunked"} {
				client, began := p.dial(), time.Now()
				fmt.Fprintf(client, "%s HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n1", request, length)
				answer, err := http.ReadResponse(bufio.NewReader(client), nil)
				if err != nil || answer.StatusCode != http.StatusOK {
					t.Fatalf("%s with half a body, %s: %v", request, length, err)
				}
				_, _ = io.Copy(io.Discard, client)
				if took := time.Since(began); took > 2*bodyGrace+time.Second {
					t.Errorf("%s with half a body, %s: connection closed after %v", request, length, took)
				}
				client.Close()
			}
		}
		client := p.dial()
		defer client.Close()
		for _, request := range []string{"GET /long", "GET /large", "POST /large", "POST /long"} {
			fmt.Fprintf(client, "%s HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", request)
			answer, err := http.ReadResponse(bufio.NewReader(client), nil)
			if err != nil || answer.StatusCode != http.StatusOK {
				t.Fatalf("%s with a body: %v", request, err)
			}
			_, _ = io.Copy(io.Discard, answer.Body)
		}
	})
}

// Above the limit the connection that is idle for longest is closed; while none is idle, the new one waits.
func TestConnectionsAreBounded(t *testing.T) {
	var release chan struct{}
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			<-release
		}
	}
	get := func(conn net.Conn, path string) (*http.Response, error) {
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
		return http.ReadResponse(bufio.NewReader(conn), nil)
	}
	serving(t, 2, handler, func(t *testing.T, p pipes) {
		release = make(chan struct{})
		first, second := p.dial(), p.dial()
		for _, conn := range []net.Conn{first, second} {
			if _, err := get(conn, "/"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		third := p.dial()
		if _, err := get(third, "/"); err != nil {
			t.Fatalf("a third connection: %v", err)
		}
		if _, err := first.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the one that was idle for longest: %v", err)
		}
		for _, conn := range []net.Conn{second, third} {
			go get(conn, "/wait")
		}
		synctest.Wait()
		fourth, answered := p.dial(), make(chan error)
		go func() {
			_, err := get(fourth, "/")
			answered <- err
		}()
		time.Sleep(time.Minute)
		select {
		case err := <-answered:
			t.Errorf("more than the limit: %v", err)
		default:
		}
		began := time.Now()
		close(release)
		if err := <-answered; err != nil || time.Since(began) > 0 {
			t.Errorf("once there is room: %v after %v", err, time.Since(began))
		}
		for _, conn := range []net.Conn{first, second, third, fourth} {
			conn.Close()
		}
	})
}

// Headers have a bound.
func TestLongHeaders(t *testing.T) {
	serving(t, 2, func(http.ResponseWriter, *http.Request) {}, func(t *testing.T, p pipes) {
		conn := p.dial()
		defer conn.Close()
		go fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\nX-Long: %s\r\n\r\n", strings.Repeat("x", 100<<10))
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Fatalf("%v %v", answer, err)
		}
	})
}

// Among many idle connections the one goes that has been idle for longest: first those that never sent a request.
func TestLongestIdleConnectionGoes(t *testing.T) {
	const limit = 16
	serving(t, limit, func(http.ResponseWriter, *http.Request) {}, func(t *testing.T, p pipes) {
		var conns []net.Conn
		for i := range 2 * limit {
			conn := p.dial()
			defer conn.Close()
			conns = append(conns, conn)
			if i >= limit/2 {
				fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
				if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
					t.Fatalf("connection %d: %v", i, err)
				}
			}
			synctest.Wait()
			if gone := i - limit; gone >= 0 {
				began := time.Now()
				if _, err := conns[gone].Read(make([]byte, 1)); !errors.Is(err, io.EOF) || time.Since(began) > 0 {
					t.Fatalf("connection %d, idle for longest: %v after %v", gone, err, time.Since(began))
				}
			}
			time.Sleep(time.Millisecond)
		}
	})
}

// The kernel keeps little for a client that does not read.
func TestUnsentBytesAreBounded(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	fatal.If(t, err)
	defer client.Close()
	registry := prometheus.NewRegistry()
	clients := limitClients(listener, 1, registry)
	accepted, err := clients.Listener.Accept()
	fatal.If(t, err)
	defer accepted.Close()
	control, err := accepted.(*clientConn).Conn.(syscall.Conn).SyscallConn()
	fatal.If(t, err)
	err = control.Control(func(fd uintptr) {
		got, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT)
		if err != nil || got != unsentBytes {
			t.Errorf("the kernel keeps %d bytes, %v", got, err)
		}
	})
	fatal.If(t, err)
	for range 2 {
		if _, err := net.Dial("tcp", listener.Addr().String()); err != nil {
			t.Fatal(err)
		}
		if _, err := clients.Accept(); err != nil {
			t.Fatal(err)
		}
	}
	metrics, err := registry.Gather()
	if err != nil || len(metrics) != 2 {
		t.Fatalf("%v, %v", metrics, err)
	}
	open, closed := metrics[0].GetMetric()[0].GetGauge(), metrics[1].GetMetric()[0].GetCounter()
	if open.GetValue() != 1 || closed.GetValue() != 1 {
		t.Errorf("after two connections, one at once: %v", metrics)
	}
}

// A connection waits for room until another ends, or there may be more.
func TestRoomForConnections(t *testing.T) {
	for name, makeRoom := range map[string]func(*connections.Limiter, net.Conn){
		"another ends": func(_ *connections.Limiter, first net.Conn) { first.Close() },
		"more may be":  func(c *connections.Limiter, _ net.Conn) { c.SetLimit(2); c.SetLimit(2) },
		"another is idle, with TLS": func(c *connections.Limiter, first net.Conn) {
			c.Track(tls.Server(first, nil), http.StateIdle)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := make(pipes, 2)
				c := limitClients(p, 1, prometheus.NewRegistry())
				defer p.dial().Close()
				first, _ := c.Accept()
				c.Track(tls.Server(first, nil), http.StateNew)
				c.Track(tls.Server(first, nil), http.StateActive)
				defer p.dial().Close()
				accepted := make(chan struct{})
				go func() {
					defer close(accepted)
					_, _ = c.Accept()
				}()
				synctest.Wait()
				select {
				case <-accepted:
					t.Error("accepted above the limit")
				default:
				}
				makeRoom(c, first)
				<-accepted
			})
		})
	}
}

// A deadline that is set by the HTTP server does not end that of writes.
func TestWritesHaveDeadlines(t *testing.T) {
	for _, set := range []func(net.Conn, time.Time) error{net.Conn.SetDeadline, net.Conn.SetWriteDeadline} {
		synctest.Test(t, func(t *testing.T) {
			p := make(pipes, 1)
			client := p.dial()
			defer client.Close()
			conn, _ := limitClients(p, 1, prometheus.NewRegistry()).Accept()
			go func() { _, _ = client.Read(make([]byte, 1)) }()
			if _, err := conn.Write([]byte{0}); err != nil {
				t.Error(err)
			}
			_ = set(conn, time.Time{})
			began := time.Now()
			if _, err := conn.Write([]byte{1}); !errors.Is(err, os.ErrDeadlineExceeded) ||
				time.Since(began) > writeTimeout {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		})
	}
}

// That a client has gone is seen although its request without meaning for a body has one.
func TestClientWithBodyIsGone(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		gone := false
		handler := func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
				gone = true
			case <-time.After(time.Hour):
			}
		}
		serving(t, 1, handler, func(t *testing.T, p pipes) {
			client := p.dial()
			fmt.Fprintf(client, "%s / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", method)
			synctest.Wait()
			client.Close()
			synctest.Wait()
			if !gone {
				t.Errorf("%s goes on for a client that has gone", method)
			}
			time.Sleep(2 * time.Hour)
		})
	}
}

// A part of a body without meaning is read, so that its connection can be used again.
func TestDroppedBodiesAreBounded(t *testing.T) {
	body := &endless{}
	r := withoutBody(httptest.NewRequest(http.MethodGet, "/", body))
	if body.read < mostDropped || body.read > mostDropped+64<<10 || r.Body != http.NoBody {
		t.Errorf("%d bytes are read of a body without meaning", body.read)
	}
}

// endless is a body that ends only when far too much was read.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	if e.read > 64<<20 {
		return 0, io.EOF
	}
	e.read += len(p)
	return len(p), nil
}
