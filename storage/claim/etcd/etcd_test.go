package etcd_test

import (
	"errors"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/internal/etcdaccess"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/claim/etcd"
	"github.com/gnocco-db/gnocco/tests/claimtest"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testprogram"
)

// startServer runs the machine's etcd, and returns its endpoint and process.
func startServer(t *testing.T) (string, *exec.Cmd) {
	t.Helper()
	program, err := exec.LookPath("etcd")
	if err != nil {
		t.Skip("this machine has no etcd")
	}
	var urls []string
	for range 2 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		fatal.If(t, err)
		urls = append(urls, "http://"+listener.Addr().String())
		fatal.If(t, listener.Close())
	}
	cmd := exec.Command(program, "--data-dir", filepath.Join(t.TempDir(), "etcd"), "--log-level", "error",
		"--listen-client-urls", urls[0], "--advertise-client-urls", urls[0],
		"--listen-peer-urls", urls[1], "--initial-advertise-peer-urls", urls[1], "--initial-cluster",
		"default="+urls[1])
	fatal.If(t, testprogram.EndWithTest(cmd).Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return strings.TrimPrefix(urls[0], "http://"), cmd
}

func open(t *testing.T, root, endpoint string, o claim.Options) claim.Coordinator {
	t.Helper()
	c, err := etcd.New(root, etcd.Options{
		Settings: etcdaccess.Settings{Endpoints: []string{endpoint}}, Options: o, Timeout: 20 * time.Second})
	fatal.If(t, err)
	return c
}

func TestCoordinator(t *testing.T) {
	endpoint, _ := startServer(t)
	root := t.TempDir()
	claimtest.Run(t, root, func() claim.Coordinator { return open(t, root, endpoint, claim.Options{}) })
}

// Epochs go on above those of the other coordinator, and come to be behind them only with an error.
func TestEpochsAreAboveTheDisk(t *testing.T) {
	endpoint, _ := startServer(t)
	root := t.TempDir()
	if _, err := claim.TakeOver(vfs.Default, root, "sacks/003", 5000); err != nil {
		t.Fatal(err)
	}
	a := claimtest.Join(t, open(t, root, endpoint, claim.Options{}), "a")
	c, err := a.Claim(t.Context(), "index")
	if err != nil || c.Epoch <= 5000 {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := claim.TakeOver(vfs.Default, root, "sacks/004", 9000); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Claim(t.Context(), "sacks/004"); err == nil || !strings.Contains(err.Error(), "behind the disk") {
		t.Errorf("claim of a store from the future: %v", err)
	}
	if _, err := open(t, root, endpoint, claim.Options{}).Join(t.Context(), claim.Member{Node: "b"}); err == nil {
		t.Error("joined an etcd that is behind the disk")
	}
	fatal.If(t, a.Leave(t.Context()))
	b := claimtest.Join(t, open(t, root, endpoint, claim.Options{}), "b")
	if c, err := b.Claim(t.Context(), "sacks/004"); err != nil || c.Epoch <= 9000 {
		t.Errorf("%+v, %v", c, err)
	}
}

// While etcd does not answer, the lease is suspended. Once it answers, the process holds what it held, and others can
// claim that when it has left.
func TestServerStops(t *testing.T) {
	endpoint, server := startServer(t)
	root := t.TempDir()
	o := claim.Options{TTL: 3 * time.Second, Slack: time.Second}
	a := claimtest.Join(t, open(t, root, endpoint, o), "a")
	if _, err := a.Claim(t.Context(), "index"); err != nil {
		t.Fatal(err)
	}
	await := func(valid bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); a.Valid() != valid; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the lease: %v", a.Err())
			}
		}
	}
	fatal.If(t, server.Process.Signal(syscall.SIGSTOP))
	await(false)
	if err := a.Err(); !errors.Is(err, claim.ErrSuspended) {
		t.Errorf("lease: %v", err)
	}
	fatal.If(t, server.Process.Signal(syscall.SIGCONT))
	await(true)
	b := claimtest.Join(t, open(t, root, endpoint, o), "b")
	changed := b.Watch(t.Context())
	if _, err := b.Claim(t.Context(), "index"); !errors.Is(err, claim.ErrHeld) {
		t.Fatalf("claim of what another process holds: %v", err)
	}
	fatal.If(t, a.Leave(t.Context()))
	for {
		_, err := b.Claim(t.Context(), "index")
		if err == nil {
			return
		}
		if !errors.Is(err, claim.ErrHeld) {
			t.Fatal(err)
		}
		<-changed
	}
}

func TestEndpointsAreNeeded(t *testing.T) {
	if _, err := etcd.New(t.TempDir(), etcd.Options{}); err == nil {
		t.Error("no endpoint was accepted")
	}
}
