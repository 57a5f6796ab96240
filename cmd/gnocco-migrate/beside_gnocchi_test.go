package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

var (
	besideResources = flag.Int("beside.resources", 20, "resources of the Gnocchi in TestBesideGnocchi")
	besideKills     = flag.Int("beside.kills", 5, "how often a pass is killed in TestBesideGnocchi")
	besidePort      = flag.Int("beside.port", 21641,
		"port of the Gnocchi; the one 1000 above is its database's; with MariaDB 10 above both")
)

// A real Gnocchi with PostgreSQL and files is copied by REST, killed at random moments, and followed while it gets
// measures, until the cut-over; likewise from its configuration. Each time all definitions and all values are compared.
//
// GNOCCHI_UP names the script that starts a Gnocchi, as for tools/differential.sh.
func TestBesideGnocchi(t *testing.T) {
	up := os.Getenv("GNOCCHI_UP")
	if up == "" {
		t.Skip("GNOCCHI_UP, the script that starts a Gnocchi, is not set")
	}
	dir, err := os.MkdirTemp("", "beside") // where PostgreSQL's user may go
	fatal.If(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Log(err)
		}
	})
	fatal.If(t, os.Chmod(dir, 0o755))
	programs := filepath.Join(dir, "bin")
	run(t, "go", "build", "-o", programs+"/", ".")
	run(t, "go", "-C", "../..", "build", "-o", programs+"/", "./cmd/gnocco")
	rig := filepath.Join(dir, "gnocchi")
	t.Cleanup(func() { run(t, "bash", filepath.Join(filepath.Dir(up), "gnocchi-down.sh"), rig) })
	g := gnocchi{strings.TrimSpace(run(t, "bash", up, rig, fmt.Sprint(*besidePort), "--max-limit", "1000",
		"--metricd", "1"))}
	g.seed(t, *besideResources, 10, 60)
	g.drained(t)

	migrate := func(flags ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(programs, "gnocco-migrate"), flags...)
		cmd.Env = append(os.Environ(), "OS_AUTH_URL=", "OS_TOKEN=")
		return cmd
	}
	gnocco := filepath.Join(programs, "gnocco")
	// cutOver follows the Gnocchi with passes into a folder while a counter gets measures all the time, until the
	// folder is served.
	cutOver := func(folder, lag string, pass func(more ...string) *exec.Cmd) {
		t.Helper()
		var metric struct{ ID string }
		g.must(t, "POST", "/v1/metric", object{"archive_policy_name": "six", "name": "counter"}, &metric)
		stop := make(chan struct{})
		var sent atomic.Int64
		var writer sync.WaitGroup
		const second = seedBegin + 1_000_000
		writer.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
				}
				n := sent.Load()
				if err := g.send("POST", "/v1/metric/"+metric.ID+"/measures",
					[]object{{"timestamp": second + n, "value": n}}, nil); err != nil {
					t.Error(err)
					return
				}
				sent.Add(1)
			}
		})
		t.Log(output(t, pass("--follow", "--lag", lag)))
		close(stop)
		writer.Wait()
		paused := time.Now()
		g.drained(t)
		t.Log(output(t, pass()))
		copy := serve(t, gnocco, folder)
		t.Logf("writers paused for %v", time.Since(paused).Round(100*time.Millisecond))
		t.Log(output(t, migrate("--from", g.url, "--user", "admin", "--verify", "--to-url", copy.url)))
		for _, of := range []gnocchi{g, copy} {
			var rows [][3]any
			of.must(t, "GET", "/v1/metric/"+metric.ID+"/measures?aggregation=count&granularity=300", nil, &rows)
			var count float64
			for _, row := range rows {
				count += row[2].(float64)
			}
			if count != float64(sent.Load()) {
				t.Errorf("%s has %v of %d measures", of.url, count, sent.Load())
			}
		}
	}

	copied := filepath.Join(dir, "copied")
	byREST := func(more ...string) *exec.Cmd {
		return migrate(append([]string{"--from", g.url, "--user", "admin", "--to", copied, "--workers", "4"},
			more...)...)
	}
	killed(t, copied, 15*time.Second, byREST)
	cutOver(copied, "60s", byREST)

	// From the database and the files: at once, and killed meanwhile.
	direct := filepath.Join(dir, "direct")
	fromConfig := func(more ...string) *exec.Cmd {
		return migrate(append([]string{"--from-config", filepath.Join(rig, "gnocchi.conf"), "--to", direct},
			more...)...)
	}
	began := time.Now()
	t.Log(output(t, fromConfig()))
	took := time.Since(began)
	fatal.If(t, os.RemoveAll(direct))
	killed(t, direct, took, fromConfig)
	cutOver(direct, "10s", fromConfig)
}

// killed starts passes into a folder and kills as many as -beside.kills says, each at a random moment before most. One
// that was complete before is thrown away. So at the end there is a pass that was cut short.
func killed(t *testing.T, to string, most time.Duration, pass func(more ...string) *exec.Cmd) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 59)) // of a moment that nobody can repeat anyway
	var written []int                                               // archives, as of each kill
	complete := 0
	for len(written) < *besideKills {
		var more []string
		if _, err := os.Stat(to + stageSuffix); err == nil {
			more = []string{"--resume"}
		}
		cmd := pass(more...)
		fatal.If(t, cmd.Start())
		time.Sleep(time.Duration(rng.Int64N(int64(most))))
		_ = cmd.Process.Kill()
		if err := cmd.Wait(); err == nil {
			complete++
			fatal.If(t, os.RemoveAll(to))
			continue
		}
		progress, _ := os.ReadFile(filepath.Join(to+stageSuffix, logFile)) // not there before the first
		written = append(written, bytes.Count(progress, []byte("\n")))
	}
	t.Logf("killed %d times, %d others were complete; archives that were written at each kill: %v",
		len(written), complete, written)
}

// run runs a command to its end and returns what it says.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	return output(t, exec.Command(name, args...))
}

// output runs a command to its end and returns what it says; without a test failing, to its standard output only.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", strings.Join(cmd.Args, " "), err, out, errs.String())
	}
	return string(out)
}

var servingURL = regexp.MustCompile(`msg=serving url=(\S+)`)

// serve starts a server on a data folder until the test ends.
func serve(t *testing.T, program, data string) gnocchi {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.Command(program, "serve", "--data", data, "--listen", "127.0.0.1:0", "--min-free-bytes",
		"1MiB", "--log-file", log)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	fatal.If(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(log)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if m := servingURL.FindSubmatch(text); m != nil {
			g := gnocchi{string(m[1])}
			if response, err := http.Get(g.url + "/ready"); err == nil {
				_ = response.Body.Close()
				if response.StatusCode == http.StatusOK {
					return g
				}
			}
		}
	}
	t.Fatal("the server does not start")
	return gnocchi{}
}
