package senders_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"gnocco/internal/server"
)

// collectd has no output that speaks Gnocchi's API: Gnocchi's own way is a listener for AMQP, which is not here. What it
// has is write_prometheus, so that Prometheus fetches its values and writes them on.
func TestCollectdThroughPrometheus(t *testing.T) {
	prometheus, collectd := installed(t, "prometheus"), installed(t, "collectd")
	if _, err := os.Stat("/usr/lib/collectd/write_prometheus.so"); err != nil {
		t.Skip("collectd's write_prometheus is not installed")
	}
	t.Parallel()
	s, _ := start(t, func(o *server.Options) { o.PrometheusLabels = true })
	address := freeAddress(t)
	dir := t.TempDir()
	launch(t, collectd, "-f", "-C", write(t, "collectd.conf", `Hostname "host1"
BaseDir %q
PIDFile %q
Interval 1
LoadPlugin load
LoadPlugin memory
LoadPlugin uptime
LoadPlugin write_prometheus
<Plugin write_prometheus>
  Host "127.0.0.1"
  Port %q
</Plugin>
`, dir, filepath.Join(dir, "pid"), address[len("127.0.0.1:"):]))
	source := startPrometheus(t, prometheus, s.URL(), map[string]string{"collectd": "http://" + address})
	time.Sleep(scrapeFor)
	// The labels' instance is collectd's host; what collectd shows carries its own timestamps.
	if series := readsBack(t, source, `{__name__=~"collectd_.+"}`, s); series < 5 {
		t.Errorf("%d series of collectd", series)
	}
}
