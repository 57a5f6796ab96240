package server_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/statsd"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// figures returns the server's metrics as Prometheus reads them.
func figures(t *testing.T, s *server.Server) string {
	t.Helper()
	answer, err := http.Get(s.URL() + "/metrics")
	fatal.If(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	fatal.If(t, err)
	return string(text)
}

// Measures from statsd's clients are stored when the server stops, and are there after the next start.
func TestServerTakesStatsd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := start(t, server.Options{Cluster: cluster.Options{Data: dir, Sacks: 2},
		Statsd: &statsd.Options{Listen: "127.0.0.1:0", Creator: "admin", FlushInterval: time.Hour}})
	conn, err := net.Dial("udp", s.StatsdAddr().String())
	fatal.If(t, err)
	defer conn.Close()
	if _, err := conn.Write([]byte("requests:3|c\nrequests:4|c")); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(2 * time.Minute); !strings.Contains(figures(t, s),
		"gnocco_statsd_messages_total 2"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the messages do not arrive")
		}
	}
	stop(t, s)

	s = start(t, server.Options{Cluster: cluster.Options{Data: dir}})
	defer stop(t, s)
	c, err := client.New(s.URL(), client.Options{User: "admin"})
	fatal.If(t, err)
	var rows [][3]any
	const path = "/v1/resource/generic/statsd/metric/requests%7Cc/measures?refresh=true"
	if err := c.Do(t.Context(), http.MethodGet, path, nil, &rows); err != nil || len(rows) != 1 || rows[0][2] != 7.0 {
		t.Errorf("rows %v, %v", rows, err)
	}
}

// Each process of a cluster makes series with labels of statsd's messages; one of them holds the index.
func TestStatsdLabelsOfACluster(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	options := func(role cluster.Role) server.Options {
		return server.Options{Cluster: cluster.Options{Data: data, Role: role, Sacks: 2},
			Statsd: &statsd.Options{Listen: "127.0.0.1:0", Labels: true, Creator: "admin", FlushInterval: time.Second}}
	}
	first, second := start(t, options(cluster.RoleBoth)), start(t, options(cluster.RoleAPI))
	for i, s := range []*server.Server{first, second} {
		messages := fmt.Sprintf("hits:3|c|#node:n%d,path:/a\nhits:4|c|#path:/a,node:n%d\ntemp:21.5|g|#node:n%d\n"+
			"took:320|ms|#node:n%d\nusers:ann:bob:ann|s|#node:n%d", i, i, i, i, i)
		defer sendTo(t, "udp", s.StatsdAddr(), messages).Close()
	}
	for i, s := range []*server.Server{second, first} { // each shows the measures of the other one
		node := fmt.Sprintf("n%d", i)
		queries(t, s, `sum_over_time(hits{node="`+node+`"}[5m])`, "map[node:"+node+" path:/a]7")
		for name, value := range map[string]string{"temp": "21.5", "took": "320", "users": "2"} {
			queries(t, s, name+`{node="`+node+`"}`, "map[__name__:"+name+" node:"+node+"]"+value)
		}
	}
	// The last flush is durable before the process ends.
	sendTo(t, "udp", second.StatsdAddr(), "late:1|g").Close()
	const taken = "gnocco_statsd_messages_total 6"
	for deadline := time.Now().Add(2 * time.Minute); !strings.Contains(figures(t, second), taken); {
		if time.Now().After(deadline) {
			t.Fatal("the message does not arrive")
		}
		time.Sleep(time.Millisecond)
	}
	stop(t, second)
	queries(t, first, "late", "map[__name__:late]1")
	stop(t, first)
}
