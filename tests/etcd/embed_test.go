package etcd_test

import (
	"net/url"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"

	"github.com/gnocco-db/gnocco/internal/etcdaccess"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/claim/etcd"
	"github.com/gnocco-db/gnocco/tests/claimtest"
)

// startEmbedded starts an etcd in this process, and returns its address.
func startEmbedded(t *testing.T) string {
	t.Helper()
	config := embed.NewConfig()
	config.Dir = t.TempDir()
	config.LogLevel = "fatal" // ends of listeners are errors to it
	anywhere := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config.ListenClientUrls, config.ListenPeerUrls = anywhere, anywhere
	server, err := embed.StartEtcd(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	select {
	case <-server.Server.ReadyNotify():
	case <-time.After(time.Minute):
		t.Fatal("etcd is not ready after a minute")
	}
	return server.Clients[0].Addr().String()
}

func TestEmbedded(t *testing.T) {
	address, root := startEmbedded(t), t.TempDir()
	claimtest.Run(t, root, func() claim.Coordinator {
		c, err := etcd.New(root, etcd.Options{
			Settings: etcdaccess.Settings{Endpoints: []string{address}}, Timeout: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		return c
	})
}
