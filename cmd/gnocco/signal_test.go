package main_test

import (
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// All that serve end in order, with status 0, by Ctrl-C, by their supervisor, and when their terminal closes.
func TestSignalsEndInOrder(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			continue // as under nohup, which these tests' processes would inherit
		}
		for _, command := range []string{"serve", "api", "metricd", "demo"} {
			s := serveAs(t, command, "--data", filepath.Join(t.TempDir(), "data"))
			if command == "demo" && !testing.Short() {
				time.Sleep(1500 * time.Millisecond) // it sends by then
			}
			if status := s.end(sig); status != 0 {
				t.Errorf("%s after %s: status %d, log:\n%s", command, sig, status, s.logged())
			}
		}
	}
}

// A terminal that closes may say so twice. Under nohup it says so to nobody.
func TestHangups(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("these tests run under nohup")
	}
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	for range 3 {
		if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			break // it has ended
		}
		time.Sleep(time.Millisecond)
	}
	<-s.done
	if status := s.cmd.ProcessState.ExitCode(); status != 0 {
		t.Errorf("after hangups: status %d, log:\n%s", status, s.logged())
	}
	s = serveBy(t, exec.Command("nohup", program, "serve", "--listen", "127.0.0.1:0", "--min-free-bytes", "1MiB",
		"--data", filepath.Join(t.TempDir(), "data")))
	fatal.If(t, s.cmd.Process.Signal(syscall.SIGHUP))
	select {
	case <-s.done:
		t.Errorf("ended under nohup, log:\n%s", s.logged())
	case <-time.After(300 * time.Millisecond):
	}
	if status := s.end(syscall.SIGTERM); status != 0 {
		t.Errorf("after nohup and SIGTERM: status %d, log:\n%s", status, s.logged())
	}
}
