package cluster_test

import (
	"bytes"
	"cmp"
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

	"github.com/gnocco-db/gnocco/tests/testprogram"
)

// binaries is the folder of the programs that TestMain built.
var binaries string

func TestMain(m *testing.M) {
	dir, err := testprogram.Build("gnocco", "metricd")
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
	binaries = dir
	status := m.Run()
	for _, reason := range waitedInVain { // once more below the logs, since a reader may have only their end
		fmt.Println(reason)
	}
	os.Exit(status)
}

// patience bounds waits for conditions that must come true, however slow the machine is. It decides on no test's
// outcome.
const patience = 2 * time.Minute

// waitedInVain has a line for each wait that was given up.
var waitedInVain []string

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

	mounted  bool   // the data folder was made before
	programs string // folder of the programs; "": binaries
}

// start starts a process of a role and waits until it serves.
func (h host) start(t testing.TB, role string, flags ...string) *process {
	t.Helper()
	p := h.launch(t, role, flags...)
	p.awaitServing()
	return p
}

// awaitServing waits until a process serves.
func (p *process) awaitServing() {
	p.t.Helper()
	p.eventually("serves", func() bool {
		if m := serving.FindStringSubmatch(p.log.String()); m != nil {
			p.url = m[1]
		}
		return p.url != ""
	})
}

// launch starts a process of a role.
func (h host) launch(t testing.TB, role string, flags ...string) *process {
	t.Helper()
	args := []string{role, "--data", h.data, "--listen", h.address + ":0", "--peer-listen", h.address + ":0",
		"--min-free-bytes", "1MiB", "--sacks", "8", "--log-level", "debug"}
	if h.programs == "" && !h.mounted {
		args = append(args, "--init")
	}
	program := "gnocco"
	if role == "metricd" {
		program, args = "metricd", append(args[1:], "--checkpoint-interval", "300ms")
	}
	args = append(append(append([]string{}, h.enter...), filepath.Join(cmp.Or(h.programs, binaries), program)),
		append(args, flags...)...)
	p := &process{t: t, cmd: exec.Command(args[0], args[1:]...), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	if err := testprogram.EndWithTest(p.cmd).Start(); err != nil {
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
	case <-time.After(patience):
		p.giveUp("stops")
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		p.t.Fatalf("stopped with status %d:\n%s", code, p.log.String())
	}
}

// eventually waits until something is so.
func (p *process) eventually(what string, is func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(10 * time.Millisecond) {
		select {
		case <-p.ended:
			p.t.Fatalf("process ended, waiting until it %s:\n%s", what, p.log.String())
		default:
		}
		if time.Now().After(deadline) {
			p.giveUp(what)
		}
	}
}

// giveUp ends the process and the test, with the stacks of the process's goroutines.
func (p *process) giveUp(what string) {
	p.t.Helper()
	_ = p.signal(syscall.SIGQUIT)
	<-p.ended
	reason := fmt.Sprintf("%s: not so in time: it %s", p.t.Name(), what)
	waitedInVain = append(waitedInVain, reason)
	p.t.Fatalf("%s; log:\n%s", reason, p.log.String())
}

// browser waits longer than any limit of the server's, which answers 503 then.
var browser = &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}

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

// pause stops the process, and waits until none of its threads runs any more: one may still answer when the signal has
// been sent. It goes on with SIGCONT.
func (p *process) pause() {
	p.t.Helper()
	if err := p.signal(syscall.SIGSTOP); err != nil {
		p.t.Fatal(err)
	}
	p.eventually("stands still", func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.cmd.Process.Pid))
		if err != nil || len(threads) == 0 {
			p.t.Fatal(threads, err)
		}
		for _, thread := range threads {
			stat, err := os.ReadFile(thread)
			_, state, _ := bytes.Cut(stat, []byte(") ")) // behind the program's name
			if err != nil || !bytes.HasPrefix(state, []byte("T")) {
				return false
			}
		}
		return true
	})
}
