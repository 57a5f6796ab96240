package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/cutest"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testprogram"
)

// program is the built binary.
var program string

func TestMain(m *testing.M) {
	dir, err := testprogram.Build("gnocco", "gnocco-client", "gnocco-import", "gnocco-migrate")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program = filepath.Join(dir, "gnocco")
	// Tests mostly wait for processes, which mostly wait for the disk: four at once are what two processors can do.
	flag.Parse()
	_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	os.Exit(m.Run())
}

// run runs the program to its end and returns what it printed and its exit status.
func run(t *testing.T, stdin string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// served is a running serve, api or metricd command.
type served struct {
	t    *testing.T
	cmd  *exec.Cmd
	url  string
	done chan struct{} // closed once it has ended

	mu  sync.Mutex
	log bytes.Buffer
}

var servingURL = regexp.MustCompile(`msg=serving url=(http://\S+)`)

// serve starts the program on a free port and waits until it serves.
func serve(t *testing.T, args ...string) *served {
	t.Helper()
	return serveAs(t, "serve", args...)
}

// serveAs is serve for a command that serves.
func serveAs(t *testing.T, command string, args ...string) *served {
	t.Helper()
	return serveBy(t, exec.Command(program, append([]string{command, "--listen", "127.0.0.1:0", "--min-free-bytes",
		"1MiB", "--init", "--lease-ttl", "1m"}, args...)...)) // on a busy machine
}

// serveBy is serve for a command line of any form.
func serveBy(t *testing.T, cmd *exec.Cmd) *served {
	t.Helper()
	s := &served{t: t, cmd: cmd, done: make(chan struct{})}
	stderr, err := s.cmd.StderrPipe()
	fatal.If(t, err)
	fatal.If(t, testprogram.EndWithTest(s.cmd).Start())
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.done
	})
	found := make(chan string, 1)
	go func() {
		defer close(s.done)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			s.mu.Lock()
			fmt.Fprintln(&s.log, lines.Text())
			s.mu.Unlock()
			if m := servingURL.FindStringSubmatch(lines.Text()); m != nil {
				found <- m[1]
			}
		}
		_ = s.cmd.Wait()
	}()
	select {
	case s.url = <-found:
	case <-s.done:
		t.Fatalf("serve ended:\n%s", s.logged())
	case <-time.After(2 * time.Minute):
		t.Fatalf("serve does not serve:\n%s", s.logged())
	}
	return s
}

func (s *served) logged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// end sends a signal and waits for the exit status, -1 if the signal itself ended the process.
func (s *served) end(signal syscall.Signal) int {
	s.t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
	select {
	case <-s.done:
	case <-time.After(2 * time.Minute):
		s.t.Fatalf("serve does not end:\n%s", s.logged())
	}
	return s.cmd.ProcessState.ExitCode()
}

// call sends a request as admin and decodes the answer, which must have this status, into answer unless nil.
func (s *served) call(method, path, body string, status int, answer any) {
	s.t.Helper()
	s.callAny(method, path, body, answer, status)
}

// callAny is call for an answer with any of these statuses, which it returns.
func (s *served) callAny(method, path, body string, answer any, statuses ...int) int {
	s.t.Helper()
	request, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.SetBasicAuth("admin", "")
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatalf("%v; log:\n%s", err, s.logged())
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || !slices.Contains(statuses, response.StatusCode) {
		s.t.Fatalf("%s %s: %d, want %d: %s (%v)", method, path, response.StatusCode, statuses, text, err)
	}
	if answer != nil {
		if err := json.Unmarshal(text, answer); err != nil {
			s.t.Fatalf("%s %s: %v in %s", method, path, err, text)
		}
	}
	return response.StatusCode
}

// measures reads aggregates, as [timestamp granularity value] lines.
func (s *served) measures(path string) string {
	s.t.Helper()
	var rows [][]any
	s.call(http.MethodGet, path, "", http.StatusOK, &rows)
	var lines []string
	for _, row := range rows {
		lines = append(lines, strings.Trim(fmt.Sprint(row), "[]"))
	}
	return strings.Join(lines, "\n")
}

// figures reads what the server tells at /metrics, by name and labels.
func (s *served) figures() map[string]float64 {
	s.t.Helper()
	response, err := http.Get(s.url + "/metrics")
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	figures := make(map[string]float64)
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), "} ")
		if value != "" {
			name += "}"
		} else {
			name, value, _ = strings.Cut(lines.Text(), " ")
		}
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			figures[name] = v
		}
	}
	if err := lines.Err(); err != nil {
		s.t.Fatal(err)
	}
	return figures
}

// fakeDevice gives the program a device, the kernels of which run on the host, by its environment.
func fakeDevice(t *testing.T) {
	t.Helper()
	library := cutest.BuildKernels(t)
	t.Setenv("GNOCCO_CUDA_DRIVER", cutest.Build(t, t.TempDir()))
	t.Setenv("FAKE_CUDA_KERNELS", library)
	t.Setenv("FAKE_CUDA_MEMORY", "1000000000")
}
