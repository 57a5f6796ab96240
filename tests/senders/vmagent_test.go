package senders_test

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
)

// VictoriaMetrics' agent scrapes an exporter every second and writes what it finds, histograms and NaN among it: each
// series of the exporter is one, and goes on.
func TestVmagent(t *testing.T) {
	program := installed(t, "vmagent")
	t.Parallel()
	s, _ := start(t, nil)
	config := write(t, "scrape.yml",
		"scrape_configs:\n- {job_name: demo, scrape_interval: 1s, static_configs: [{targets: [%q], labels: {site: north}}]}\n", strings.TrimPrefix(startExporter(t), "http://"))
	launch(t, program, "-promscrape.config="+config, "-remoteWrite.url="+s.URL()+"/api/v1/write",
		"-remoteWrite.basicAuth.username=admin", "-remoteWrite.basicAuth.password=unused",
		"-remoteWrite.tmpDataPath="+filepath.Join(t.TempDir(), "queue"), "-remoteWrite.flushInterval=1s",
		"-httpListenAddr="+freeAddress(t))
	rows := strings.Count(exposition(1), "\n") - strings.Count(exposition(1), "# TYPE")
	f := func(query, want string) {
		t.Helper()
		eventually(t, func() string {
			answer, err := ask(t, s.URL(), "query", url.Values{"query": {query}})
			if err != nil || len(answer) != 1 || fmt.Sprintf("%s %v", answer[0].labels, answer[0].values) != want {
				return fmt.Sprintf("%s: %v %v, want %s", query, answer, err, want)
			}
			return ""
		})
	}
	f(`count({__name__=~"demo_.+",job="demo",site="north",instance!=""})`, fmt.Sprintf("{} [%d]", rows))
	f(`min(count_over_time(demo_temperature[5m])) >= bool 3`, "{} [1]")
	f(`max by (job, site) (up)`, `{job="demo", site="north"} [1]`)
	f(`sum by (device) (demo_disk_size_bytes{device="sda"})`, `{device="sda"} [4e+09]`)
}
