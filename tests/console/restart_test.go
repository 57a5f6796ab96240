package console_test

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/server"
)

// A page says so when its server is gone, and goes on by itself when it is back.
func TestServerRestarts(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.71.1:0") // an address on which nobody else takes the port meanwhile
	check(t, err)
	address := listener.Addr().String()
	check(t, listener.Close())
	data := filepath.Join(t.TempDir(), "data")
	var s *server.Server
	end := func() {
		if s != nil {
			check(t, s.Close(context.WithoutCancel(t.Context())))
		}
		s = nil
	}
	t.Cleanup(end)
	begin := func() {
		s, err = server.Start(t.Context(), server.Options{Cluster: cluster.Options{Data: data, MinFreeBytes: 1 << 20,
			Lease: cluster.Lease{TTL: time.Minute}}, Listen: address})
		check(t, err)
	}
	begin()
	c, err := client.New(s.URL(), client.Options{User: "admin"})
	check(t, err)
	check(t, c.EnsureArchivePolicy(t.Context(), "console", map[string]any{"name": "console",
		"definition": []map[string]any{{"granularity": 1, "timespan": 86400},
			{"granularity": 60, "timespan": "30 days"}}}))
	send(t, c, "host", time.Now(), 60, "a")
	b := open(t, s.URL(), "")
	b.allow = "net::ERR_" // a browser says so of requests that fail
	b.wait("document.querySelectorAll('.tile canvas').length === 1")
	end()
	b.waitText("The server does not answer")
	begin()
	b.wait(
		"!document.body.innerText.includes('The server does not answer') && document.querySelectorAll('.tile canvas').length === 1")
}
