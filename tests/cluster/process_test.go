package cluster_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// binaries is the folder of the programs that TestMain built.
var binaries string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "gnocco-cluster-")
	if err != nil {
		panic(err)
	}
	binaries = dir
	build := exec.Command("go", "build", "-o", dir, "gnocco/cmd/gnocco", "gnocco/cmd/metricd")
	build.Stderr = os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, "cluster: build:", err)
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// process is a running process of the cluster.
type process struct {
	t     testing.TB
	cmd   *exec.Cmd
	log   safeBuffer
	url   string        // of the API, or of a metricd's figures
	ended chan struct{} // closed when it is gone
}

// safeBuffer is written while it is read.
type safeBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

var serving = regexp.MustCompile(`msg=serving url=(\S+)`)

// start starts a process of a role on a data folder and waits until it serves. metricd is the program of that name.
func start(t testing.TB, data, role string, flags ...string) *process {
	t.Helper()
	return host{data: data, address: "127.0.0.1"}.start(t, role, flags...)
}

// host is where processes are started: a machine, or what plays one.
type host struct {
	data    string   // the data folder as it is mounted there
	address string   // IP address that the others reach it by
	enter   []string // command that runs another there; nil for here
}

// start starts a process of a role and waits until it serves.
func (h host) start(t testing.TB, role string, flags ...string) *process {
	t.Helper()
	p := h.launch(t, role, flags...)
	p.eventually("serves", func() bool {
		if m := serving.FindStringSubmatch(p.log.String()); m != nil {
			p.url = m[1]
		}
		return p.url != ""
	})
	return p
}

// launch starts a process of a role.
func (h host) launch(t testing.TB, role string, flags ...string) *process {
	t.Helper()
	args := []string{role, "--data", h.data, "--listen", h.address + ":0", "--peer-listen", h.address + ":0",
		"--min-free-bytes", "1MiB", "--sacks", "8", "--log-level", "debug"}
	program := "gnocco"
	if role == "metricd" {
		program, args = "metricd", append(args[1:], "--checkpoint-interval", "300ms")
	}
	args = append(append(append([]string{}, h.enter...), filepath.Join(binaries, program)), append(args, flags...)...)
	p := &process{t: t, cmd: exec.Command(args[0], args[1:]...), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("log of %s:\n%s", role, p.log.String())
		}
	})
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	return p
}

// kill ends the process as a crash would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// stop ends the process in order.
func (p *process) stop() {
	p.t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(30 * time.Second):
		_ = p.cmd.Process.Signal(syscall.SIGQUIT) // for the stacks of its goroutines
		<-p.ended
		p.t.Fatalf("does not stop:\n%s", p.log.String())
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		p.t.Fatalf("stopped with status %d:\n%s", code, p.log.String())
	}
}

// eventually waits until something is so.
func (p *process) eventually(what string, is func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		select {
		case <-p.ended:
			p.t.Fatalf("process ended, waiting until it %s:\n%s", what, p.log.String())
		default:
		}
		if time.Now().After(deadline) {
			_ = p.signal(syscall.SIGQUIT) // for the stacks of its goroutines
			<-p.ended
			p.t.Fatalf("not so in time: it %s; log:\n%s", what, p.log.String())
		}
	}
}

var browser = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}

// do sends a request as admin and returns the answer's status, headers and body.
func (p *process) do(method, path, body string) (int, http.Header, []byte, error) {
	return p.doWith(http.Header{}, method, path, body)
}

// doWith is do with headers of its own.
func (p *process) doWith(header http.Header, method, path, body string) (int, http.Header, []byte, error) {
	request, err := http.NewRequestWithContext(context.Background(), method, p.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	request.Header = header
	request.SetBasicAuth("admin", "")
	request.Header.Set("Accept", "application/json")
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := browser.Do(request)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, response.Header, answer, err
}

func (p *process) mustDo(method, path, body string, want int) []byte {
	p.t.Helper()
	status, _, answer, err := p.do(method, path, body)
	if err != nil || status != want {
		p.t.Fatalf("%s %s: %d %s %v\n%s", method, path, status, answer, err, p.log.String())
	}
	return answer
}

// signal sends a signal to the process, also if another command runs it.
func (p *process) signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }
