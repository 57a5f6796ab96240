package senders_test

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

var (
	scrapedFor = flag.Duration("scrape.for", 0,
		"how long TestActiveSeries lets Prometheus scrape and write; 0: the test is skipped")
	scrapedSeries = flag.Int("scrape.series", 10_000, "how many series it scrapes")
)

// A real Prometheus scrapes many series every five seconds and writes them on: no measure is lost. The costs of both
// programs are logged, for a person to read.
func TestActiveSeries(t *testing.T) {
	if *scrapedFor == 0 {
		t.Skip("wants the flag -scrape.for, as make long has it")
	}
	program := installed(t, "prometheus")
	binary := filepath.Join(t.TempDir(), "gnocco")
	if out, err := exec.Command("go", "build", "-o", binary, "github.com/gnocco-db/gnocco/cmd/gnocco").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var scrapes atomic.Int64
	exporter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := scrapes.Add(1)
		var b strings.Builder
		for i := range *scrapedSeries / 2 {
			fmt.Fprintf(&b, "demo_total{project_id=\"p%d\",x=\"x%d\",i=\"%d\"} %d\n", i%10, i%7, i, n*int64(i%50+1))
			fmt.Fprintf(&b, "demo_gauge{project_id=\"p%d\",x=\"x%d\",g=\"%d\"} %d\n", i%10, i%7, i,
				(n*7919+int64(i))%1000)
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = io.WriteString(w, b.String())
	}))
	defer exporter.Close()
	gnoccoData, gnoccoAddress := filepath.Join(t.TempDir(), "data"), freeAddress(t)
	gnocco := launch(t, binary, "serve", "--data", gnoccoData, "--listen", gnoccoAddress)
	ours := "http://" + gnoccoAddress
	eventually(t, func() string {
		r, err := http.Get(ours + "/ready")
		if err != nil {
			return err.Error()
		}
		r.Body.Close()
		if r.StatusCode != http.StatusOK {
			return r.Status
		}
		return ""
	})
	prometheusData, prometheusAddress := filepath.Join(t.TempDir(), "tsdb"), freeAddress(t)
	config := write(t, "prometheus.yml", `global: {scrape_interval: 5s}
remote_write:
- {url: "%s/api/v1/write", basic_auth: {username: admin, password: unused}}
scrape_configs:
- {job_name: demo, static_configs: [{targets: [%q]}]}
`, ours, strings.TrimPrefix(exporter.URL, "http://"))
	prometheus := launch(t, program, "--config.file="+config, "--storage.tsdb.path="+prometheusData,
		"--web.listen-address="+prometheusAddress)
	time.Sleep(*scrapedFor)

	// Half a second after a scrape, for Prometheus 2 includes the first moment of a range. Prometheus' queues do not
	// send measures from before they began: the first half a minute does not count.
	theirs := "http://" + prometheusAddress
	value := func(server, query string, at float64) (float64, error) {
		answer, err := ask(t, server, "query", url.Values{"query": {query}, "time": {fmt.Sprintf("%.3f", at)}})
		if err != nil || len(answer) != 1 {
			return 0, fmt.Errorf("%s: %d series, %w", query, len(answer), err)
		}
		return answer[0].values[0], nil
	}
	at, err := value(theirs, `timestamp(up{job="demo"})`, float64(time.Now().Unix()-10))
	check(t, err)
	at += 0.5
	length := int((*scrapedFor-40*time.Second)/(5*time.Second)) * 5
	used := map[string]string{"gnocco": usage(t, gnocco), "prometheus": usage(t, prometheus)}
	for _, function := range []string{"count", "sum"} {
		query := fmt.Sprintf(`sum(%s_over_time({__name__=~"demo_.*"}[%ds]))`, function, length)
		want, err := value(theirs, query, at)
		check(t, err)
		var got float64
		eventually(t, func() string {
			if got, err = value(ours, query, at); err != nil || got != want {
				return fmt.Sprintf("%s: %.0f, want %.0f (%v)", query, got, want, err)
			}
			return ""
		})
		t.Logf("%s: %.0f of both, none lost", query, got)
	}
	for name, folder := range map[string]string{"gnocco": gnoccoData, "prometheus": prometheusData} {
		t.Logf("%s: %s, on disk %d KiB", name, used[name], bytesBelow(t, folder)>>10)
	}
}

// usage shows the CPU time and the memory of a process.
func usage(t *testing.T, process *os.Process) string {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process.Pid))
	check(t, err)
	_, rest, _ := cutLast(string(stat), ')')
	fields := strings.Fields(rest)
	ticks := 0
	for _, field := range fields[11:13] { // user and system
		n, err := strconv.Atoi(field)
		check(t, err)
		ticks += n
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process.Pid))
	check(t, err)
	memory := ""
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmRSS") || strings.HasPrefix(line, "VmHWM") {
			memory += ", " + strings.Join(strings.Fields(line), " ")
		}
	}
	return fmt.Sprintf("CPU %.2f s%s", float64(ticks)/100, memory)
}

// bytesBelow returns how many bytes files below a folder take, without the reserve file.
func bytesBelow(t *testing.T, folder string) (all int64) {
	t.Helper()
	check(t, filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "reserve" {
			return nil // files go while others are counted
		}
		if info, err := entry.Info(); err == nil {
			all += info.Size()
		}
		return nil
	}))
	return all
}
