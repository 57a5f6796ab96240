package server

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
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
		clients := newConnections(p, limit, prometheus.NewRegistry())
		s := clients.server(handler)
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
		if err != nil {
			t.Fatal(err)
		}
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
		close(release)
		if err := <-answered; err != nil {
			t.Errorf("once there is room: %v", err)
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
