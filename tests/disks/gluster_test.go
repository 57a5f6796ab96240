package disks_test

import (
	"fmt"
	"strings"
	"time"
)

// gluster is a volume of three replicas, whose bricks are XFS on loop devices.
func (f *fileSystem) gluster() {
	f.needs = []string{"glusterd", "glusterfs", "gluster", "mkfs.xfs"}
	f.link = veth
	ask := func(format string, args ...any) {
		f.t.Helper()
		eventually(f.t, time.Minute, "gluster "+format, func() bool {
			out, err := output("sh", "-c", fmt.Sprintf(`nsenter -t $(cat %s/s0.pid) -n -m gluster --mode=script %s`, f.work,
				fmt.Sprintf(format, args...)))
			return err == nil && !strings.Contains(out, "Disconnected")
		})
	}
	f.setUp = func() {
		for i := range 3 {
			must(f.t, `cd %s; mkdir -p s%d/lib s%d/log s%d/run s%d/brick; cp -a /var/lib/glusterd/{groups,hooks} s%d/lib/ || true
truncate -s 700M s%d.img; mkfs.xfs -q s%d.img; mount -o loop s%d.img s%d/brick; mkdir s%d/brick/v
setsid nsenter --net=/run/netns/s%d unshare -m --propagation private sh -c '
	mount --bind s%d/lib /var/lib/glusterd; mount --bind s%d/log /var/log/glusterfs; mount --bind s%d/run /run
	mkdir -p /run/gluster; exec glusterd -N' >s%d.out 2>&1 </dev/null & echo $! >s%d.pid`,
				f.work, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i)
		}
		ask("peer probe 10.99.0.11")
		ask("peer probe 10.99.0.12")
		ask("pool list")
		brick := func(i int) string { return fmt.Sprintf("10.99.0.1%d:%s/s%d/brick/v", i, f.work, i) }
		ask("volume create v replica 3 %s %s %s force", brick(0), brick(1), brick(2))
		for _, option := range []string{"network.ping-timeout", "server.tcp-user-timeout", "client.tcp-user-timeout"} {
			ask("volume set v %s 5", option)
		}
		ask("volume start v")
	}
	f.mount = func(n *node) {
		must(f.t, `nsenter --net=%s glusterfs --volfile-server=10.99.0.10 --volfile-id=v --log-file=%s/mount%d.log \
			--pid-file=%s/mount%d.pid %s`, netns(n.number), f.work, n.number, f.work, n.number, n.mount)
		f.mounted(n)
	}
	f.crash = func(n *node) {
		_, _ = output("sh", "-c", fmt.Sprintf("kill -9 $(cat %s/mount%d.pid); umount -l %s", f.work, n.number, n.mount))
	}
	f.off = func() { must(f.t, "for i in 0 1 2; do ip link set vs$i down; done") }
	f.on = func() { must(f.t, "for i in 0 1 2; do ip link set vs$i up; done") }
	each := func(command string) {
		must(f.t, `for i in 0 1 2; do cd %s/s$i/brick; %s; done`, f.work, command)
	}
	f.fill = func() {
		each(fillFolder)
	}
	f.free = func() { each("rm -f .filler*") }
}
