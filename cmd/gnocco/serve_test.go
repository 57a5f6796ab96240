package main_test

import (
	"bytes"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

const secondsPolicy = `{"name": "seconds", "back_window": 1, "aggregation_methods": ["sum", "count"], "definition": [{"granularity": 1, "points": 1000}]}`

func TestServeKeepsWhatItAccepted(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, "--data", data, "--sacks", "3")
	s.call(http.MethodPost, "/v1/archive_policy", secondsPolicy, http.StatusCreated, nil)
	var metric struct{ ID string }
	s.call(http.MethodPost, "/v1/metric", `{"archive_policy_name": "seconds"}`, http.StatusCreated, &metric)
	path := "/v1/metric/" + metric.ID + "/measures"
	send := func(second, value string) {
		t.Helper()
		s.call(http.MethodPost, path, `[{"timestamp": "2026-01-01T00:00:0`+second+`", "value": `+value+`}]`,
			http.StatusAccepted, nil)
	}
	want := func(rows ...string) {
		t.Helper()
		if got := s.measures(path + "?aggregation=sum&refresh=true"); got != strings.Join(rows, "\n") {
			t.Errorf("got\n%s\nwant\n%s", got, strings.Join(rows, "\n"))
		}
	}
	const first, second, third = "2026-01-01T00:00:01+00:00 1 1.5", "2026-01-01T00:00:02+00:00 1 2.5",
		"2026-01-01T00:00:03+00:00 1 3"

	send("1", "1.5")
	want(first)
	if status := s.end(syscall.SIGTERM); status != 0 {
		t.Errorf("after SIGTERM: status %d, log:\n%s", status, s.logged())
	}
	s = serve(t, "--data", data)
	want(first)
	send("2", "2.5")
	s.end(syscall.SIGKILL)
	s = serve(t, "--data", data)
	want(first, second)
	send("3", "3")
	want(first, second, third)

	// A second one joins, gets its share of the sacks, and passes on what it does not hold.
	alone := s
	s = serve(t, "--data", data)
	want(first, second, third)
	if status := s.end(syscall.SIGTERM); status != 0 {
		t.Errorf("second serve after SIGTERM: status %d, log:\n%s", status, s.logged())
	}
	s = alone
	want(first, second, third)
	if _, stderr, status := run(t, "", "fsck", "--data", data); status != 2 ||
		!strings.Contains(stderr, "in use") {
		t.Errorf("fsck of a running server's folder: status %d: %s", status, stderr)
	}
	if status := s.end(syscall.SIGINT); status != 0 {
		t.Errorf("after SIGINT: status %d, log:\n%s", status, s.logged())
	}
	if _, stderr, status := run(t, "", "serve", "--data", data, "--listen", "127.0.0.1:0", "--sacks",
		"4"); status != 1 || !strings.Contains(stderr, "made with --sacks 3") {
		t.Errorf("other number of sacks: status %d: %s", status, stderr)
	}

	s = serve(t, "--data", data)
	send("2", "2.5") // late, and the same again
	want(first, second, third)
	s.end(syscall.SIGTERM)
}

func TestServeRefusesWhatItCannotDo(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		_, stderr, status := run(t, "", append([]string{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir()},
			args...)...)
		if status != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%q: status %d: %s", args, status, stderr)
		}
	}
	f("number of sacks is 4097", "--sacks", "4097")
	f(`invalid argument "-1" for "--sacks"`, "--sacks", "-1")
	f("memory limit is 1024 bytes", "--memory-limit", "1KiB")
	f("is not a size", "--memory-limit", "much")
	f("--log-level", "--log-level", "loud")
	f("--log-format", "--log-format", "xml")
	f("Prefix", "--prefix", "gnocchi/")
	f("listen", "--listen", "127.0.0.1:99999")
	f("unknown flag: --nonsense (gnocco serve --help lists them)", "--nonsense")
	f("unknown flag: --max-limits (did you mean --max-limit?)", "--max-limits", "3")
	f("configuration file", "--config", "/nonexistent.toml")
}

// TestSIGTERMDuringTheStart sends the signal at moments around the start: the end is orderly, or, before there is
// anybody to catch it, the signal's own.
func TestSIGTERMDuringTheStart(t *testing.T) {
	data := t.TempDir()
	for wait := range 12 {
		cmd := exec.Command(program, "serve", "--data", data, "--listen", "127.0.0.1:0")
		var log bytes.Buffer
		cmd.Stderr = &log
		fatal.If(t, cmd.Start())
		time.Sleep(time.Duration(wait) * 8 * time.Millisecond)
		fatal.If(t, cmd.Process.Signal(syscall.SIGTERM))
		_ = cmd.Wait()
		if status := cmd.ProcessState.ExitCode(); status > 0 {
			t.Errorf("after %d ms: status %d, log:\n%s", wait*8, status, log.String())
		}
	}
}
