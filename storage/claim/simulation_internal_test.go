package claim

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	simRuns = flag.Int("claim.runs", 300, "simulations of TestSimulation")
	simSeed = flag.Uint64("claim.seed", 0, "the only simulation to run, which then tells what happens; 0: all")
)

const (
	simTrouble = 60 * time.Second
	simCalm    = 100 * time.Second // enough for every death to be noticed and every measure to be processed
)

// simulate runs a cluster of two api and two metricd processes on four machines through a minute of trouble, lets it
// come to rest, and returns what did not hold.
func simulate(seed uint64, f faults, trace func(format string, args ...any)) []string {
	w := &world{rand: rand.New(rand.NewPCG(seed, 5)), faults: f}
	w.sharp, w.late, w.hides = seed%2 == 0, seed%4 == 3, seed%8 == 5
	w.hangs, w.power = seed%8 == 1, seed%8 == 2
	w.slow = []time.Duration{1, 1, 5, 100}[w.rand.IntN(4)]
	w.disk = newDisk(w)
	w.disk.entries[simRoot] = &inode{dir: true, links: 1, past: []version{{}}}
	// from before there were claims
	for _, name := range []string{"/data/sacks", "/data/sacks/001", "/data/sacks/001/e1"} {
		if err := w.disk.enter(name, &inode{dir: true, past: []version{{}}}); err != nil {
			panic(err)
		}
		w.disk.sync(path.Dir(name), w.disk.entries[path.Dir(name)])
	}
	w.disk.root.durable = map[string]*inode{path.Base(simRoot): w.disk.entries[simRoot]}
	c := &cluster{world: w, acked: make(map[string]bool), taken: make(map[string]bool),
		epochs: make(map[string]uint64), claimed: make(map[string]map[uint64]time.Duration), trace: trace}
	for _, name := range []string{"api1", "api2", "m1", "m2"} {
		n := newNode(w, name)
		n.rate, n.offset = 1+(w.rand.Float64()-0.5)/500, w.between(0, 1000*time.Hour)
		w.nodes = append(w.nodes, n)
		api := strings.HasPrefix(name, "api")
		if api {
			c.sources = append(c.sources, "incoming/"+name)
		}
		w.after(w.between(0, 3*time.Second), func() { c.keep(n, api) })
	}
	w.after(w.between(0, 10*time.Second), c.trouble)
	if w.power { // by a generator of its own: other seeds stay the same
		w.after(time.Duration(rand.New(rand.NewPCG(seed, 6)).Int64N(int64(simTrouble))), c.powerCut)
	}
	w.run(simTrouble)
	w.calm = true
	for w.now < simTrouble+simCalm && !c.atRest() {
		w.run(w.now + 5*time.Second)
	}
	for _, m := range c.members {
		m.tell("is done")
		m.kill()
	}
	c.over = true
	if !w.hides { // which may lose what was acknowledged until the loser noticed
		c.check()
	}
	slices.Sort(c.broken)
	return c.broken
}

// atRest reports whether all measures seem to be processed.
func (c *cluster) atRest() bool {
	for id := range c.acked {
		if !c.taken[id] {
			return false
		}
	}
	return true
}

// keep is a supervisor: it starts a process whenever there is none.
func (c *cluster) keep(n *node, api bool) {
	if c.over {
		return
	}
	running := false
	for _, m := range c.members {
		running = running || m.node == n && !m.dead
	}
	if !running {
		c.start(n, n.name, api, !api)
	}
	c.after(c.between(time.Second, 4*time.Second), func() { c.keep(n, api) })
}

// trouble does something to a process or machine, again and again.
func (c *cluster) trouble() {
	if c.calm {
		return
	}
	c.after(c.between(time.Second, 12*time.Second), c.trouble)
	live := slices.DeleteFunc(slices.Clone(c.members), func(m *member) bool { return m.dead })
	if len(live) == 0 {
		return
	}
	m := live[c.rand.IntN(len(live))]
	if c.sharp && m.session != nil && c.chance(2) {
		c.strikeNearDeadline(m)
		return
	}
	switch long := c.between(time.Second, 30*time.Second); c.rand.IntN(4) {
	case 0:
		m.tell("is killed")
		m.kill()
	case 1:
		m.tell("is stopped for %s", long)
		m.paused = c.now + long
	case 2:
		m.tell("is cut off for %s", long)
		m.node.cut = c.now + long
	case 3:
		m.leaving = true
	}
}

// powerCut is the end of the server and all machines, which start again.
func (c *cluster) powerCut() {
	for _, m := range c.members {
		m.tell("has no power")
		m.kill()
	}
	for _, n := range c.nodes {
		n.forget()
	}
	c.disk.powerCut()
}

// strikeNearDeadline makes trouble for a beat that ends just before the lease would.
func (c *cluster) strikeNearDeadline(m *member) {
	left := m.session.Remaining() - c.between(0, 2*time.Second)
	if c.chance(2) {
		m.tell("is cut off for %s", left)
		m.node.cut = c.now + left
		return
	}
	m.tell("waits for answers of its beats for %s", left)
	m.node.hang = c.now + left
	c.after(left, func() { // and the next beat does not get through at all
		c.after(c.between(0, 2*time.Second), func() { m.node.hang = c.now + 30*time.Second })
	})
}

// check looks at what is in the sacks at the end.
func (c *cluster) check() {
	taken := make(map[string]int)
	for i := range simSacks {
		for _, line := range c.content(path.Join(simRoot, sackName(i))) {
			taken[strings.Fields(line)[1]]++
		}
	}
	for id, times := range taken {
		if times > 1 {
			c.breach("%s is there %d times", id, times)
		}
	}
	for id := range c.acked {
		if taken[id] == 0 {
			c.breach("%s was acknowledged and is not there", id)
		}
	}
}

// content reads what a store holds, as one would who came later.
func (c *cluster) content(dir string) []string {
	var lines []string
	p := &process{w: c.world, node: newNode(c.world, "")}
	p.run(func() {
		p.sleep(2 * maxStale)
		fs := &mount{p: p, d: c.disk}
		folder, _, err := Current(fs, dir)
		if c.faults.oneFolder {
			folder = path.Join(dir, "e1")
		}
		if err == nil && folder != "" {
			var s *store
			if s, err = openStore(fs, folder); err == nil {
				lines = s.lines
			}
		}
		if err != nil {
			c.breach("%s: %v", dir, err)
		}
	})
	c.run(c.now + time.Minute)
	return lines
}

// Processes, machines, their clocks and their way to the disk fail in every way. Still the next epoch has all that an
// epoch acknowledged, and every acknowledged measure is in its sack once.
func TestSimulation(t *testing.T) {
	if *simSeed != 0 {
		for _, line := range simulate(*simSeed, faults{}, t.Logf) {
			t.Error(line)
		}
		return
	}
	runs := *simRuns
	if testing.Short() {
		runs = min(runs, 100)
	}
	seed, broken := firstBroken(1, uint64(runs), faults{})
	if seed != 0 {
		t.Fatalf("seed %d (go test -run TestSimulation -claim.seed=%d):\n%s", seed, seed, strings.Join(broken, "\n"))
	}
}

// The simulation would notice if one of the rules were missing.
func TestSimulationFindsBrokenRules(t *testing.T) {
	// from is where the search begins: some take long to come across.
	f := func(name string, from uint64, broken faults) {
		t.Run(name, func(t *testing.T) {
			seed, found := firstBroken(from, 4000, broken)
			if seed == 0 {
				t.Fatal("nothing was noticed")
			}
			t.Logf("seed %d: %s", seed, found[0])
		})
	}
	f("no fence", 1, faults{noFence: true})
	f("renewals count after the deadline", 16400, faults{lateRenewals: true})
	f("renewals count from their end", 1000, faults{endRenewals: true})
	f("no slack", 1, faults{noSlack: true})
	f("epochs share a folder", 1, faults{oneFolder: true})
	f("others are taken for dead too early", 1, faults{impatience: true})
	f("a store is renamed that was not closed", 1, faults{looseRenaming: true})
	f("nobody looks for higher claims", 1, faults{noSecondLine: true})
	f("heartbeats are contents that change in place", 1, faults{inPlace: true})
}

// firstBroken simulates so many seeds, on all cores, and returns the first found for which something did not hold.
func firstBroken(from, runs uint64, f faults) (uint64, []string) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // much is allocated, little kept
	var next, seed atomic.Uint64
	var mu sync.Mutex
	var broken []string
	var group sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for seed.Load() == 0 {
				s := next.Add(1) + from - 1
				if s >= from+runs {
					return
				}
				if lines := simulate(s, f, nil); len(lines) > 0 {
					mu.Lock()
					if seed.CompareAndSwap(0, s) {
						broken = lines
					}
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return seed.Load(), broken
}

func BenchmarkSimulation(b *testing.B) {
	seed := uint64(0)
	for b.Loop() {
		seed++
		if broken := simulate(seed, faults{}, nil); len(broken) > 0 {
			b.Fatal(fmt.Sprint(seed), broken)
		}
	}
}
