package senders_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/tests/testprogram"
)

// programs returns the folder of gnocco.
var programs = sync.OnceValues(func() (string, error) { return testprogram.Build("gnocco") })

// A process is a gnocco that can be restarted on its folder and address.
type process struct {
	t             *testing.T
	data, address string
	log           *os.File
	cmd           *exec.Cmd
}

func startProcess(t *testing.T) *process {
	t.Helper()
	dir := t.TempDir()
	log, err := os.Create(filepath.Join(dir, "log"))
	check(t, err)
	p := &process{t: t, data: filepath.Join(dir, "data"), address: freeAddress(t), log: log}
	p.run()
	t.Cleanup(func() {
		p.end(syscall.SIGKILL)
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("gnocco said: %s", text)
		}
	})
	return p
}

func (p *process) url() string { return "http://" + p.address }

// run starts the process and waits until it answers.
func (p *process) run() {
	p.t.Helper()
	dir, err := programs()
	check(p.t, err)
	p.cmd = exec.Command(filepath.Join(dir, "gnocco"), "serve", "--data", p.data, "--listen", p.address, "--min-free-bytes", "0")
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	check(p.t, p.cmd.Start())
	eventually(p.t, func() string {
		answer, err := http.Get(p.url() + "/ready")
		if err != nil {
			return err.Error()
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return answer.Status
		}
		return ""
	})
}

func (p *process) end(signal syscall.Signal) {
	_ = p.cmd.Process.Signal(signal)
	_ = p.cmd.Wait()
}

// restart ends the process by SIGTERM and by SIGKILL, and leaves it down for a while.
func (p *process) restart() {
	p.t.Helper()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		time.Sleep(4 * time.Second) // of work
		p.end(signal)
		time.Sleep(2 * time.Second) // of nothing
		p.run()
	}
}

// Prometheus and vmagent send again what a server that restarts did not acknowledge, and it keeps what it did: each
// scrape is there once.
func TestRestartLosesNothing(t *testing.T) {
	scraped := func(t *testing.T, exporter string) (config, scrape string) {
		config = blocksOf(t, "prometheus.md", "yaml", "127.0.0.1:9100", strings.TrimPrefix(exporter, "http://"), "15s", "1s")[0]
		scrape, _, _ = strings.Cut(config, "remote_write:")
		return config, scrape
	}
	for name, begin := range map[string]func(t *testing.T, program, address, exporter string){
		"prometheus": func(t *testing.T, program, address, exporter string) {
			config, _ := scraped(t, exporter)
			config = strings.ReplaceAll(config, "127.0.0.1:8041", address)
			launch(t, program, "--config.file="+write(t, "prometheus.yml", "%s", config),
				"--storage.tsdb.path="+filepath.Join(t.TempDir(), "tsdb"), "--web.listen-address="+freeAddress(t))
		},
		"vmagent": func(t *testing.T, program, address, exporter string) {
			_, scrape := scraped(t, exporter)
			args := strings.Fields(blocksOf(t, "prometheus.md", "sh", "127.0.0.1:8041", address, "scrape.yml",
				write(t, "scrape.yml", "%s", scrape))[0])
			launch(t, program, append(args[1:], "-remoteWrite.tmpDataPath="+filepath.Join(t.TempDir(), "queue"),
				"-remoteWrite.flushInterval=1s", "-httpListenAddr="+freeAddress(t))...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			program := installed(t, name)
			t.Parallel()
			p := startProcess(t)
			c, err := client.New(p.url(), client.Options{User: "admin"})
			check(t, err)
			check(t, c.Do(t.Context(), http.MethodPost, "/v1/archive_policy", map[string]any{"name": "prometheus", "back_window": 3600,
				"definition": []map[string]any{{"granularity": 0.1}}, "aggregation_methods": []string{"last", "sum", "count"}}, nil))
			var scrapes atomic.Int64
			exporter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain; version=0.0.4")
				_, _ = fmt.Fprintf(w, "scrapes %d\n", scrapes.Add(1))
			}))
			defer exporter.Close()
			begin(t, program, p.address, exporter.URL)
			eventually(t, func() string { return awaits(query(t, p.url(), "count(scrapes)", time.Now()), "1") })
			p.restart()
			n := scrapes.Load()
			// of the numbers from the first to the last one, none is missing
			const first, last = "min_over_time(scrapes[1h])", "max_over_time(scrapes[1h])"
			lost := fmt.Sprintf("(%s * (%s + 1) - %s * (%s - 1)) / 2 - sum_over_time(scrapes[1h])", last, last, first, first)
			eventually(t, func() string {
				at := time.Now().Add(time.Minute)
				if wrong := awaits(query(t, p.url(), lost, at), "0"); wrong != "" {
					return "lost: " + wrong
				}
				return awaits(query(t, p.url(), fmt.Sprintf("%s >= bool %d", last, n), at), "1")
			})
		})
	}
}

// collectd's write_http goes on after a restart. It drops what it could not send meanwhile.
func TestCollectdGoesOnAfterRestart(t *testing.T) {
	program := installed(t, "collectd")
	needsPlugin(t, "/usr/lib/collectd/write_http.so")
	t.Parallel()
	p := startProcess(t)
	launchCollectd(t, program, "LoadPlugin cpu\n"+blocksOf(t, "collectd.md", "apache", "127.0.0.1:8041", p.address)[0])
	counted := func() string {
		return awaits(query(t, p.url(), `count(collectd_load{value="longterm"})`, time.Now()), "1")
	}
	eventually(t, counted)
	p.restart()
	again := time.Now()
	eventually(t, func() string {
		return awaits(query(t, p.url(), fmt.Sprintf("max_over_time(timestamp(collectd_load{value=\"longterm\"})[5m:1s]) >= bool %d",
			again.Unix()+1), time.Now()), "1")
	})
}

// The commands of docs/send/csv.md send what they say.
func TestCSVPage(t *testing.T) {
	installed(t, "curl")
	t.Parallel()
	p := startProcess(t)
	dir, err := programs()
	check(t, err)
	runPage(t, "csv.md", "sh", p.url(), "env", "-C", t.TempDir(), "PATH="+dir+":"+os.Getenv("PATH"), "bash", "-euo", "pipefail")
	at := time.Date(2026, 1, 15, 13, 6, 0, 0, time.UTC)
	for room, value := range map[string]string{"north": "21.5", "south": "19.25"} {
		eventually(t, func() string {
			return awaits(query(t, p.url(), fmt.Sprintf("room_celsius{room=%q}", room), at), value)
		})
	}
	const humidity = "/v1/resource/generic/kitchen/metric/humidity/measures?refresh=true"
	if body := string(get(t, p.url()+humidity)); !strings.Contains(body, "48.0]") {
		t.Errorf("humidity: %s", body)
	}
}
