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

// launchCollectd starts collectd with a block of docs/send/collectd.md.
func launchCollectd(t *testing.T, program, config string) {
	t.Helper()
	dir := t.TempDir()
	launch(t, program, "-f", "-C", write(t, "collectd.conf", "Hostname %q\nBaseDir %q\nPIDFile %q\nInterval 1\n%s",
		"web-1", dir, filepath.Join(dir, "pid"), config))
}

// readsOne waits until a count has one series with these labels.
func readsOne(t *testing.T, server string, queries map[string]string) {
	t.Helper()
	for query, labels := range queries {
		reads(t, server, query, labels, 1)
	}
}

// collectd's plugin write_http sends what it measures, and the command of the page finds it.
func TestCollectdByHTTP(t *testing.T) {
	program := installed(t, "collectd")
	needsPlugin(t, "/usr/lib/collectd/write_http.so")
	t.Parallel()
	s, _ := start(t, nil)
	launchCollectd(t, program, "LoadPlugin cpu\n"+
		blocksOf(t, "collectd.md", "apache", "127.0.0.1:8041", strings.TrimPrefix(s.URL(), "http://"))[0])
	readsOne(t, s.URL(), map[string]string{
		`count by (host, plugin, type, value) (collectd_load{value="longterm"})`:                                         `{host="web-1", plugin="load", type="load", value="longterm"}`,
		`count by (host, plugin_instance, type) (collectd_cpu_total{type_instance="idle",plugin_instance="0",value=""})`: `{host="web-1", plugin_instance="0", type="cpu"}`,
	})
	runPage(t, "collectd.md", "sh", s.URL(), "bash", "-euo", "pipefail")
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
