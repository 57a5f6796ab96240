package disks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// pageMachine is a machine of docs/how-to/two-machines.md: a network namespace, and folders of its own.
type pageMachine struct {
	t          *testing.T
	name, work string
	pid        string // of its glusterd
}

// sh runs a script on the machine.
func (m *pageMachine) sh(script string) (string, error) {
	return output("nsenter", "-t", m.pid, "--mount", "--net", "bash", "-ec", script)
}

func (m *pageMachine) must(script string) string {
	m.t.Helper()
	out, err := m.sh(script)
	fatal.If(m.t, err)
	return out
}

// boot starts a machine with an empty disk.
func (m *pageMachine) boot(number int) {
	m.t.Helper()
	m.work = filepath.Join(m.work, m.name)
	m.pid = must(m.t, `mkdir -p %s/{lib,log,run,srv,mnt}; cd %s; cp -a /var/lib/glusterd/{groups,hooks} lib/ || true
truncate -s 700M disk; losetup -f --show disk >loop
printf '127.0.0.1 localhost\n10.99.0.10 a\n10.99.0.11 b\n10.99.0.12 c\n' >hosts
cat /proc/sys/kernel/random/uuid >boot
setsid nsenter --net=/run/netns/s%d unshare --mount --propagation private bash -ec '
	mount --bind lib /var/lib/glusterd; mount --bind log /var/log/glusterfs; mount --bind run /run
	mount --bind srv /srv; mount --bind mnt /mnt; mount --bind hosts /etc/hosts
	mount --bind boot /proc/sys/kernel/random/boot_id
	mkdir -p /run/gluster; exec glusterd -N' >out 2>&1 </dev/null & echo $!`, m.work, m.work, number)
	eventually(m.t, time.Minute, m.name+" runs", func() bool {
		_, err := m.sh("test -d /run/gluster && gluster peer status")
		return err == nil
	})
}

// kill ends all that runs on a machine.
func (m *pageMachine) kill(number int) {
	_, _ = output("bash", "-c", fmt.Sprintf("ip link set vs%d down; kill -9 $(ip netns pids s%d)", number, number))
}

// The commands of docs/how-to/two-machines.md make two servers on a disk of GlusterFS. When one machine goes, the other
// accepts all, and has all that was acknowledged.
func TestTwoMachinesPage(t *testing.T) {
	if !strings.Contains(*fileSystems, "gluster") || os.Getenv(insideVariable) == "" {
		t.Skip("-disks has no gluster")
	}
	page, err := os.ReadFile("../../docs/how-to/two-machines.md")
	fatal.If(t, err)
	_, section, _ := strings.Cut(string(page), "\n## A shared disk\n")
	var blocks []string
	for _, found := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(section, -1) {
		blocks = append(blocks, found[1])
	}
	if len(blocks) != 4 {
		t.Fatalf("the section has %d blocks", len(blocks))
	}
	newNetwork(t)
	work, err := os.MkdirTemp("/var/tmp", "gnocco-page-")
	fatal.If(t, err)
	machines := []*pageMachine{{t: t, name: "a", work: work}, {t: t, name: "b", work: work}, {t: t, name: "c", work: work}}
	t.Cleanup(func() {
		for i, m := range machines {
			m.kill(i)
		}
		must(t, `cd /; sleep 1; for i in a b c; do losetup -d $(cat %s/$i/loop) || true; done; rm -rf %s`, work, work)
	})
	// The machines have the packages, and a loop device for a disk.
	for i, m := range machines {
		m.boot(i)
		block := strings.ReplaceAll(strings.Join(strings.SplitAfter(blocks[0], "\n")[1:], ""), "/dev/sdb",
			must(t, "cat %s/loop", m.work))
		m.must(block)
	}
	a, b := machines[0], machines[1]
	a.must(strings.ReplaceAll(blocks[1], "gluster volume create", "sleep 3; gluster volume create"))
	program := os.Getenv(insideVariable) + "/gnocco"
	for i, m := range machines[:2] {
		m.must(blocks[2])
		if i == 0 {
			m.must(program + " init --data /mnt/gnocco --state " + m.work)
		}
		serve := strings.NewReplacer("gnocco serve", program+" serve --min-free-bytes 8MiB --state "+m.work, "$(hostname)",
			m.name).Replace(strings.TrimSpace(blocks[3]))
		m.must(fmt.Sprintf("setsid %s >%s/serve 2>&1 </dev/null & sleep 1", serve, m.work))
	}
	for _, m := range machines[:2] {
		eventually(t, time.Minute, m.name+" is ready", func() bool {
			_, err := m.sh("curl -fsS http://127.0.0.1:8041/ready")
			return err == nil
		})
	}
	json := `-u admin: -H "Content-Type: application/json" -m 5 -fsS http://127.0.0.1:8041/v1/`
	for i := range 8 {
		a.must(fmt.Sprintf(`curl %sresource/generic -d '{"id": "r%d", "metrics": {"load": {"archive_policy_name": "low"}}}'`, json, i))
	}
	began := time.Now().Unix() / 60 * 60
	sent := 0
	send := func(m *pageMachine) error {
		for i := range 8 {
			_, err := m.sh(fmt.Sprintf(`curl %sbatch/resources/metrics/measures -d '{"r%d": {"load": [{"timestamp": %d, "value": %d}]}}'`,
				json, i, began+int64(sent), 1+sent))
			if err != nil {
				return err
			}
		}
		sent++
		return nil
	}
	for range 10 {
		fatal.If(t, send(a))
		fatal.If(t, send(b))
	}
	a.kill(0)
	dead := time.Now()
	eventually(t, 2*time.Minute, "b accepts all", func() bool { return send(b) == nil })
	accepted := time.Since(dead)
	for i := range 8 {
		eventually(t, 2*time.Minute, fmt.Sprintf("b has all of r%d", i), func() bool {
			out, err := b.sh(fmt.Sprintf(`curl -G -d aggregation=sum -d granularity=300 -d refresh=true `+
				`%sresource/generic/r%d/metric/load/measures`, json, i))
			total := 0.0
			for _, found := range regexp.MustCompile(`300\.0, ([0-9.]+)\]`).FindAllStringSubmatch(out, -1) {
				v := 0.0
				_, _ = fmt.Sscan(found[1], &v)
				total += v
			}
			return err == nil && total == float64(sent*(sent+1)/2)
		})
	}
	t.Logf("b accepts all %.1f s after a died, and has all measures after %.1f s", accepted.Seconds(), time.Since(dead).Seconds())
}
