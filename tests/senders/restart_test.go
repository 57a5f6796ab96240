package senders_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
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
	args          []string
	log           *os.File
	cmd           *exec.Cmd
	outages       [][2]time.Time
}

func startProcess(t *testing.T, args ...string) *process {
	t.Helper()
	dir := t.TempDir()
	log, err := os.Create(filepath.Join(dir, "log"))
	check(t, err)
	p := &process{t: t, data: filepath.Join(dir, "data"), address: freeAddress(t), args: args, log: log}
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
	p.cmd = exec.Command(filepath.Join(dir, "gnocco"), append([]string{"serve", "--data", p.data, "--listen", p.address,
		"--min-free-bytes", "0"}, p.args...)...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	check(p.t, testprogram.EndWithTest(p.cmd).Start())
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
		down := time.Now()
		p.end(signal)
		time.Sleep(2 * time.Second) // of nothing
		p.run()
		p.outages = append(p.outages, [2]time.Time{down, time.Now()})
	}
}

// Prometheus, vmagent and Telegraf send again what a server that restarts did not acknowledge, and it keeps what it
// did: each scrape is there once.
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
		"telegraf": func(t *testing.T, program, address, exporter string) {
			config := blocksOf(t, "telegraf.md", "toml", "127.0.0.1:8041", address, `"10s"`, `"1s"`, "[[inputs.cpu]]",
				fmt.Sprintf("[[inputs.http]]\n  urls = [%q]\n  data_format = \"influx\"\n", exporter))[0]
			launch(t, program, "--config", write(t, "telegraf.conf", "%s", config))
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
				text := "scrapes %d\n"
				if name == "telegraf" {
					text = "scrapes total=%d\n" // a line of InfluxDB's protocol
				}
				_, _ = fmt.Fprintf(w, text, scrapes.Add(1))
			}))
			defer exporter.Close()
			begin(t, program, p.address, exporter.URL)
			const series = `{__name__=~"scrapes(_total)?"}`
			eventually(t, func() string { return awaits(query(t, p.url(), "count("+series+")", time.Now()), "1") })
			p.restart()
			n := scrapes.Load()
			// of the numbers from the first to the last one, none is missing
			const first, last = "min_over_time(" + series + "[1h])", "max_over_time(" + series + "[1h])"
			lost := fmt.Sprintf("(%s * (%s + 1) - %s * (%s - 1)) / 2 - sum_over_time(%s[1h])", last, last, first, first, series)
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

// Senders without a buffer lose what they would send while Gnocco is away, and go on afterwards, as the table of
// docs/send says.
func TestRestartLosesWhatComesMeanwhile(t *testing.T) {
	type sender struct {
		needs    string   // plugin of collectd, or module of Python
		flag     string   // of the port that it sends to, if it is not HTTP's
		args     []string // more ones
		config   func(p *process, address string) string
		selector string        // of the series that it sends once a second, or more often
		before   time.Duration // by which values that it gathered may be lost
		after    time.Duration // until it has connected again
	}
	with := func(script string) func(p *process, address string) string {
		return func(p *process, address string) string {
			host, port, _ := cutLast(address, ':')
			_, http, _ := cutLast(p.address, ':')
			return strings.NewReplacer("HOST", host, "PORT", port, "HTTP", http).Replace(script)
		}
	}
	for name, of := range map[string]sender{
		"collectd write_http": {needs: "write_http", selector: `collectd_load{value="longterm"}`, config: with(`
LoadPlugin write_http
<Plugin write_http>
  <Node "gnocco">
    URL "http://127.0.0.1:HTTP/api/v1/import/collectd"
    Header "Authorization: Basic YWRtaW46"
    Format "JSON"
  </Node>
</Plugin>`), before: 4 * time.Second, after: 3 * time.Second},
		"collectd write_graphite": {needs: "write_graphite", flag: "--graphite-listen",
			selector: `{__name__=~".*load_longterm|.*load.load.longterm"}`, config: with(`
LoadPlugin write_graphite
<Plugin write_graphite>
  <Node "gnocco">
    Host "HOST"
    Port "PORT"
    Protocol "tcp"
  </Node>
</Plugin>`), before: 4 * time.Second, after: 3 * time.Second},
		"python3-statsd": {needs: "statsd", flag: "--statsd-listen", args: []string{"--statsd-labels",
			"--statsd-flush-interval", "1s"}, selector: "temperature", config: with(`
import statsd, time
c = statsd.StatsClient("HOST", PORT)
while True:
    c.gauge("temperature", 21.5)
    time.sleep(0.3)
`), before: 2 * time.Second, after: 2 * time.Second},
		"python3-influxdb": {needs: "influxdb", selector: "room_celsius", config: with(`
import time
from influxdb import InfluxDBClient
c = InfluxDBClient("127.0.0.1", HTTP, "admin", "", "home", timeout=5)
while True:
    try:
        c.write_points([{"measurement": "room", "fields": {"celsius": 21.5}, "time": time.time_ns()}])
    except Exception as e:
        print(e)
    time.sleep(0.3)
`), before: time.Second, after: 2 * time.Second},
		"ceilometer": {needs: "ceilometer", selector: `{"memory.usage"}`, config: with(`
import datetime, os, sys, tempfile, time
from ceilometer import publisher, sample, service
from ceilometer.cmd import storage
f = tempfile.NamedTemporaryFile("w", delete=False)
f.write("[service_credentials]\nauth_type = gnocchi-basic\nuser = admin\nendpoint = http://127.0.0.1:HTTP\n")
f.close()
sys.argv = ["ceilometer-upgrade", "--retry", "3", "--config-file", f.name]
conf = service.prepare_service([], [f.name])
p = publisher.get_publisher(conf, "gnocchi://", "ceilometer.sample.publisher")
storage.upgrade()
while True:
    p.publish_samples([sample.Sample("memory.usage", "gauge", "MB", 512, "u", "p", "11111111-2222-3333-4444-555555555555",
        datetime.datetime.now(datetime.timezone.utc).isoformat(),
        {"host": "h", "display_name": "n", "flavor": {"id": "f", "name": "n"}})])
    time.sleep(0.3)
`), before: 2 * time.Second, after: 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			program := "/usr/bin/python3"
			isCollectd := strings.HasPrefix(name, "collectd")
			if isCollectd {
				program = installed(t, "collectd")
				needsPlugin(t, "/usr/lib/collectd/"+of.needs+".so")
			} else if installed(t, program); exec.Command(program, "-c", "import "+of.needs).Run() != nil {
				t.Skip("Python has no " + of.needs)
			}
			t.Parallel()
			address, args := freeAddress(t), of.args
			if of.flag != "" {
				args = append(args, of.flag, address, strings.TrimSuffix(of.flag, "-listen")+"-creator", "admin")
			}
			p := startProcess(t, args...)
			c, err := client.New(p.url(), client.Options{User: "admin"})
			check(t, err)
			for _, policy := range []string{"prometheus", "ceilometer-low"} {
				check(t, c.Do(t.Context(), http.MethodPost, "/v1/archive_policy", map[string]any{"name": policy, "back_window": 3600,
					"definition": []map[string]any{{"granularity": 0.1}}, "aggregation_methods": []string{"last", "mean"}}, nil))
			}
			if isCollectd {
				launchCollectd(t, program, "LoadPlugin load\nLoadPlugin cpu\nLoadPlugin memory\n"+of.config(p, address)+"\n")
			} else {
				launch(t, program, "-W", "ignore", "-c", of.config(p, address))
			}
			measures := func() (times []float64) {
				answer, err := ask(t, p.url(), "query", url.Values{"query": {of.selector + "[10m]"},
					"time": {fmt.Sprint(time.Now().Unix() + 60)}})
				if err == nil && len(answer) == 1 {
					times = answer[0].times
				}
				return times
			}
			since := func(at time.Time) func() string {
				return func() string {
					times := measures()
					if len(times) > 0 && times[len(times)-1] > float64(at.UnixMilli())/1000 {
						return ""
					}
					return fmt.Sprintf("no measure after %v: %v", at, times)
				}
			}
			eventually(t, since(time.Unix(0, 0)))
			p.restart()
			eventually(t, since(time.Now().Add(of.after)))
			times := measures()
			lost := 0.0
			for i := 1; i < len(times); i++ {
				if times[i]-times[i-1] < 1.9 { // an interval of 1 s at most
					continue
				}
				from, to := time.UnixMilli(int64(times[i-1]*1000)), time.UnixMilli(int64(times[i]*1000))
				lost += to.Sub(from).Seconds() - 1
				in := false
				for _, outage := range p.outages {
					in = in || from.After(outage[0].Add(-of.before)) && to.Before(outage[1].Add(of.after))
				}
				t.Logf("no measures from %v to %v", from.Format("05.0"), to.Format("05.0"))
				if !in {
					t.Errorf("no measures from %v to %v, but outages %v", from, to, p.outages)
				}
			}
			for _, outage := range p.outages {
				t.Logf("away from %v to %v", outage[0].Format("05.0"), outage[1].Format("05.0"))
			}
			t.Logf("lost %.1f s", lost)
			if len(times) < 8 || lost == 0 {
				t.Errorf("lost %v s of %v", lost, times)
			}
		})
	}
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
