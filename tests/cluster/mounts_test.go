package cluster_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/testprogram"
)

const exitRefusedFolder = 4

// mountPoint is a namespace of mounts in which a disk is mounted on the data folder's parent.
type mountPoint struct {
	host
	disk, at string
}

// newMountPoint makes a namespace, or skips where this user may not.
func newMountPoint(t *testing.T) *mountPoint {
	t.Helper()
	holder := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", "echo ready; exec sleep 3600")
	out, err := holder.StdoutPipe()
	if err == nil {
		err = testprogram.EndWithTest(holder).Start()
	}
	if err != nil {
		t.Skipf("no namespace: %v", err)
	}
	t.Cleanup(func() {
		_ = holder.Process.Kill()
		_ = holder.Wait()
	})
	if n, err := out.Read(make([]byte, 16)); n == 0 {
		t.Skipf("no namespace: unshare ended (%v)", err)
	}
	m := &mountPoint{disk: t.TempDir(), at: t.TempDir()}
	m.host = host{data: filepath.Join(m.at, "data"), address: "127.0.0.1", mounted: true, enter: []string{"nsenter",
		"--user", "--preserve-credentials", "--mount", "--target", strconv.Itoa(holder.Process.Pid), "--"}}
	if out, err := m.command("mount", "--bind", m.disk, m.at).CombinedOutput(); err != nil {
		t.Skipf("no mount in a namespace: %v: %s", err, out)
	}
	return m
}

func (m *mountPoint) command(args ...string) *exec.Cmd {
	return exec.Command(m.enter[0], append(append([]string{}, m.enter[1:]...), args...)...)
}

func (m *mountPoint) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := m.command(args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", args, err, out)
	}
	return string(out)
}

// requireRefused waits until a process has ended because of its data folder.
func requireRefused(t *testing.T, p *process, why string) {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.giveUp("ends without its data folder")
	}
	if code := p.cmd.ProcessState.ExitCode(); code != exitRefusedFolder || !strings.Contains(p.log.String(), why) {
		t.Errorf("ended with status %d, want %q:\n%s", code, why, p.log.String())
	}
}

// A mount goes away below processes: they end at once, answer nothing with 2xx from then on, and do not start on what
// lies below the mount point. When it is mounted again all that was acknowledged is there.
func TestMountGoesAway(t *testing.T) {
	m := newMountPoint(t)
	state := t.TempDir()
	// The heartbeat, every 15 s, is not what notices.
	flags := []string{"--state", state, "--lease-ttl", "60s"}
	refused := func(role, why string) {
		t.Helper()
		requireRefused(t, m.launch(t, role, flags...), why)
		if found, err := os.ReadDir(m.at); err != nil || len(found) > 0 { // outside of the namespace nothing is mounted
			t.Errorf("below the mount point there are %v (%v)", found, err)
		}
	}
	refused("api", "holds no cluster")
	refused("metricd", "holds no cluster")
	m.run(t, filepath.Join(binaries, "gnocco"), "init", "--data", m.data, "--sacks", "8", "--state", state)
	api, worker := m.start(t, "api", flags...), m.start(t, "metricd", flags...)
	metric := newMetrics(t, api, 1)[0]
	posted := 0
	var last time.Time
	post := func() bool {
		status, _, _, err := api.do(http.MethodPost, "/v1/metric/"+metric+"/measures",
			fmt.Sprintf(`[{"timestamp": %d, "value": 1}]`, firstSecond+posted))
		if err == nil && status == http.StatusAccepted {
			posted, last = posted+1, time.Now()
		}
		return err == nil
	}
	for range 20 {
		post()
	}
	m.run(t, "umount", "--lazy", m.at)
	gone := time.Now()
	for post() {
		time.Sleep(5 * time.Millisecond)
	}
	// Every half second a process looks; the busy machine may take longer.
	if took := last.Sub(gone); took > 3*time.Second {
		t.Errorf("measures were acknowledged for %s without the mount", took)
	}
	t.Logf("%d measures acknowledged, the last one %s after the mount went", posted, last.Sub(gone))
	requireRefused(t, api, "was it unmounted?")
	requireRefused(t, worker, "was it unmounted?")
	for _, role := range []string{"api", "metricd", "serve"} {
		refused(role, "when this machine last used it")
	}

	other := t.TempDir()
	m.run(t, "mount", "--bind", other, m.at)
	m.run(t, filepath.Join(binaries, "gnocco"), "init", "--data", m.data, "--sacks", "8", "--state",
		filepath.Join(other, "state"))
	refused("api", "is another disk mounted?")
	m.run(t, "umount", m.at)

	m.run(t, "mount", "--bind", m.disk, m.at)
	api, _ = m.start(t, "api", flags...), m.start(t, "metricd", flags...)
	api.eventually("has what was acknowledged", func() bool {
		status, _, answer, err := api.do(http.MethodGet, "/v1/metric/"+metric+
			"/measures?refresh=true&aggregation=count", "")
		return err == nil && status == http.StatusOK && strings.Count(string(answer), "1.0]") >= posted
	})
}

// A mount whose process of FUSE is gone is called dead, and not a file that exists.
func TestDeadMount(t *testing.T) {
	m := newMountPoint(t)
	out, err := m.command("sh", "-c", `exec 3<>/dev/fuse &&
		mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 none "$1"`, "sh", m.at).CombinedOutput()
	if err != nil {
		t.Skipf("no FUSE: %v: %s", err, out)
	}
	for _, role := range []string{"api", "metricd", "serve"} {
		p := m.launch(t, role, "--init")
		requireRefused(t, p, "its mount is dead (transport endpoint is not connected)")
	}
}

// A disk without room for another name is full, and not unfit for several processes.
func TestProbeOfAFullDisk(t *testing.T) {
	m := newMountPoint(t)
	if out, err := m.command("mount", "-t", "tmpfs", "-o", "nr_inodes=2", "none", m.at).CombinedOutput(); err != nil {
		t.Skipf("no disk in memory: %v: %s", err, out)
	}
	m.run(t, "touch", filepath.Join(m.at, "last"))
	if out := m.run(t, filepath.Join(binaries, "gnocco"), "doctor", "disk", m.at); !strings.Contains(out, "the disk is full") {
		t.Errorf("says %s", out)
	}
}
