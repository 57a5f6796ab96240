package senders_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// collectd has no output that speaks Gnocchi's API: Gnocchi's own way is a listener for AMQP, which is not here. It has
// write_prometheus, so that Prometheus fetches its values and writes them on.
func TestCollectdThroughPrometheus(t *testing.T) {
	prometheus, collectd := installed(t, "prometheus"), installed(t, "collectd")
	needsPlugin(t, "/usr/lib/collectd/write_prometheus.so")
	t.Parallel()
	s, _ := start(t, nil)
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
	// The labels' instance is collectd's host; collectd's values carry their own timestamps.
	if series := readsBack(t, source, `{__name__=~"collectd_.+"}`, s); series < 5 {
		t.Errorf("%d series of collectd", series)
	}
}

// needsPlugin skips the test unless collectd can load the plugin: Debian's collectd does not depend on the libraries of
// its plugins.
func needsPlugin(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skip("collectd's plugin is not installed: " + path)
	}
	libraries, err := exec.Command("ldd", path).CombinedOutput()
	if err != nil {
		t.Skipf("ldd %s: %v: %s", path, err, libraries)
	}
	for line := range strings.Lines(string(libraries)) {
		if strings.Contains(line, "not found") {
			t.Skipf("%s cannot be loaded: %s", path, strings.TrimSpace(line))
		}
	}
}
