package disks_test

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// xstate lets guests start on processors with AMX.
//
//go:embed testdata/xstate.c
var xstate []byte

// Guests of user-mode Linux boot from this machine's root in a few seconds, as plain processes. Each has a kernel of
// its own, and with it a client or server of NFS.
const (
	guestBegins = `#!/bin/bash
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t tmpfs tmp /run; mount -t tmpfs tmp /mnt
mkdir -p /run/lock /run/rpc_pipefs /mnt/disk
mod() { modprobe -d %[1]s/modules "$@"; }
ip link set lo up; ip addr add %[2]s/24 dev vec0; ip link set vec0 up
hostname %[3]s
`
	serverBegins = `mod nfsd; mod ext4
mount -t ext4 /dev/ubda /mnt/disk || exit
mkdir -p /mnt/disk/export /mnt/disk/nfs/{nfsdcld,sm,v4recovery,rpc_pipefs}
mount --bind /mnt/disk/nfs /var/lib/nfs; mount -t rpc_pipefs rp /run/rpc_pipefs; mount -t nfsd nfsd /proc/fs/nfsd
touch /var/lib/nfs/{etab,rmtab}
echo 15 >/proc/fs/nfsd/nfsv4leasetime; echo 15 >/proc/fs/nfsd/nfsv4gracetime
nfsdcld; exportfs -o rw,no_root_squash,no_subtree_check,fsid=0,sync 10.99.0.0/24:/mnt/disk/export
rpc.nfsd -N 3 8; rpc.mountd -N 3
`
	nodeBegins = `mod nfsv4; mount -t rpc_pipefs rp /run/rpc_pipefs
`
	// guestObeys runs the scripts that are laid before the guest.
	guestObeys = `cd %s; mkfifo /run/never; exec 9<>/run/never; touch up
while :; do
	for f in *.todo; do
		n=${f%%.todo}
		[ -e "$f" ] || continue
		mv "$f" "$n.sh"
		(bash "$n.sh" >"$n.out" 2>&1 </dev/null; echo $? >"$n.new"; mv "$n.new" "$n.rc") &
	done
	read -t .1 -u 9 # waits without a process, which is dear here
done
`
	nfsServer = "10.99.0.30"
)

// guest is a user-mode Linux.
type guest struct {
	f             *fileSystem
	name, address string
	begins, flags string // what it does at boot; of the kernel
	memory        int    // MiB

	group   string // of processes here
	scripts atomic.Int64
}

func (g *guest) dir() string { return filepath.Join(g.f.work, g.name) }

// boot starts the guest.
func (g *guest) boot() {
	g.f.t.Helper()
	must(g.f.t, `rm -rf %[1]s; mkdir -p %[1]s; ip link show %[2]s >/dev/null 2>&1 ||
		{ ip tuntap add %[2]s mode tap; ip link set %[2]s master br0; }; ip link set %[2]s up`, g.dir(), g.tap())
	init := filepath.Join(g.f.work, g.name+".init")
	script := fmt.Sprintf(guestBegins, g.f.work, g.address, g.name) + g.begins + fmt.Sprintf(guestObeys, g.dir())
	if err := os.WriteFile(init, []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		g.f.t.Fatal(err)
	}
	g.group = must(g.f.t, `TMPDIR=/dev/shm LD_PRELOAD=%s setsid linux.uml mem=%dM rootfstype=hostfs rootflags=/ rw init=%s con=null \
		con0=null,fd:1 uml_dir=%s umid=%s vec0:transport=tap,ifname=%s %s panic=1 >>%s.console 2>&1 </dev/null & echo $!`,
		g.f.preload, g.memory, init, g.f.work, g.name, g.tap(), g.flags, g.dir())
	eventually(g.f.t, time.Duration(g.f.slow)*time.Minute, g.name+" is up", func() bool {
		_, err := os.Stat(filepath.Join(g.dir(), "up"))
		return err == nil
	})
}

// tap is the switch's end of the guest's link.
func (g *guest) tap() string { return "t" + g.name }

// powerOff ends the guest as a power cut does, if there is one.
func (g *guest) powerOff() {
	if g != nil && g.group != "" {
		_, _ = output("sh", "-c", "kill -9 -"+g.group)
		g.group = ""
	}
}

// guestTime bounds a command in a guest, whose system calls are slow where cores are shared.
const guestTime = 5 * commandTime

var errGuest = errors.New("the guest")

// sh runs a script in the guest, and returns what it prints.
func (g *guest) sh(script string) (text string, err error) {
	if g.group == "" {
		return "", fmt.Errorf("%w %s is off", errGuest, g.name)
	}
	base := filepath.Join(g.dir(), fmt.Sprint(g.scripts.Add(1)))
	if err := os.WriteFile(base+".new", []byte(script), 0o600); err != nil {
		return "", err
	}
	if err := os.Rename(base+".new", base+".todo"); err != nil {
		return "", err
	}
	for end := time.Now().Add(guestTime); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		status, err := os.ReadFile(base + ".rc")
		if err != nil {
			continue
		}
		out, err := os.ReadFile(base + ".out")
		text = strings.TrimSpace(string(out))
		if code := strings.TrimSpace(string(status)); err == nil && code != "0" {
			err = fmt.Errorf("%w %s: %q: status %s: %s", errGuest, g.name, script, code, text)
		}
		return text, err
	}
	return "", fmt.Errorf("%w %s does not answer: %q", errGuest, g.name, script)
}

// nfs is NFS 4.2 between kernels. Server and nodes are guests of user-mode Linux, whose system calls take many times as
// long as others: the ledger and fsck judge it, no clock does.
func (f *fileSystem) nfs() {
	f.slow = 4
	f.needs = []string{"linux.uml", "rpc.nfsd", "rpc.mountd", "nfsdcld", "exportfs", "mount.nfs", "modprobe",
		"mkfs.ext4"}
	cpu, _ := os.ReadFile("/proc/cpuinfo")
	amx := bytes.Contains(cpu, []byte("amx_tile"))
	if amx {
		f.needs = append(f.needs, "gcc")
	}
	server := &guest{f: f, name: "server", address: nfsServer, begins: serverBegins, memory: 512}
	guests := make([]*guest, nodes)
	f.setUp = func() {
		if amx {
			f.preload = filepath.Join(f.work, "xstate.so")
			source := filepath.Join(f.work, "xstate.c")
			if err := os.WriteFile(source, xstate, 0o600); err != nil {
				f.t.Fatal(err)
			}
			must(f.t, "gcc -shared -fPIC -O2 -o %s %s", f.preload, source)
		}
		// Guests have the addresses of the namespaces.
		must(f.t, `cd %s; truncate -s 700M img; mkfs.ext4 -q img; mkdir -p modules/lib
ln -s /usr/lib/uml/modules modules/lib/modules; for i in 0 1 2; do ip link set vn$i down; done; ip neigh flush all`, f.work)
		server.flags = fmt.Sprintf("ubd0=%s/img", f.work)
		server.boot()
		for i, n := range f.nodes {
			g := &guest{f: f, name: fmt.Sprintf("node%d", i), address: n.address, begins: nodeBegins, memory: 1200}
			guests[i], n.guest = g, g
		}
	}
	f.cleanUp = func() {
		for _, g := range append(guests, server) {
			g.powerOff()
		}
		must(f.t, "for i in 0 1 2; do ip link set vn$i up; done; ip neigh flush all")
	}
	mount := func(n *node) {
		if out, err := n.sh("mount -t nfs -o vers=4.2,hard,lookupcache=none,actimeo=1 %s:/ %s", nfsServer, n.mount); err != nil {
			f.t.Fatal(err, out)
		}
		f.mounted(n)
	}
	f.mount = func(n *node) {
		n.guest.boot()
		mount(n)
	}
	f.crash = func(n *node) { n.guest.powerOff() }
	f.again = func(n *node) {
		_, _ = n.sh("umount -l %s", n.mount)
		mount(n)
	}
	f.link = func(n *node) string { return n.guest.tap() }
	f.off, f.on = server.powerOff, server.boot
	export := func(script string) {
		if out, err := server.sh("cd /mnt/disk/export; " + script); err != nil {
			f.t.Fatal(err, out)
		}
	}
	f.fill = func() { export(fillFolder) }
	f.free = func() { export("rm -f .filler*") }
}
