package claim

import (
	"container/heap"
	"errors"
	"iter"
	"math/rand/v2"
	"time"
)

// world is a simulated cluster: everything happens in the order of one queue, by one random source, so that a seed
// tells it all. It runs the package's own code, with the simulation's clock, file system and scheduler.
type world struct {
	rand    *rand.Rand
	now     time.Duration
	queue   events
	next    uint64 // of events, so that those of one moment have an order
	current *task
	disk    *disk
	nodes   []*node
	calm    bool          // no more faults
	slow    time.Duration // how many times as long the disk takes
	trouble time.Duration // how long there are faults
	faults  faults
	kind
}

// kind is what trouble a world has, beside processes that end, and machines that are stopped or cut off.
type kind struct {
	sharp   bool // trouble comes near deadlines
	beats   bool // and nothing else
	hangs   bool // links of claims take long, while heartbeats do not
	late    bool // some answers come long after their effect
	hides   bool // caches hide heartbeats for longer than members' slack
	power   bool // it ends once, of all
	asks    bool // members answer over the network
	torn    bool // a listing shows each name as it was at a time of its own
	crashes bool // of machines, whose capabilities the server keeps; and nothing else
	tidies  bool // files of claims go also beside silent members
}

// kindOf returns the kind of a seed's world.
func kindOf(seed uint64) kind {
	k := []kind{
		{sharp: true}, {hangs: true}, {sharp: true, power: true}, {late: true}, {sharp: true, beats: true},
		{hides: true}, {sharp: true, asks: true}, {torn: true}, {asks: true, crashes: true}, {late: true, sharp: true},
	}[seed%10]
	k.tidies = !k.crashes || seed%20 >= 10
	return k
}

type event struct {
	at    time.Duration
	order uint64
	do    func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	(*e)[last] = event{}
	*e = (*e)[:last]
	return x
}

// at has something done at a later time.
func (w *world) at(when time.Duration, do func()) {
	w.next++
	heap.Push(&w.queue, event{when, w.next, do})
}

func (w *world) after(d time.Duration, do func()) { w.at(w.now+d, do) }

// run lets everything up to the end happen.
func (w *world) run(end time.Duration) {
	for len(w.queue) > 0 && w.queue[0].at <= end {
		e := heap.Pop(&w.queue).(event)
		w.now = e.at
		e.do()
	}
	w.now = end
}

func (w *world) chance(oneIn int) bool { return w.rand.IntN(oneIn) == 0 }

// between returns a duration in [low, high).
func (w *world) between(low, high time.Duration) time.Duration {
	return low + time.Duration(w.rand.Int64N(int64(high-low)))
}

// node is a machine: its clock, its link to the disk, what its caches hide.
type node struct {
	w      *world
	name   string
	rate   float64 // of its clock
	offset time.Duration
	kernel *kernel
	down   time.Duration              // until when the machine is
	cut    time.Duration              // until when it is cut off from the disk
	hang   time.Duration              // until when answers about its heartbeat do not come
	lands  time.Duration              // before when no heartbeat gets through
	idle   time.Duration              // until when no client sends measures
	looks  time.Duration              // until when its listings of claims hang
	behind map[string]time.Duration   // until when its listings of folders hang
	news   map[*inode]map[string]bool // names that it has seen to come or go, see mount.tear
	seen   map[*inode]time.Duration
	cached map[*inode]*version // contents of files as they were last read
	frozen map[*inode]bool     // of these the cache goes on showing what it has
	hidden map[string]*hiding  // folders
}

// hiding is a folder that a cache shows as it was.
type hiding struct {
	names []string
	until time.Duration
}

func newNode(w *world, name string) *node {
	n := &node{w: w, name: name, rate: 1}
	n.forget()
	return n
}

// forget empties the caches.
func (n *node) forget() {
	n.seen, n.cached = make(map[*inode]time.Duration), make(map[*inode]*version)
	n.frozen, n.hidden = make(map[*inode]bool), make(map[string]*hiding)
	n.kernel, n.behind = &kernel{}, make(map[string]time.Duration)
	n.news = make(map[*inode]map[string]bool)
}

// Now implements Clock.
func (n *node) Now() time.Duration { return n.offset + time.Duration(float64(n.w.now)*n.rate) }

// process runs tasks on a node, until it is killed.
type process struct {
	w      *world
	node   *node
	dead   bool
	paused time.Duration // until when
	tasks  []*task
}

// task is one goroutine of a process. It runs until it waits.
type task struct {
	p       *process
	resume  func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
	stopped bool
}

var errKilled = errors.New("simulation: the process was killed")

// run starts a task.
func (p *process) run(f func()) {
	t := &task{p: p}
	p.tasks = append(p.tasks, t)
	t.resume, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		f()
	})
	p.w.after(0, t.wake)
}

// uneven is how long the threads of a process that was stopped take at most to go on.
const uneven = time.Second

// wake lets the task go on, when its process is not stopped.
func (t *task) wake() {
	w := t.p.w
	if t.p.dead {
		t.end()
		return
	}
	if t.p.paused > w.now {
		w.at(t.p.paused+w.between(0, uneven), t.wake)
		return
	}
	before := w.current
	w.current = t
	t.resume()
	w.current = before
}

// wait gives way until wake.
func (t *task) wait() error {
	if t.stopped || !t.yield(struct{}{}) {
		t.stopped = true
		return errKilled
	}
	return nil
}

func (t *task) end() {
	if !t.stopped {
		t.stopped = true
		t.stop()
	}
}

// sleep returns false when the process is to end.
func (p *process) sleep(d time.Duration) bool {
	t := p.w.current
	if p.dead || t.stopped {
		return false
	}
	p.w.after(d, t.wake)
	return t.wait() == nil && !p.dead
}

// kill ends a process in the middle of its work. The disk may still execute its requests.
func (p *process) kill() {
	p.dead = true
	for _, t := range p.tasks {
		if t != p.w.current {
			t.end()
		}
	}
}
