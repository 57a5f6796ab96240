package etcd_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/testprogram"
)

// newFolder returns a data folder that is not served yet, and etcd that may coordinate it.
func newFolder(t *testing.T) (*folder, *trio) {
	t.Helper()
	dir, err := testprogram.Build("gnocco")
	check(t, err)
	c := startTrio(t, nil)
	return &folder{t: t, program: filepath.Join(dir, "gnocco"), data: filepath.Join(t.TempDir(), "data"),
		coordination: "etcd://" + strings.Join(c.hosts(), ",")}, c
}

// metric makes a metric with one measure.
func (f *folder) metric() (id string) {
	f.t.Helper()
	f.do("POST", "/v1/archive_policy",
		`{"name":"p","definition":[{"granularity":60}],"aggregation_methods":["count"]}`, 201)
	var m struct{ ID string }
	check(f.t, json.Unmarshal(f.do("POST", "/v1/metric", `{"archive_policy_name":"p"}`, 201), &m))
	return m.ID
}

// measure adds a measure in a minute of its own.
func (f *folder) measure(metric string, minute int) {
	f.t.Helper()
	f.do("POST", "/v1/metric/"+metric+"/measures", fmt.Sprintf(`[{"timestamp":%d,"value":1}]`, 1600000020+60*minute), 202)
}

// measures returns the number of minutes that have a measure.
func (f *folder) measures(metric string) int {
	f.t.Helper()
	var shown [][]any
	check(f.t, json.Unmarshal(f.do("GET", "/v1/metric/"+metric+"/measures?refresh=true&aggregation=count", "", 200),
		&shown))
	for _, row := range shown {
		if row[2] != 1.0 {
			f.t.Errorf("twice: %v", row)
		}
	}
	return len(shown)
}

// epochs returns the epochs of all stores.
func (f *folder) epochs() map[string]uint64 {
	f.t.Helper()
	var status struct {
		Cluster struct {
			Claims []struct {
				Name  string
				Epoch uint64
			}
		}
	}
	check(f.t, json.Unmarshal(f.do("GET", "/v1/status", "", 200), &status))
	epochs := make(map[string]uint64)
	for _, c := range status.Cluster.Claims {
		epochs[c.Name] = c.Epoch
	}
	return epochs
}

// While etcd has no majority a server lives, acknowledges nothing, and says that it is not ready. When the majority is
// back, it serves as before, as the same process.
func TestServerWithoutMajority(t *testing.T) {
	t.Parallel() // it waits
	f, c := newFolder(t)
	f.serve()
	metric := f.metric()
	f.measure(metric, 0)
	c.stop(0, 1)
	until(t, 20*time.Second, "it refuses", func() bool {
		status, _ := f.ask("GET", "/ready", "")
		return status == 503
	})
	if status, text := f.ask("POST", "/v1/metric/"+metric+"/measures", `[{"timestamp":1600000080,"value":1}]`); status != 503 {
		t.Errorf("acknowledged: %d %s", status, text)
	}
	if status, _ := f.ask("GET", "/live", ""); status != 200 {
		t.Errorf("a process that waits is said to be dead: %d", status)
	}
	time.Sleep(6 * time.Second) // longer than the lease
	c.start(0, 1)
	took := until(t, 20*time.Second, "it serves again", func() bool {
		status, _ := f.ask("GET", "/ready", "")
		return status == 200
	})
	t.Logf("served %s after etcd", took)
	f.measure(metric, 2)
	if n := f.measures(metric); n != 2 {
		t.Errorf("%d measures of 2", n)
	}
	f.end(syscall.SIGTERM)
	if code := f.process.ProcessState.ExitCode(); code != 0 {
		t.Errorf("ended with %d", code)
	}
}

// A stopped cluster moves from files to etcd, back and there again: all measures are there, and no epoch comes twice. A
// cluster that runs does not move.
func TestMove(t *testing.T) {
	t.Parallel() // it waits
	f, _ := newFolder(t)
	etcd := f.coordination
	move := func(to string, more ...string) (string, error) {
		out, err := exec.Command(f.program, append([]string{"coordination", "--data", f.data, "--to", to,
			"--coordination", etcd, "--lease-ttl", "4s", "--lease-slack", "0s"}, more...)...).CombinedOutput()
		return string(out), err
	}
	f.coordination = "file"
	f.serve()
	metric := f.metric()
	before := f.epochs()
	for i, to := range []string{"etcd", "file", "etcd", "file"} {
		f.measure(metric, i)
		if out, err := move(to); err == nil {
			t.Fatalf("moved under a server: %s", out)
		}
		end := syscall.SIGTERM
		if i%2 == 1 {
			end = syscall.SIGKILL
		}
		f.end(end)
		out, err := move(to)
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if f.coordination = etcd; to == "file" {
			f.coordination = to
		}
		f.serve()
		if n := f.measures(metric); n != i+1 {
			t.Errorf("%d measures of %d, by %s", n, i+1, to)
		}
		now := f.epochs()
		for _, name := range []string{"index", "sacks/000", "sacks/007"} {
			if now[name] <= before[name] {
				t.Errorf("%s is at epoch %d by %s, and was at %d", name, now[name], to, before[name])
			}
		}
		before = now
	}
	f.end(syscall.SIGTERM)
	if status, text := f.fsck(); status != 0 {
		t.Errorf("fsck: %d\n%s", status, text)
	}
}
