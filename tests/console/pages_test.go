package console_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/server"
)

// start returns a server for a browser, whose archives have seconds, for an hour, and minutes, and a client of it.
func start(t *testing.T, change func(*server.Options)) (*server.Server, *client.Client) {
	t.Helper()
	chromium(t)
	options := server.Options{Cluster: cluster.Options{Data: filepath.Join(t.TempDir(), "data"), MinFreeBytes: 1 << 20,
		Lease: cluster.Lease{TTL: time.Minute}}, // or else 10 s in which the machine stands still end the test program
		Listen: "127.0.0.1:0"}
	if change != nil {
		change(&options)
	}
	s, err := server.Start(t.Context(), options)
	check(t, err)
	t.Cleanup(func() { check(t, s.Close(context.WithoutCancel(t.Context()))) })
	credentials := client.Options{User: "admin", Password: "secret"}
	if options.Auth.KeystoneURL != "" {
		credentials = client.Options{Token: "good"}
	}
	c, err := client.New(s.URL(), credentials)
	check(t, err)
	check(t, c.EnsureArchivePolicy(t.Context(), "console", map[string]any{"name": "console", "back_window": 100,
		"definition": []map[string]any{{"granularity": 1, "timespan": 86400},
			{"granularity": 60, "timespan": "30 days"}},
		"aggregation_methods": []string{"mean", "min", "max", "count", "last", "95pct"}}))
	return s, c
}

// send creates a resource with metrics and sends n measures to each, a second apart, the last of them at the time end;
// the i-th measure of the k-th metric is 10k + i % 7.
func send(t *testing.T, c *client.Client, resource string, end time.Time, n int, names ...string) map[string]string {
	t.Helper()
	id, err := c.EnsureResource(t.Context(), resource)
	check(t, err)
	ids, err := c.EnsureMetrics(t.Context(), id, names, ofPolicy("console"))
	check(t, err)
	batch := map[string][]map[string]any{}
	for k, name := range names {
		for i := range n {
			batch[ids[name]] = append(batch[ids[name]], map[string]any{"timestamp": end.Unix() - int64(n-1-i),
				"value": 10*k + i%7})
		}
	}
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/batch/metrics/measures", batch, nil))
	for _, name := range names {
		check(t, c.Do(t.Context(), http.MethodGet, "/v1/metric/"+ids[name]+
			"/measures?refresh=true&granularity=60", nil, nil))
	}
	return ids
}

// The server's address leads to the console, which waits for the first measures, shows them by itself, and goes on to
// the chart of a kind of metrics.
func TestFirstVisit(t *testing.T) {
	s, c := start(t, nil)
	b := open(t, s.URL(), "../")
	b.waitText("Nothing has come in yet")
	b.wait("location.pathname === '/ui/'")
	b.picture("first")
	send(t, c, "host", time.Now(), 250, "cpu0.percent", "cpu1.percent", "memory.used.bytes")
	b.wait("document.querySelectorAll('.tile canvas').length === 2")
	b.picture("start")
	b.click(".tile", "cpu*.percent")
	b.wait("document.querySelectorAll('#summary tbody tr').length === 2")
	if first := b.texts("#summary tbody tr:first-child a"); fmt.Sprint(first) != "[cpu1.percent]" {
		t.Errorf("the busiest core: %q", first)
	}
	b.picture("overlay")
	b.act("history.back()")
	b.wait("document.querySelectorAll('.tile canvas').length === 2")
}

func TestServerPage(t *testing.T) {
	s, c := start(t, nil)
	send(t, c, "host", time.Now(), 100, "a", "b")
	b := open(t, s.URL(), "#/server")
	b.wait("document.querySelectorAll('#members tbody tr').length === 1")
	b.wait("document.querySelector('#accepted + .about')?.textContent === '200 in all'")
	if got := b.texts("#metrics"); fmt.Sprint(got) != "[2]" {
		t.Errorf("metrics: %q", got)
	}
	b.wait("document.querySelectorAll('.strip i').length === 16")
	b.wait("document.querySelector('#processed').textContent !== '–'")
	b.picture("server")
}

// ofPolicy describes metrics that have an archive policy.
func ofPolicy(name string) func(string) client.NewMetric {
	return func(string) client.NewMetric { return client.NewMetric{ArchivePolicy: name} }
}
