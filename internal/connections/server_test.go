package connections_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/internal/connections"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A server that ends finishes requests, and does not wait for connections without one.
func TestEnd(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	begun, released := make(chan struct{}), make(chan struct{})
	s := connections.NewServer(&http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-released
		_, _ = io.WriteString(w, "whole")
	})})
	go func() { _ = s.Serve(listener) }()
	unused, err := net.Dial("tcp", listener.Addr().String())
	fatal.If(t, err)
	defer unused.Close()
	answered := make(chan string)
	go func() {
		text := ""
		if answer, err := http.Get("http://" + listener.Addr().String()); err == nil {
			defer answer.Body.Close()
			all, _ := io.ReadAll(answer.Body)
			text = string(all)
		}
		answered <- text
	}()
	<-begun
	ended, ending := make(chan error), time.Now()
	go func() { ended <- s.End(t.Context()) }()
	if _, err := unused.Read(make([]byte, 1)); err == nil {
		t.Error("the server sent something")
	}
	if took := time.Since(ending); took > 4*time.Second { // http.Server alone waits 5 s
		t.Errorf("an unused connection was closed after %v", took)
	}
	select {
	case err := <-ended:
		t.Fatalf("ended before a request did: %v", err)
	case <-time.After(10 * time.Millisecond):
	}
	close(released)
	if text := <-answered; text != "whole" {
		t.Errorf("answered %q", text)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A server whose time to end is over cuts off requests, and the function that it had learns of each connection.
func TestEndCutsOff(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	begun, released, closed := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s := connections.NewServer(&http.Server{
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			close(begun)
			<-released
		}),
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				close(closed)
			}
		},
	})
	go func() { _ = s.Serve(listener) }()
	answered := make(chan error)
	go func() {
		answer, err := http.Get("http://" + listener.Addr().String())
		if err == nil {
			answer.Body.Close()
		}
		answered <- err
	}()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.End(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	if err := <-answered; err == nil {
		t.Error("the request was answered")
	}
	close(released)
	<-closed
}
