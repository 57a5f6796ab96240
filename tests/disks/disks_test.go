package disks_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// run is a cluster under load, and the faults that it sees.
type run struct {
	*cluster
	*load
	hit []int // nodes whose processes may end
}

// scenario is a fault.
type scenario struct {
	name  string
	does  func(*run)
	flags func(*node) string
	// unserved is the longest time without a success that the APIs of nodes without a fault may have, for writes, and
	// for reads of any one metric.
	unserved, takeover time.Duration
}

// wait lets time pass under load.
func wait(seconds float64) { time.Sleep(time.Duration(seconds * float64(time.Second))) }

const never = time.Hour

var all = []scenario{
	{name: "short", does: (*run).short, unserved: 2 * time.Second, takeover: 20 * time.Second},
	{name: "none", does: func(*run) { wait(40) }, unserved: 2 * time.Second, takeover: 2 * time.Second},
	{name: "kill", does: (*run).kill, unserved: 2 * time.Second, takeover: 8 * time.Second},
	{name: "crash", does: (*run).crash, unserved: 2 * time.Second, takeover: 20 * time.Second},
	{name: "two", does: (*run).two, unserved: 2 * time.Second, takeover: 20 * time.Second},
	{name: "cut", does: (*run).cut, unserved: 2 * time.Second, takeover: 25 * time.Second},
	{name: "storage", does: (*run).storage, unserved: never, takeover: never},
	{name: "evict", does: (*run).evict, unserved: 2 * time.Second, takeover: 25 * time.Second},
	{name: "umount", does: (*run).umount, unserved: 2 * time.Second, takeover: 25 * time.Second},
	{name: "full", does: (*run).full, unserved: never, takeover: never},
	{name: "churn", does: (*run).churn, unserved: 2 * time.Second, takeover: 2 * time.Second},
	{name: "pace", does: (*run).pace, unserved: never, takeover: never},
	{name: "clocks", does: (*run).crash, unserved: 2 * time.Second, takeover: 20 * time.Second,
		flags: func(n *node) string { return fmt.Sprintf("--test-clock-shift %ds", 30*(n.number-1)) }},
}

// churn has one process of metricd after the other end in order and start again, for two minutes.
func (r *run) churn() {
	r.hit = []int{0, 1, 2}
	workers := slices.DeleteFunc(slices.Clone(r.processes), func(p *process) bool { return p.role != "metricd" })
	for i := range 12 {
		wait(10)
		workers[i%len(workers)].signal("TERM")
	}
	wait(10)
}

// short is kill within a few seconds.
func (r *run) short() {
	wait(2)
	r.hit = []int{0}
	for _, p := range r.on(0) {
		p.signal("KILL")
	}
	wait(6)
}

// kill ends two processes of a node, which are started again at once.
func (r *run) kill() {
	wait(5)
	r.hit = []int{0}
	for _, p := range r.on(0) {
		p.signal("KILL")
	}
	wait(20)
}

// crash ends a node with all its processes and its mount, and brings it back.
func (r *run) crash() {
	wait(5)
	r.crashNode(0)
}

func (r *run) crashNode(number int) {
	n := r.files.nodes[number]
	r.hit = []int{number}
	for _, p := range r.on(number) {
		p.kill()
	}
	r.files.crash(n)
	wait(25)
	r.phase("down")
	n.boot(r.cluster.t)
	r.files.mount(n)
	for _, p := range r.on(number) {
		p.start(r.cluster.t)
	}
	r.await(r.on(number)...)
	wait(15)
}

// two is kill, and 20 s later the crash of another node. The processes of the first one hold their stores again by
// then, and are about to remove what came before, in folders that the client of the second has listed.
func (r *run) two() {
	r.kill()
	r.settleWrites()
	r.crashNode(2)
}

// cut takes a node's link away for 30 s.
func (r *run) cut() {
	if r.files.link == nil {
		r.cluster.t.Skip("one kernel has the disk of all nodes")
	}
	wait(5)
	r.hit = []int{0}
	must(r.cluster.t, "ip link set %s nomaster", r.files.link(r.files.nodes[0])) // guests outlive no link that is down
	wait(30)
	must(r.cluster.t, "ip link set %s master br0", r.files.link(r.files.nodes[0]))
	r.remount()
	wait(10)
}

// remount mounts anew on the nodes that were hit, as an operator or a unit does, where the mount is dead.
func (r *run) remount() {
	for _, i := range r.hit {
		if n := r.files.nodes[i]; !n.awaitMount() {
			r.cluster.t.Logf("node %d mounted anew", i)
			r.files.again(n)
		}
	}
}

// awaitMount waits for the node's mount to work again, and reports whether it does.
func (n *node) awaitMount() bool {
	for range 5 {
		if _, err := n.sh("timeout 3 ls %s && timeout 3 touch %s/.there", n.mount, n.mount); err == nil {
			return true
		}
		wait(1)
	}
	return false
}

// storage takes the servers away for 30 s.
func (r *run) storage() {
	if r.files.off == nil {
		r.cluster.t.Skip("has no servers")
	}
	wait(5)
	r.hit = []int{0, 1, 2}
	r.files.off()
	wait(30)
	r.files.on()
	r.remount()
	wait(20)
}

// evict makes the servers give a node's client up.
func (r *run) evict() {
	if r.files.evict == nil {
		r.cluster.t.Skip("evicts no clients")
	}
	wait(5)
	r.hit = []int{0}
	r.files.evict(r.files.nodes[0])
	r.silent(2)
	wait(20)
	r.remount()
	wait(10)
}

// umount takes a node's mount away below running processes.
func (r *run) umount() {
	wait(5)
	r.hit = []int{0}
	n := r.files.nodes[0]
	if _, err := n.sh("umount -l %s", n.mount); err != nil {
		r.cluster.t.Fatal(err)
	}
	r.silent(1)
	wait(15)
	if left, err := n.sh("find %s -mindepth 1", n.mount); err != nil || left != "" {
		r.cluster.t.Errorf("below the mount point there is %q %v", left, err)
	}
	r.files.again(n)
	wait(10)
}

// silent requires that the API of node 0 acknowledges nothing after some seconds.
func (r *run) silent(seconds float64) {
	api := r.on(0)[0]
	wait(seconds)
	before := r.acknowledged(api)
	wait(5)
	if more := r.acknowledged(api) - before; more > 0 {
		r.cluster.t.Errorf("%s acknowledged %d measures without its disk", api.name, more)
	}
}

// full fills the file system for 20 s. No process ends.
func (r *run) full() {
	if r.files.fill == nil {
		r.cluster.t.Skip("cannot be filled")
	}
	wait(5)
	for range 4 { // what the reserve files give is filled as well
		r.files.fill()
		wait(5)
	}
	if ends := r.ends(0, 1, 2); ends != "" {
		r.cluster.t.Errorf("ended on a full disk: %s", ends)
	}
	r.hit = []int{0, 1, 2}    // a process needs 1 MiB to start, which the reserve file gave to others
	r.on(0)[1].signal("KILL") // starts on the full disk, again and again
	wait(5)
	r.files.free()
	wait(10)
}

// Acknowledged measures and metrics are there once, through faults of nodes, network and storage. Processes of nodes
// without a fault do not end, and answer.
func TestDisks(t *testing.T) {
	if *fileSystems == "" {
		t.Skip("-disks names no file system")
	}
	if os.Getenv(insideVariable) == "" {
		t.Skip(cannotUnshare())
	}
	newNetwork(t)
	for kind := range strings.SplitSeq(*fileSystems, ",") {
		t.Run(kind, func(t *testing.T) {
			f := newFileSystem(t, kind)
			names := strings.Split(cmp.Or(*scenarios, "short"), ",")
			for round := range *rounds {
				for _, s := range all {
					if slices.Contains(names, s.name) || *scenarios == "all" {
						t.Run(fmt.Sprintf("%s-%d", s.name, round), func(t *testing.T) { runScenario(t, f, s, round) })
					}
				}
			}
		})
	}
}

// furtherEnds drops the first end of each process, with status 3.
func furtherEnds(ends []string) (further []string) {
	seen := make(map[string]bool)
	for _, end := range ends {
		name, _, _ := strings.Cut(end, ":")
		if seen[name] || !strings.HasSuffix(end, ":3") {
			further = append(further, end)
		}
		seen[name] = true
	}
	return further
}

func runScenario(t *testing.T, f *fileSystem, s scenario, round int) {
	if s.flags == nil {
		s.flags = func(*node) string { return "" }
	}
	f.t = t
	for _, n := range f.nodes { // an earlier scenario may have failed
		if !n.awaitMount() {
			f.again(n)
		}
	}
	c := newCluster(t, f, fmt.Sprintf("%s%d", s.name, round), s.flags)
	r := &run{cluster: c, load: newLoad(c)}
	defer r.load.stop()
	s.does(r)
	c.await(c.processes...)
	r.load.stop()
	report := r.report()
	c.awaitBacklog()
	found := r.compare()
	ends := c.ends(r.hit...)
	var others []int
	for i := range nodes {
		if !slices.Contains(r.hit, i) {
			others = append(others, i)
		}
	}
	t.Logf("RESULT %s: %+v; %s; ended: %s", t.Name(), found, report, ends)
	if found.lost+found.twice+found.wrong+found.gone > 0 || found.acked == 0 {
		t.Errorf("acknowledged: %+v", found)
	}
	ends = c.ends(others...)
	if s.name == "clocks" { // of processes that start together, some find their clocks wrong only then
		ends = strings.Join(furtherEnds(strings.Fields(ends)), " ")
	}
	if ends != "" {
		t.Errorf("ended without a fault of their node: %s", ends)
	}
	writes, metric := r.unserved(r.hit)
	if f.slow > 1 {
		writes, metric = 0, 0
	}
	if writes > s.unserved {
		t.Errorf("an API without a fault acknowledged no measures for %s", writes)
	}
	if metric > s.takeover {
		t.Errorf("a metric was not read for %s", metric)
	}
	c.fsck()
}
