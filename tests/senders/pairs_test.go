package senders_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/server"
)

// Two Prometheus with the configuration of docs/send/prometheus.md are one series, and one of them may die.
func TestPrometheusInPairs(t *testing.T) {
	program := installed(t, "prometheus")
	t.Parallel()
	s, _ := start(t, func(o *server.Options) { o.API.Limits.ReplicaLabels = []string{"prometheus_replica"} })
	began := time.Now()
	exporter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = fmt.Fprintf(w, "# TYPE pair_total counter\npair_total %v\n", 10*time.Since(began).Seconds())
	}))
	t.Cleanup(exporter.Close)
	blocks := blocksOf(t, "prometheus.md", "yaml", "127.0.0.1:8041", strings.TrimPrefix(s.URL(), "http://"),
		"127.0.0.1:9100", strings.TrimPrefix(exporter.URL, "http://"), "15s", "1s")
	_, external, _ := strings.Cut(blocks[1], "\n")
	run := func(name string) *os.Process {
		config := strings.Replace(blocks[0], "global: {scrape_interval: 1s}\n", "global:\n  scrape_interval: 1s\n"+
			strings.ReplaceAll(external, "prometheus-0", name), 1)
		return launch(t, program, "--config.file="+write(t, "prometheus.yml", "%s", config),
			"--storage.tsdb.path="+filepath.Join(t.TempDir(), "tsdb"), "--web.listen-address="+freeAddress(t))
	}
	first, second := run("prometheus-0"), run("prometheus-1")
	time.Sleep(35 * time.Second)
	check(t, first.Kill())
	time.Sleep(20 * time.Second)
	run("prometheus-0")
	time.Sleep(20 * time.Second)
	check(t, second.Kill())
	time.Sleep(20 * time.Second)
	value := func(query string) float64 {
		answer, err := ask(t, s.URL(), "query", url.Values{"query": {query}})
		check(t, err)
		if len(answer) != 1 {
			t.Fatalf("%s: %v", query, answer)
		}
		return answer[0].values[0]
	}
	for query, want := range map[string][2]float64{
		"count(pair_total)": {1, 1},
		`count({__name__=~".+",prometheus_replica=~".+"}) or vector(0)`: {0, 0},
		"sum(resets(pair_total[80s]))":                                  {0, 0},
		"sum(rate(pair_total[80s]))":                                    {9.7, 10.3},
		"sum(count_over_time(pair_total[80s]))":                         {40, 81}, // a change costs 12 s with scrapes of 1 s
	} {
		got := math.NaN()
		eventually(t, func() string {
			if got = value(query); got >= want[0] && got <= want[1] {
				return ""
			}
			return fmt.Sprintf("%s is %v, not from %v to %v", query, got, want[0], want[1])
		})
		t.Logf("%s: %v", query, got)
	}
}
