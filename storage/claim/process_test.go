package claim_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// childRoot, in the environment, makes the test binary a member of that data folder that claims index, and tells about
// its lease.
const childRoot = "GNOCCO_CLAIM_TEST_ROOT"

var childOptions = claim.Options{TTL: 600 * time.Millisecond, Slack: 400 * time.Millisecond}

func TestMain(m *testing.M) {
	if root := os.Getenv(childRoot); root != "" {
		if err := runChild(root); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runChild claims, says so, and tells about its lease at each line that it reads.
func runChild(root string) error {
	coordinator, err := claim.NewFile(root, childOptions)
	if err != nil {
		return err
	}
	s, err := coordinator.Join(context.Background(), claim.Member{Node: "child"})
	if err != nil {
		return err
	}
	c, err := s.Claim(context.Background(), "index")
	if err != nil {
		return err
	}
	fmt.Println("claimed", c.Epoch)
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		fmt.Println(s.Valid(), s.Err())
	}
	return input.Err()
}

type child struct {
	cmd    *exec.Cmd
	input  io.Writer
	output *bufio.Scanner
}

func startChild(t *testing.T, root string) *child {
	t.Helper()
	executable, err := os.Executable()
	fatal.If(t, err)
	cmd := exec.Command(executable)
	cmd.Env = append(os.Environ(), childRoot+"="+root)
	input, err := cmd.StdinPipe()
	fatal.If(t, err)
	output, err := cmd.StdoutPipe()
	fatal.If(t, err)
	err = cmd.Start()
	if errors.Is(err, syscall.ENOEXEC) {
		t.Skip("these tests run below an emulator, and the kernel does not start it by itself")
	}
	fatal.If(t, err)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	c := &child{cmd, input, bufio.NewScanner(output)}
	if line := c.line(t); line != "claimed 1" {
		t.Fatalf("child said %q", line)
	}
	return c
}

func (c *child) line(t *testing.T) string {
	t.Helper()
	if !c.output.Scan() {
		t.Fatalf("child said nothing: %v", c.output.Err())
	}
	return c.output.Text()
}

// claimSoon claims index as soon as its holder is dead.
func claimSoon(t *testing.T, s claim.Session) claim.Claim {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		c, err := s.Claim(ctx, "index")
		if err == nil {
			return c
		}
		if !errors.Is(err, claim.ErrHeld) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// A process that is stopped for longer than its lease finds it lost when it goes on, and another in its place.
func TestStoppedProcessIsFenced(t *testing.T) {
	root := t.TempDir()
	c := startChild(t, root)
	s := join(t, root, "other", childOptions)
	if _, err := s.Claim(t.Context(), "index"); !errors.Is(err, claim.ErrHeld) {
		t.Fatalf("claim of what a live child has: %v", err)
	}
	fatal.If(t, c.cmd.Process.Signal(syscall.SIGSTOP))
	if got := claimSoon(t, s); got.Epoch != 2 {
		t.Errorf("claimed at epoch %d", got.Epoch)
	}
	fatal.If(t, c.cmd.Process.Signal(syscall.SIGCONT))
	fmt.Fprintln(c.input)
	if line := c.line(t); !strings.HasPrefix(line, "false") || !strings.Contains(line, "lease lost") {
		t.Errorf("the child that was stopped says %q", line)
	}
}

// A process that ended on this machine is dead at once, however long leases are.
func TestKilledProcessIsDeadAtOnce(t *testing.T) {
	root := t.TempDir()
	c := startChild(t, root)
	s := join(t, root, "other", claim.Options{TTL: time.Hour})
	watch := s.Watch(t.Context())
	members, err := s.Members(t.Context())
	if err != nil || len(members) != 2 || members[0].Node != "child" {
		t.Fatalf("members %+v, %v", members, err)
	}
	begun := time.Now()
	fatal.If(t, c.cmd.Process.Kill())
	_ = c.cmd.Wait()
	<-watch
	t.Logf("known to be dead after %s", time.Since(begun))
	if members, err := s.Members(t.Context()); err != nil || len(members) != 1 {
		t.Errorf("members after the child's death: %+v, %v", members, err)
	}
	holder, err := s.Holder(t.Context(), "index")
	if err != nil || !holder.Dead {
		t.Errorf("holder %+v, %v", holder, err)
	}
	if got, err := s.Claim(t.Context(), "index"); err != nil || got.Epoch != 2 {
		t.Errorf("claim: %+v, %v", got, err)
	}
}
