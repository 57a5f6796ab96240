package disks_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// fileSystem is one that nodes share.
type fileSystem struct {
	t     *testing.T
	work  string // folder for its files
	nodes [nodes]*node

	needs   []string // programs
	preload string   // library for user-mode Linux, or ""
	setUp   func()
	cleanUp func() // nil: none beside processes of namespaces and mounts
	slow    int    // times that leases, pauses of clients and patience are longer; above 1 no time is judged
	mount   func(*node)
	crash   func(*node)        // ends the node's mount as a power failure would
	link    func(*node) string // the switch's end of the node's link to its disk
	again   func(*node)        // mounts anew below running processes

	off, on    func() // of the storage
	evict      func(*node)
	fill, free func()
}

// newFileSystem brings up a file system and its mounts, or skips.
func newFileSystem(t *testing.T, kind string) *fileSystem {
	t.Helper()
	f := &fileSystem{t: t, slow: 1}
	switch kind {
	case "local":
		f.local("ext4")
	case "xfs":
		f.local("xfs")
	case "ceph":
		f.ceph()
	case "gluster":
		f.gluster()
	case "nfs":
		f.nfs()
	default:
		t.Fatalf("no file system %q", kind)
	}
	if *slow > 0 {
		f.slow = *slow
	}
	if f.again == nil {
		f.again = func(n *node) {
			f.crash(n)
			f.mount(n)
		}
	}
	for _, program := range append(f.needs, "ip", "nsenter") {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s: %s is not installed", kind, program)
		}
	}
	dir, err := os.MkdirTemp("/var/tmp", "gnocco-disks-")
	fatal.If(t, err)
	f.work = dir
	t.Cleanup(func() {
		for _, n := range f.nodes {
			f.crash(n)
		}
		if f.cleanUp != nil {
			f.cleanUp()
		}
		for i := range nodes { // servers, with all that they started
			must(t, `for pid in $(ip netns pids s%d) $(ip netns pids n%d); do kill -9 $pid || true; done`, i, i)
		}
		must(t, `cd /; grep -o '%s[^ ]*' /proc/mounts | sort -ru | while read at; do umount -l $at || true; done; rm -rf %s`,
			dir, dir)
	})
	for i := range f.nodes {
		f.nodes[i] = &node{number: i, address: fmt.Sprintf("10.99.0.2%d", i), mount: fmt.Sprintf("%s/m%d", dir, i),
			bootID: fmt.Sprintf("%s/boot%d", dir, i)}
		must(t, "mkdir -p %s", f.nodes[i].mount)
		f.nodes[i].boot(t)
	}
	begun := time.Now()
	f.setUp()
	for _, n := range f.nodes {
		f.mount(n)
	}
	t.Logf("%s is up after %.0f s", kind, time.Since(begun).Seconds())
	return f
}

// daemon starts a command in a namespace, and returns its process number.
func (f *fileSystem) daemon(namespace, log, format string, args ...any) string {
	f.t.Helper()
	return must(f.t, `setsid nsenter --net=/run/netns/%s sh -c 'exec %s' >>%s 2>&1 </dev/null & echo $!`, namespace,
		fmt.Sprintf(format, args...), filepath.Join(f.work, log))
}

// mounted waits until a node can write to its mount.
func (f *fileSystem) mounted(n *node) {
	f.t.Helper()
	eventually(f.t, time.Duration(f.slow)*time.Minute, fmt.Sprintf("node %d has its mount", n.number), func() bool {
		_, err := n.sh("mountpoint -q %s && touch %s/.there%d", n.mount, n.mount, n.number)
		return err == nil
	})
}

// fillFolder fills the disk of the working folder to the last block.
const fillFolder = "touch .filler; for size in 64M 8M 1M 64k 4k; do\n" +
	"while fallocate -o $(stat -c %s .filler) -l $size .filler 2>&1; do :; done; done; true"

// veth returns the switch's end of a namespace's link.
func veth(n *node) string { return fmt.Sprintf("vn%d", n.number) }

// local is ext4 or XFS on a loop device, which one kernel serves to all nodes.
func (f *fileSystem) local(format string) {
	f.needs = []string{"mkfs." + format}
	f.setUp = func() {
		must(f.t, `cd %s; truncate -s 600M img; mkfs.%s -q img; mkdir disk; mount -o loop img disk`, f.work, format)
	}
	f.mount = func(n *node) { must(f.t, `mount --bind %s/disk %s`, f.work, n.mount) }
	f.crash = func(n *node) { _, _ = output("umount", "-l", n.mount) }
	f.fill = func() { must(f.t, "cd %s/disk; %s", f.work, fillFolder) }
	f.free = func() { must(f.t, `rm -f %s/disk/.filler*`, f.work) }
}
