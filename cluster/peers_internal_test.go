package cluster

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/internal/closers"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testcert"
)

// Connections to the peer port that say nothing make room for others, with TLS as well. A request in hand keeps its
// connection.
func TestPeerConnectionsAreBounded(t *testing.T) {
	const limit, strangers = 3, 30
	cert, key := testcert.SelfSigned(t)
	for _, files := range []peer.TLSFiles{{}, {Certificate: cert, Key: key, Authority: cert}} {
		registry := prometheus.NewRegistry()
		o := Options{Data: t.TempDir(), Registerer: registry,
			Peers: Peers{TLS: files, Connections: func(int) int { return limit }}}
		o.EnsureDefaults()
		var ends closers.Stack
		server, err := listen(&o, 16, "key", &ends)
		fatal.If(t, err)
		began, release := make(chan struct{}), make(chan struct{})
		server.serve(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/wait" {
				close(began)
				<-release
			}
		}), &ends, func(err error) { t.Error(err) })
		config, err := files.Config()
		fatal.If(t, err)
		transport := &http.Transport{TLSClientConfig: config}
		url := "http://" + server.address
		if config != nil {
			url = "https://" + server.address
		}
		get := func(path string) error {
			answer, err := (&http.Client{Transport: transport}).Get(url + path)
			if err == nil {
				err = answer.Body.Close()
			}
			return err
		}
		waited := make(chan error, 1)
		go func() { waited <- get("/wait") }()
		<-began
		var silent []net.Conn
		for range strangers {
			conn, err := net.Dial("tcp", server.address)
			fatal.If(t, err)
			defer conn.Close()
			silent = append(silent, conn)
		}
		if err := get("/"); err != nil {
			t.Fatalf("behind %d connections that say nothing: %v", strangers, err)
		}
		close(release)
		if err := <-waited; err != nil {
			t.Errorf("a request in hand: %v", err)
		}
		if _, err := silent[0].Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the first of them: %v", err)
		}
		found, err := registry.Gather()
		if err != nil || len(found) != 2 {
			t.Fatal(found, err)
		}
		if open := found[0].GetMetric()[0].GetGauge().GetValue(); open > limit || open == 0 {
			t.Errorf("%s is %v, and the limit %d", found[0].GetName(), open, limit)
		}
		transport.CloseIdleConnections()
		if err := ends.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
