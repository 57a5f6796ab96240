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
	simFrom = flag.Uint64("claim.from", 1, "first of them")
	simSeed = flag.Uint64("claim.seed", 0, "the only simulation to run, which then tells what happens; 0: all")
)

const (
	simTrouble = 60 * time.Second  // three times as long where links hang
	simCalm    = 100 * time.Second // enough for every death to be noticed and every measure to be processed
)

// simulate runs a cluster of two api and two metricd processes on four machines through a minute of trouble, lets it
// come to rest, and returns what did not hold.
func simulate(seed uint64, f faults, trace func(format string, args ...any)) []string {
	w := &world{rand: rand.New(rand.NewPCG(seed, 5)), faults: f, kind: kindOf(seed)}
	if w.slow = []time.Duration{1, 1, 5, 100}[w.rand.IntN(4)]; w.beats || w.crashes {
		w.slow = 1
	}
	if w.trouble = simTrouble; w.hangs {
		w.trouble *= 3
	}
	w.disk = newDisk(w)
	// from before there were claims
	for _, name := range []string{simRoot, "/data/sacks", "/data/sacks/001", "/data/sacks/001/e1"} {
		if err := w.disk.enter(name, &inode{dir: true, past: []version{{}}}); err != nil {
			panic(err)
		}
		w.disk.sync(path.Dir(name), w.disk.entries[path.Dir(name)])
	}
	c := &cluster{world: w, acked: make(map[string]bool), taken: make(map[string]bool),
		served: make(map[int]time.Duration),
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
	client := &process{w: w, node: newNode(w, "client")}
	client.run(func() { c.read(client) })
	if w.crashes {
		w.after(time.Second, c.watch)
		w.after(w.between(20*time.Second, 25*time.Second), c.crash)
	} else {
		w.after(w.between(0, 10*time.Second), c.trouble)
	}
	if w.power { // by a generator of its own: other seeds stay the same
		w.after(time.Duration(rand.New(rand.NewPCG(seed, 6)).Int64N(int64(w.trouble))), c.powerCut)
	}
	w.run(w.trouble)
	w.calm = true
	for w.now < w.trouble+simCalm && !c.atRest() {
		w.run(w.now + 5*time.Second)
	}
	for _, m := range c.members {
		m.tell("is done")
		m.kill()
	}
	c.over = true
	client.kill()
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
	if !running && c.now >= n.down {
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
	if c.sharp && m.session != nil && (c.beats || c.chance(2)) {
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

// read is a client that reads a sack of a member that believes to hold it. An answer has all that was said to be there
// before.
func (c *cluster) read(client *process) {
	for client.sleep(c.between(100*time.Millisecond, time.Second)) && !c.hides {
		sack := c.rand.IntN(simSacks)
		before := len(c.done[sack])
		holders := slices.DeleteFunc(slices.Clone(c.members), func(m *member) bool {
			return m.stores[sackName(sack)] == nil
		})
		if len(holders) == 0 || !client.sleep(c.between(100*time.Microsecond, 2*time.Millisecond)) {
			continue
		}
		m := holders[c.rand.IntN(len(holders))]
		h := m.stores[sackName(sack)]
		if m.dead || m.paused > c.now || h == nil {
			continue
		}
		if h.digest(); !m.lives() { // reads are answered if the lease holds after them
			continue
		}
		for _, id := range c.done[sack][:before] {
			if !h.ids[id] {
				c.breach("%s at epoch %d does not show %s", h.claim.Name, h.claim.Epoch, id)
				return
			}
		}
	}
}

// takeover is how long a sack may have no holder after a machine has ended: until the holder is dead or its client
// given up, and some looks.
const takeover = 25 * time.Second

// watch looks at how long sacks have no holder.
func (c *cluster) watch() {
	if c.over {
		return
	}
	for sack := range simSacks {
		last, before := c.served[sack]
		if slices.ContainsFunc(c.members, func(m *member) bool { return !m.dead && m.stores[sackName(sack)] != nil }) {
			c.served[sack] = c.now
		} else if before && c.now-last > takeover {
			c.breach("sack %d is without a holder for %s", sack, c.now-last)
			delete(c.served, sack)
		}
	}
	c.after(250*time.Millisecond, c.watch)
}

// crash is the end of a machine, if there is another one that can take its stores, and no process has just begun, whose
// heartbeats others list until it answers.
func (c *cluster) crash() {
	if c.calm {
		return
	}
	c.after(c.between(20*time.Second, 30*time.Second), c.crash)
	live := slices.DeleteFunc(slices.Clone(c.members), func(m *member) bool { return m.dead })
	m := live[c.rand.IntN(len(live))]
	if slices.ContainsFunc(live, func(other *member) bool { return c.now-other.began < 5*time.Second }) ||
		!slices.ContainsFunc(live, func(other *member) bool { return other != m && other.api == m.api }) {
		return
	}
	m.tell("is on a machine that ends")
	m.kill()
	m.node.kernel.dead, m.node.down = true, c.now+25*time.Second
	m.node.forget()
}

// strikeNearDeadline makes trouble for beats that end around the end of the lease.
func (c *cluster) strikeNearDeadline(m *member) {
	n, left := m.node, m.session.Remaining()-c.between(0, 2*time.Second)
	switch c.rand.IntN(4) {
	case 0:
		m.tell("is cut off for %s", left)
		n.cut = c.now + left
	case 1: // and the next beat does not get through at all
		m.tell("waits for answers of its beats for %s", left)
		n.hang = c.now + left
		c.after(left+c.between(0, 2*time.Second), func() { n.hang = c.now + 30*time.Second })
	case 2: // and the next beat gets through when others take the process for dead
		m.tell("waits for answers of its beats for %s, and is late then", left)
		n.hang = c.now + left
		c.after(left, func() {
			n.lands = c.now + c.between(6*time.Second, 12*time.Second)
			n.idle = n.lands
		})
	case 3: // others see a beat in a listing that they began long before, and none after it
		long := c.between(5*time.Second, 14*time.Second)
		m.tell("is listed for %s", long)
		for _, other := range c.nodes {
			if other != n {
				other.behind[path.Join(m.session.heartbeat.dir, beatsFolder)] = c.now + long
			}
		}
		c.after(long, func() { n.hang = c.now + 30*time.Second })
	}
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
	seed, broken := firstBroken(*simFrom, uint64(runs), faults{})
	if seed != 0 {
		t.Fatalf("seed %d (go test -run TestSimulation -claim.seed=%d):\n%s", seed, seed, strings.Join(broken, "\n"))
	}
}

// The simulation would notice if one of the rules were missing.
func TestSimulationFindsBrokenRules(t *testing.T) {
	// from is where the search begins, shortly before a seed that shows the fault: some take long to come across.
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
	f("no slack", 190, faults{noSlack: true})
	f("epochs share a folder", 1, faults{oneFolder: true})
	f("others are taken for dead too early", 1, faults{impatience: true})
	f("a store is renamed that was not closed", 1, faults{looseRenaming: true})
	f("nobody looks for higher claims", 900, faults{noSecondLine: true})
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
