package disks_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testprogram"
)

var units = flag.Bool("disks.units", false, "run TestUnits, which takes some minutes")

// unitsInit makes this machine's root the lower layer of the guest's, where nothing else can be written, with the units
// and programs where they are installed, and a FUSE file system as the shared disk. Arguments: folders of modules, of
// the units and programs, and the script.
const unitsInit = `#!/bin/bash
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t tmpfs tmp /mnt
for m in overlay fuse; do modprobe -d %[1]s $m; done
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
cd /mnt/root; etc=etc/systemd/system
rm -rf $etc/*; mkdir -p old srv/gnocco srv/real $etc
for u in systemd-tmpfiles-setup.service systemd-tmpfiles-clean.timer systemd-udevd.service systemd-timesyncd.service; do
	ln -s /dev/null $etc/$u
done
cp %[2]s/gnocco-*.service $etc/; cp %[3]s/gnocco %[3]s/metricd usr/local/bin/
echo gnocco:x:8041:8041::/:/bin/false >>etc/passwd; echo gnocco:x:8041: >>etc/group
echo 'bindfs#/srv/real /srv/gnocco fuse nofail,_netdev,allow_other,attr_timeout=0,entry_timeout=0 0 0' >etc/fstab
printf '[Unit]\nRequires=basic.target\nWants=trial.service\nAfter=basic.target\nAllowIsolate=yes\n' >$etc/trial.target
printf '[Service]\nExecStart=/bin/bash %[4]s\nStandardOutput=file:/dev/tty0\nStandardError=file:/dev/tty0\n' >$etc/trial.service
pivot_root . old
exec chroot . /lib/systemd/systemd --unit=trial.target --show-status=no </dev/console >/dev/console 2>&1
`

// unitsTrial kills the FUSE server below the units, twice. For a while it cannot be started again.
const unitsTrial = `ip link set lo up
systemctl start srv-gnocco.mount
chown gnocco:gnocco /srv/gnocco
setpriv --reuid 8041 --regid 8041 --clear-groups gnocco init --data /srv/gnocco --state /tmp/gnocco-node
systemctl start gnocco-api gnocco-metricd@1
ask() { curl -s -m 20 -u admin: "$@"; }
after() {
	for _ in {1..300}; do
		[ "$(ask -o /dev/null -w '%{http_code}' 127.0.0.1:8041/ready)" = 200 ] && break; sleep .5
	done
	echo "TRIAL after $1: $(ask '127.0.0.1:8041/v1/metric?limit=1' | grep -o '"name": "kept"'), $(findmnt -no FSTYPE /srv/gnocco)"
}
for _ in {1..100}; do
	ask -f -H 'Content-Type: application/json' 127.0.0.1:8041/v1/metric -d '{"archive_policy_name":"low","name":"kept"}' && break
	sleep 1
done
after "the start"
for n in 1 2; do
	mv /usr/bin/bindfs /usr/bin/away; pkill -9 bindfs; sleep 15; mv /usr/bin/away /usr/bin/bindfs
	after "death $n"
done
echo "TRIAL $(systemctl show gnocco-api -p NRestarts)"
journalctl -b --no-pager -u srv-gnocco.mount -u gnocco-mount -u gnocco-api -u gnocco-metricd@1 | grep -v level=WARN | tail -50
poweroff -f
`

// The units of deploy/systemd mount a dead FUSE file system again, without a person. They run under systemd on a kernel
// of user-mode Linux.
func TestUnits(t *testing.T) {
	if !*units {
		t.Skip("takes minutes: -disks.units")
	}
	for _, program := range []string{"linux.uml", "modprobe", "bindfs", "/lib/systemd/systemd", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	programs, err := testprogram.Build("gnocco", "metricd")
	fatal.If(t, err)
	deployed, err := filepath.Abs("../../deploy/systemd")
	fatal.If(t, err)
	dir := t.TempDir()
	must(t, `mkdir -p %[1]s/modules/lib; ln -s /usr/lib/uml/modules %[1]s/modules/lib/modules`, dir)
	init, trial := filepath.Join(dir, "init"), filepath.Join(dir, "trial.sh")
	for file, text := range map[string]string{trial: unitsTrial,
		init: fmt.Sprintf(unitsInit, dir+"/modules", deployed, programs, trial)} {
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	uml := exec.CommandContext(ctx, "linux.uml", "mem=1500M", "rootfstype=hostfs", "rootflags=/", "ro", "init="+init,
		"con=null", "con0=null,fd:1", "uml_dir="+dir, "umid=units", "panic=1")
	uml.WaitDelay = time.Second // its threads are processes
	uml.Env = append(os.Environ(), "TMPDIR=/dev/shm")
	console, err := uml.CombinedOutput()
	for _, want := range []string{"after the start: ", "after death 1: ", "after death 2: "} {
		if !strings.Contains(string(console), "TRIAL "+want+`"name": "kept", fuse`) {
			t.Errorf("%snot as it was", want)
		}
	}
	if strings.Contains(string(console), "NRestarts=0") {
		t.Error("nothing was restarted")
	}
	if t.Failed() {
		t.Logf("%v: %s", err, console[max(0, len(console)-8000):])
	}
}
