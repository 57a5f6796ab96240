package disks_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// process is a place for a process, which is started again when it ends.
type process struct {
	*node
	name string // also of its files
	role string
	url  string // of the API
	log  string
	args string

	supervisor string // process number; "" if it is not to run
}

// cluster is two processes of the API and three of metricd on three nodes.
type cluster struct {
	t         *testing.T
	files     *fileSystem
	data      string // below a node's mount
	processes []*process
}

// supervise starts a process again, as systemd does.
const supervise = `setsid %s sh -c '%s while :; do %s >>%s 2>&1 & echo $! >%s.pid; wait $!; echo "ended status=$?" >>%s
	sleep 1; done' </dev/null >/dev/null 2>&1 & echo $!`

// newCluster starts a cluster on a fresh data folder.
func newCluster(t *testing.T, files *fileSystem, name string, flags func(*node) string) *cluster {
	t.Helper()
	c := &cluster{t: t, files: files, data: name}
	programs := os.Getenv(insideVariable)
	if out, err := files.nodes[0].sh("%s/gnocco init --data %s --sacks %d --state %s", programs, c.folder(files.nodes[0]),
		*sacks, c.state(files.nodes[0])); err != nil {
		t.Fatal(err, out)
	}
	for _, n := range files.nodes {
		must(t, "mkdir -p %s", c.state(n))
		for port := range 1 + (*metricds+nodes-1-n.number)/nodes {
			role, name := "metricd", fmt.Sprintf("metricd%d", n.number+(port-1)*nodes)
			if port == 0 {
				role, name = "api", fmt.Sprintf("api%d", n.number)
			}
			if role == "api" && n.number == 2 {
				continue
			}
			p := &process{node: n, name: name, role: role, url: fmt.Sprintf("http://%s:804%d", n.address, 1+port)}
			p.log = filepath.Join(files.work, c.data+"-"+name+".log")
			program := programs + "/gnocco api"
			if role == "metricd" {
				program = programs + "/metricd"
			}
			p.args = fmt.Sprintf("%s --data %s --state %s --node %s --listen %s:804%d --peer-listen %s:805%d "+
				"--min-free-bytes 8MiB --lease-ttl %ds --log-level debug %s", program, c.folder(n), c.state(n), p.name,
				n.address, 1+port, n.address, 1+port, 10*files.slow, flags(n))
			c.processes = append(c.processes, p)
		}
	}
	client.Timeout = time.Duration(files.slow) * clientTime
	for _, p := range c.processes {
		p.start(t)
	}
	t.Cleanup(func() {
		for _, p := range c.processes {
			p.kill()
		}
		if *keep != "" {
			must(t, "mkdir -p %s/%s; cp %s/*.log %s/%s/ || true", *keep, t.Name(), files.work, *keep, t.Name())
		}
	})
	c.await(c.processes...)
	return c
}

func (c *cluster) folder(n *node) string { return filepath.Join(n.mount, c.data) }

// state is a folder of the machine's own.
func (c *cluster) state(n *node) string { return fmt.Sprintf("%s/state%d", c.files.work, n.number) }

// on returns the processes of a node.
func (c *cluster) on(number int) []*process {
	var there []*process
	for _, p := range c.processes {
		if p.number == number {
			there = append(there, p)
		}
	}
	return there
}

func (c *cluster) apis() []*process {
	return slices.DeleteFunc(slices.Clone(c.processes), func(p *process) bool { return p.role != "api" })
}

func (p *process) start(t *testing.T) {
	t.Helper()
	var own, boots string
	if p.guest == nil {
		own = "unshare --mount --propagation slave"
		boots = fmt.Sprintf("mount --bind %s /proc/sys/kernel/random/boot_id || exit;", p.bootID)
	}
	out, err := p.sh(supervise, own, boots, p.args, p.log, p.log, p.log)
	fatal.If(t, err)
	p.supervisor = out
}

// signal sends a signal to the process itself.
func (p *process) signal(name string) { _, _ = p.sh("kill -%s $(cat %s.pid)", name, p.log) }

// kill ends the process permanently.
func (p *process) kill() {
	if p.supervisor != "" {
		_, _ = p.sh("kill -9 -%s", p.supervisor)
		p.supervisor = ""
	}
}

// stop ends the process in order, permanently.
func (p *process) stop(t *testing.T) {
	t.Helper()
	_, err := p.sh(`kill -9 %s; pid=$(cat %s.pid); kill $pid; for i in $(seq 300); do
		[ -d /proc/$pid ] || exit 0; sleep .1; done; exit 1`, p.supervisor, p.log)
	if p.supervisor = ""; err != nil {
		t.Errorf("%s does not stop: %v", p.name, err)
	}
}

// patience is how long the cluster may take to become ready.
func (c *cluster) patience() time.Duration { return time.Duration(c.files.slow) * 3 * time.Minute }

// await waits until processes are ready.
func (c *cluster) await(processes ...*process) {
	c.t.Helper()
	for _, p := range processes {
		eventually(c.t, c.patience(), p.name+" is ready", func() bool {
			status, _, _ := ask("GET", p.url+"/ready", "")
			return status == 200
		})
	}
}

// awaitBacklog waits until all measures are in the archives, and no member is silent: a status leaves the measures of
// such a member out.
func (c *cluster) awaitBacklog() {
	c.t.Helper()
	eventually(c.t, c.patience(), "the backlog is empty", func() bool {
		var status struct {
			Storage struct{ Summary struct{ Measures int } }
			Cluster struct{ Silent []string }
		}
		code, text, _ := ask("GET", c.apis()[0].url+"/v1/status", "")
		return code == 200 && json.Unmarshal(text, &status) == nil && status.Storage.Summary.Measures == 0 &&
			len(status.Cluster.Silent) == 0
	})
}

var ended = regexp.MustCompile(`(?m)^ended status=(\d+)`)

// ends returns the statuses with which the processes of nodes ended by themselves, "" for none.
func (c *cluster) ends(numbers ...int) string {
	var all []string
	for _, p := range c.processes {
		text, err := os.ReadFile(p.log)
		if err != nil {
			c.t.Error(err)
		}
		for _, found := range ended.FindAllSubmatch(text, -1) {
			if slices.Contains(numbers, p.number) && string(found[1]) != "137" {
				all = append(all, p.name+":"+string(found[1]))
			}
		}
	}
	return strings.Join(all, " ")
}

// fsck stops the cluster in order, and checks its folder beside the other mounts.
func (c *cluster) fsck() {
	c.t.Helper()
	for _, p := range c.processes {
		p.stop(c.t)
	}
	n := c.files.nodes[0]
	begun := time.Now()
	report := filepath.Join(c.files.work, c.data+"-fsck.log")
	out, err := n.sh("(%s/gnocco fsck --data %s >%s 2>&1; echo status=$? >>%s) >/dev/null 2>&1 &",
		os.Getenv(insideVariable), c.folder(n), report, report)
	if err != nil {
		c.t.Error(err, out)
	}
	eventually(c.t, time.Minute, "fsck ends", func() bool {
		text, _ := os.ReadFile(report)
		out = string(text)
		return strings.Contains(out, "status=")
	})
	if c.t.Logf("fsck took %.1f s", time.Since(begun).Seconds()); !strings.Contains(out, "status=0") {
		c.t.Errorf("fsck: %s", out)
	}
}
