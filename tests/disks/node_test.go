package disks_test

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// nodes is the number of machines of a cluster.
const nodes = 3

// node is a machine: a network namespace with a mount of its own, or a guest.
type node struct {
	number  int
	address string
	mount   string // where the file system is mounted there
	guest   *guest // that is the machine; nil: none
	bootID  string // file with that of the machine, in place of the kernel's
}

// boot makes the node another boot of its machine, for processes that start from now on.
func (n *node) boot(t *testing.T) { must(t, "cat /proc/sys/kernel/random/uuid >%s", n.bootID) }

// commandTime bounds a command on a node: a mount may hang.
const commandTime = 40 * time.Second

// sh runs a script on the node, and returns what it prints.
func (n *node) sh(format string, args ...any) (string, error) {
	if n.guest != nil {
		return n.guest.sh(fmt.Sprintf(format, args...))
	}
	return output("nsenter", "--net="+netns(n.number), "sh", "-c", fmt.Sprintf(format, args...))
}

func netns(number int) string { return fmt.Sprintf("/run/netns/n%d", number) }

// output runs a command here, and returns what it prints.
func output(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.WaitDelay = time.Second // what it started may keep its output open
	text, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%q: %w: %s", args, err, text)
	}
	return strings.TrimSpace(string(text)), err
}

// must runs a script here.
func must(t *testing.T, format string, args ...any) string {
	t.Helper()
	text, err := output("bash", "-ec", fmt.Sprintf(format, args...))
	fatal.If(t, err)
	return text
}

// eventually waits until something is so.
func eventually(t *testing.T, patience time.Duration, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so within %s: %s", patience, what)
		}
	}
}

// newNetwork joins namespaces for servers (s0 …) and nodes (n0 …) by a bridge, at 10.99.0.9.
func newNetwork(t *testing.T) {
	t.Helper()
	must(t, `mount --make-rshared /; mount -t tmpfs tmpfs /run; ip link set lo up; ip link add br0 type bridge; ip addr add 10.99.0.9/24 dev br0
ip link set br0 up
add() { ip netns add $1; ip link add v$1 type veth peer name eth0 netns $1; ip link set v$1 master br0 up
	ip -n $1 addr add 10.99.0.$2/24 dev eth0; ip -n $1 link set eth0 up; ip -n $1 link set lo up; }
for i in 0 1 2; do add s$i 1$i; add n$i 2$i; done`)
	t.Cleanup(func() { // for the next test
		_, _ = output("bash", "-c", `for n in s0 s1 s2 n0 n1 n2; do ip link del v$n; ip netns del $n; done; ip link del br0`)
	})
}
