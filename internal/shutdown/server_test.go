package shutdown_test

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/internal/shutdown"
)

// A server that ends finishes requests, and does not wait for connections without one.
func TestEnd(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	begun, released := make(chan struct{}), make(chan struct{})
	s := shutdown.New(&http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-released
		_, _ = io.WriteString(w, "whole")
	})})
	go func() { _ = s.Serve(listener) }()
	unused, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
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
	ended := make(chan error)
	go func() { ended <- s.End(t.Context()) }()
	if _, err := unused.Read(make([]byte, 1)); err == nil {
		t.Error("the server sent something")
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
