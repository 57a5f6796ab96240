package disks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const cephConf = `[global]
fsid = %FSID
mon_host = [v2:10.99.0.10:3300,v1:10.99.0.10:6789]
public_network = 10.99.0.0/24
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
bluestore_block_size = 3221225472
bluestore_cache_size = 134217728
osd_memory_target = 939524096
osd_pool_default_size = 1
osd_pool_default_min_size = 1
mon_allow_pool_size_one = true
osd_crush_chooseleaf_type = 0
mon_data = %W/mon
mgr_data = %W/mgr
osd_data = %W/osd
mds_data = %W/mds
log_file = %W/$name.log
admin_socket = %W/run/$name.$pid.asok
run_dir = %W/run
pid_file = %W/run/$name.pid
keyring = %W/keyring
mds_cap_revoke_eviction_timeout = 10
mon_data_avail_crit = 1
mon_data_avail_warn = 2
`

// ceph is CephFS with one monitor, one OSD on a file and one MDS, mounted by ceph-fuse with its default caches. The MDS
// gives a dead client up after 30 s.
func (f *fileSystem) ceph() {
	f.needs = []string{"ceph-mon", "ceph-mgr", "ceph-osd", "ceph-mds", "ceph-fuse", "ceph"}
	f.link = veth
	ask := func(format string, args ...any) string {
		f.t.Helper()
		return must(f.t, `export CEPH_CONF=%s/ceph.conf; timeout 30 nsenter --net=/run/netns/s0 ceph %s`, f.work,
			fmt.Sprintf(format, args...))
	}
	daemon := func(name string) {
		f.daemon("s0", name+".out", "env CEPH_CONF=%s/ceph.conf ceph-%s -f -i %s", f.work, name,
			map[string]string{"mon": "a", "mgr": "x", "osd": "0", "mds": "m"}[name])
	}
	f.setUp = func() {
		fsid, osd := must(f.t, "cat /proc/sys/kernel/random/uuid"), must(f.t, "cat /proc/sys/kernel/random/uuid")
		conf := strings.NewReplacer("%FSID", fsid, "%W", f.work).Replace(cephConf)
		if err := os.WriteFile(filepath.Join(f.work, "ceph.conf"), []byte(conf), 0o600); err != nil {
			f.t.Fatal(err)
		}
		must(f.t, `cd %s; export CEPH_CONF=$PWD/ceph.conf; mkdir mon mgr osd mds run
monmaptool --create --fsid %s --addv a "[v2:10.99.0.10:3300,v1:10.99.0.10:6789]" monmap
ceph-authtool -C keyring --gen-key -n mon. --cap mon 'allow *'
ceph-authtool keyring --gen-key -n client.admin --cap mon 'allow *' --cap osd 'allow *' --cap mds 'allow *' \
	--cap mgr 'allow *'
nsenter --net=/run/netns/s0 ceph-mon --mkfs -i a --monmap monmap --keyring keyring`, f.work, fsid)
		daemon("mon")
		daemon("mgr")
		ask("osd new %s", osd)
		must(f.t, `cd %s; export CEPH_CONF=$PWD/ceph.conf; nsenter --net=/run/netns/s0 ceph-osd -i 0 --mkfs --osd-uuid %s`,
			f.work, osd)
		daemon("osd")
		daemon("mds")
		ask("osd pool create meta 8")
		ask("osd pool create data 8")
		ask("fs new fs meta data")
		ask("fs set fs session_timeout 30")
		ask("fs set fs session_autoclose 30")
		eventually(f.t, time.Minute, "an MDS is active", func() bool {
			return strings.Contains(ask("mds stat"), "up:active")
		})
	}
	f.mount = func(n *node) {
		pid := f.daemon(fmt.Sprintf("n%d", n.number), fmt.Sprintf("mount%d.out", n.number),
			"env CEPH_CONF=%s/ceph.conf ceph-fuse -f %s", f.work, n.mount)
		must(f.t, "echo %s >%s/mount%d.pid", pid, f.work, n.number)
		f.mounted(n)
	}
	f.crash = func(n *node) {
		_, _ = output("sh", "-c", fmt.Sprintf("kill -9 $(cat %s/mount%d.pid); umount -l %s", f.work, n.number, n.mount))
	}
	f.off = func() { must(f.t, "ip link set vs0 down") }
	f.on = func() { must(f.t, "ip link set vs0 up") }
	f.evict = func(n *node) {
		sessions := ask("tell mds.m client ls 2>/dev/null")
		for _, session := range strings.Split(sessions, `"id":`)[1:] {
			id, rest, _ := strings.Cut(session, ",")
			if strings.Contains(rest, n.mount+`"`) {
				ask("tell mds.m client evict id=%s", strings.TrimSpace(id))
				return
			}
		}
		f.t.Fatalf("no session of %s in %s", n.mount, sessions)
	}
	f.fill = func() { ask("osd pool set-quota data max_bytes 1") }
	f.free = func() { ask("osd pool set-quota data max_bytes 0") }
}
