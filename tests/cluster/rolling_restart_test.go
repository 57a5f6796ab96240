package cluster_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/testprogram"
)

var restarts = flag.Int("restart.rounds", 3, "restarts of TestRollingRestart")

// Processes behind a balancer are restarted, one after the other, while clients read, write and ask for metadata. No
// request fails, and the balancer sends none twice.
func TestRollingRestart(t *testing.T) {
	rounds := *restarts
	if testing.Short() {
		rounds = 1
	}
	program, err := exec.LookPath("haproxy")
	if err != nil {
		program = "/usr/sbin/haproxy"
		if _, err := os.Stat(program); err != nil {
			t.Skip("there is no haproxy")
		}
	}
	data := t.TempDir()
	// Addresses of this test alone, so that a process that starts again gets its port again.
	address := func(n int) string {
		return fmt.Sprintf("127.%d.%d.%d:8041", 1+os.Getpid()>>8&0x7f, os.Getpid()&0xff, n)
	}
	begin := func(n int) *process {
		return start(t, data, "serve", "--listen", address(n), "--drain-delay", "1s", "--checkpoint-interval", "2s")
	}
	processes := make([]*process, 3)
	for i := range processes {
		processes[i] = begin(i + 1)
	}
	b := startBalancer(t, program, address(100), []string{address(1), address(2), address(3)})
	front := &process{t: t, url: "http://" + address(100)}
	metrics := newMetrics(t, front, 12)

	load := &restartLoad{t: t, front: front, metrics: metrics, done: make(chan struct{})}
	writer := &sender{metrics: metrics, seconds: new(atomic.Int64), doubt: map[int64]bool{}}
	load.run("write", func(int) error {
		status, answer, err := writer.send(front)
		return wanted(http.StatusAccepted, status, answer, err)
	})
	reading := "/v1/metric/%s/measures?granularity=1&aggregation=sum"
	for range 2 {
		load.run("read", func(i int) error {
			return load.ask(http.MethodGet, fmt.Sprintf(reading, metrics[i%len(metrics)]), "", http.StatusOK, nil)
		})
	}
	load.run("refresh", func(i int) error {
		return load.ask(http.MethodGet, fmt.Sprintf(reading, metrics[i%len(metrics)])+"&refresh=true", "",
			http.StatusOK, nil)
	})
	load.run("group", func(int) error {
		return load.ask(http.MethodPost, "/v1/aggregates",
			fmt.Sprintf(`{"operations": "(aggregate sum (metric (%s sum) (%s sum)))"}`,
				metrics[0], metrics[1]), http.StatusOK, nil)
	})
	for range 2 {
		load.run("metadata", func(int) error {
			var made struct{ ID string }
			if err := load.ask(http.MethodPost, "/v1/metric", `{"archive_policy_name": "cluster"}`, http.StatusCreated,
				&made); err != nil {
				return err
			}
			path := "/v1/metric/" + made.ID
			if err := load.ask(http.MethodPost, path+"/measures",
				fmt.Sprintf(`[{"timestamp": %d, "value": 1}]`, firstSecond), http.StatusAccepted, nil); err != nil {
				return err
			}
			if err := load.ask(http.MethodGet, path, "", http.StatusOK, nil); err != nil {
				return err
			}
			return load.ask(http.MethodDelete, path, "", http.StatusNoContent, nil)
		})
	}
	for i := range rounds {
		n := i % len(processes)
		time.Sleep(200 * time.Millisecond)
		processes[n].stop()
		processes[n] = begin(n + 1)
		b.awaitUp(len(processes))
	}
	close(load.done)
	load.clients.Wait()
	t.Logf("%d requests, %d failed", load.asked.Load(), load.failed.Load())
	b.check()
	check(t, front, metrics[:2], writer)
	for _, p := range processes {
		p.stop()
	}
}

// restartLoad are clients that go on through any failure.
type restartLoad struct {
	t             *testing.T
	front         *process
	metrics       []string
	done          chan struct{}
	clients       sync.WaitGroup
	asked, failed atomic.Int64
}

// run starts a client, which sends one request after the other.
func (l *restartLoad) run(name string, request func(i int) error) {
	l.clients.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-l.done:
				return
			case <-time.After(5 * time.Millisecond):
			}
			begun := time.Now()
			l.asked.Add(1)
			if err := request(i); err != nil {
				l.failed.Add(1)
				l.t.Errorf("%s at %s, after %v: %v", name, begun.Format("15:04:05.000"),
					time.Since(begun).Round(time.Millisecond), err)
			}
		}
	})
}

// ask sends one request.
func (l *restartLoad) ask(method, path, body string, want int, answer any) error {
	status, _, text, err := l.front.do(method, path, body)
	if err := wanted(want, status, text, err); err != nil || answer == nil {
		return err
	}
	return json.Unmarshal(text, answer)
}

func wanted(want, status int, answer []byte, err error) error {
	if err == nil && status != want {
		err = fmt.Errorf("%d %s", status, answer)
	}
	return err
}

// balancer is HAProxy in front of some processes. It never sends a request twice.
type balancer struct {
	t       *testing.T
	control string // its socket
	log     safeBuffer
}

func startBalancer(t *testing.T, program, address string, servers []string) *balancer {
	t.Helper()
	dir := t.TempDir()
	b := &balancer{t: t, control: filepath.Join(dir, "control")}
	var config bytes.Buffer
	fmt.Fprintf(&config, `global
  stats socket %s level admin
  log stdout format raw local0
defaults
  mode http
  log global
  option dontlog-normal
  option httplog
  retries 0
  no option redispatch
  timeout connect 10s
  timeout client 60s
  timeout server 60s
  timeout check 5s
frontend public
  bind %s
  default_backend processes
backend processes
  balance roundrobin
  option httpchk GET /ready
  http-check expect status 200
  default-server inter 100ms fall 1 rise 1
`, b.control, address)
	for i, server := range servers {
		fmt.Fprintf(&config, "  server s%d %s check\n", i, server)
	}
	path := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(path, config.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-db", "-f", path)
	cmd.Stdout, cmd.Stderr = &b.log, &b.log
	if err := testprogram.EndWithTest(cmd).Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("log of haproxy:\n%s", b.log.String())
		}
	})
	b.awaitUp(len(servers))
	return b
}

// stats returns HAProxy's figures: a row for each server, and for all.
func (b *balancer) stats() ([]map[string]string, error) {
	connection, err := (&net.Dialer{}).DialContext(context.Background(), "unix", b.control)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	if _, err := io.WriteString(connection, "show stat\n"); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(connection)
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(strings.NewReader(strings.TrimSpace(strings.TrimPrefix(string(text), "# ")))).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	var stats []map[string]string
	for _, row := range rows[1:] {
		stat := make(map[string]string)
		for i, name := range rows[0] {
			stat[name] = row[i]
		}
		stats = append(stats, stat)
	}
	return stats, nil
}

// awaitUp waits until so many servers pass their checks.
func (b *balancer) awaitUp(n int) {
	b.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		stats, err := b.stats()
		up := 0
		for _, s := range stats {
			if strings.HasPrefix(s["svname"], "s") && s["status"] == "UP" && s["check_status"] == "L7OK" {
				up++
			}
		}
		if up == n {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%d of %d servers are up: %v", up, n, err)
		}
	}
}

// check fails if HAProxy met an error that clients may not have seen.
func (b *balancer) check() {
	b.t.Helper()
	stats, err := b.stats()
	if err != nil {
		b.t.Fatal(err)
	}
	for _, s := range stats {
		for _, figure := range []string{"econ", "eresp", "wretr", "wredis", "hrsp_5xx"} {
			if s[figure] != "" && s[figure] != "0" {
				b.t.Errorf("%s of %s: %s", figure, s["svname"], s[figure])
			}
		}
	}
}
