package main_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// The kernel may wake every thread of a server late, the Go runtime's own among them, and ps shows the name that it was
// started by. A slack that somebody chose is kept.
func TestTimerSlack(t *testing.T) {
	link := filepath.Join(t.TempDir(), "metricd")
	fatal.If(t, os.Symlink(program, link))
	f := func(name string, slack, want uintptr, args ...string) {
		t.Helper()
		args = append(args, "--listen", "127.0.0.1:0", "--min-free-bytes", "1MiB", "--init",
			"--data", filepath.Join(t.TempDir(), "data"))
		s := serveWithSlack(t, slack, exec.Command(name, args...))
		process := fmt.Sprintf("/proc/%d", s.cmd.Process.Pid)
		threads, err := os.ReadDir(process + "/task")
		fatal.If(t, err)
		for _, thread := range threads {
			got, err := os.ReadFile("/proc/" + thread.Name() + "/timerslack_ns")
			if errors.Is(err, fs.ErrPermission) {
				t.Skip("only root may see another process's timer slack")
			}
			if err == nil && strings.TrimSpace(string(got)) != fmt.Sprint(want) {
				t.Errorf("%s %s: thread %s has %s, want %d", filepath.Base(name), args[0], thread.Name(), got, want)
			}
		}
		comm, err := os.ReadFile(process + "/comm")
		if err != nil || strings.TrimSpace(string(comm)) != filepath.Base(name) {
			t.Errorf("%s is called %s, %v", name, comm, err)
		}
		if status := s.end(syscall.SIGTERM); status != 0 {
			t.Errorf("%s: status %d", name, status)
		}
	}
	late := uintptr(200_000)
	if runtime.GOMAXPROCS(0) <= 4 {
		late = 2_000_000
	}
	f(program, 50_000, late, "serve")
	f(link, 50_000, late, "--log-level", "info")
	f(program, 70_000, 70_000, "serve")
}

// serveWithSlack is serveBy for a process that begins with a timer slack in nanoseconds.
func serveWithSlack(t *testing.T, slack uintptr, cmd *exec.Cmd) *served {
	t.Helper()
	runtime.LockOSThread() // a process inherits that of the thread that starts it
	defer runtime.UnlockOSThread()
	own, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	fatal.If(t, err)
	fatal.If(t, unix.Prctl(unix.PR_SET_TIMERSLACK, slack, 0, 0, 0))
	defer func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(own), 0, 0, 0) }()
	return serveBy(t, cmd)
}
