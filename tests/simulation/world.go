package simulation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
)

// Options of a run.
type Options struct {
	Seed    uint64
	Length  time.Duration // virtual, of the part with faults
	Sacks   int
	Nodes   int       // machines: two have an API, all a metricd
	Log     io.Writer // nil: none
	Trace   bool      // log packets
	Answers io.Writer // for a line of each answer; nil: none
	Folder  string    // real, for cluster.json, the key and the clocks
	Clients int
	Faults  string        // the only kinds, by commas; "": all
	Without string        // kinds to leave out if Faults is "", by commas: a new kind changes what a seed gives
	Between time.Duration // from one fault to the next, mean
	Late    time.Duration // how old a listing of a folder may be; negative: as the seed has it
	Keeps   time.Duration // for so long the server keeps a dead machine's capabilities; negative: as the seed has it
	Insist  bool          // clients repeat reads that fail
	Stale   int           // one in so many contents stays in caches; 0: none
	Pause   time.Duration // of a client, at most
	Breach  func(string)  // called with each breach, unless nil
	Plain   bool          // clients do what they did at first, and wait an hour for order: old seeds stay the same
}

// World is a simulated cluster.
type World struct {
	options  Options
	folder   string
	rand     *rand.Rand
	began    time.Time
	network  *network
	disk     *disk
	machines []*machine
	slots    []*slot
	commands []*slot // of gnocco sacks, for each machine
	clients  []*client
	shared   []*sharedMetric

	mu        sync.Mutex
	answers   hash.Hash
	asked     int
	breaches  []string
	power     map[*machine]bool // false: off
	boots     map[*machine]int
	handler   slog.Handler
	crash     time.Time      // until when sacks may change hands without a hand-over
	ends      sync.WaitGroup // of faults
	excuses   []excuse
	disturbed time.Time // until when a healthy process may be slow
	changing  bool      // the number of sacks

	jumped     time.Time      // when a clock last did
	apartUntil time.Time      // until when processes may not reach each other
	doubts     [][2]time.Time // in which a clock may be wrong by a jump
}

func newWorld(o Options) *World {
	w := &World{options: o, folder: o.Folder, rand: rand.New(rand.NewPCG(o.Seed, 0)), began: time.Now(),
		network: newNetwork(o.Seed), disk: newDisk(o.Seed), answers: sha256.New(),
		power: make(map[*machine]bool), boots: make(map[*machine]int)}
	if o.Late < 0 { // by a generator of its own
		r := rand.New(rand.NewPCG(o.Seed, 4))
		o.Late = max(0, time.Duration(r.Int64N(8000)-4000)*time.Millisecond)
	}
	if o.Keeps < 0 {
		o.Keeps = max(0, time.Duration(rand.New(rand.NewPCG(o.Seed, 6)).Int64N(120)-90)*time.Second)
	}
	w.disk.frozen, w.disk.late, w.disk.keeps = o.Stale, o.Late, o.Keeps
	if o.Trace {
		w.network.trace = w.log
	}
	w.handler = slog.DiscardHandler
	if o.Log != nil {
		w.handler = slog.NewTextHandler(o.Log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: w.virtual})
	}
	return w
}

// shipped reports whether processes wait for the order of measures no longer than as shipped. Then clients write only
// what counts in any order.
func (w *World) shipped() bool { return !w.options.Plain && w.options.Seed%4 == 3 }

// initialized reports whether an operator makes the cluster, rather than the first process.
func (w *World) initialized() bool { return !w.options.Plain && w.options.Seed%2 == 1 }

// virtual makes a log's times those since the start.
func (w *World) virtual(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Duration("at", a.Value.Time().Sub(w.began))
	}
	return a
}

func (w *World) logger(name string) *slog.Logger { return slog.New(w.handler).With("by", name) }

func (w *World) log(what string, args ...any) { w.logger("world").Info(what, args...) }

func (w *World) powerless(m *machine) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.power[m]
}

// shift makes the machine of a process one of its own, since its last start.
func (w *World) shift(m *machine) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, other := range w.machines {
		if other == m {
			return time.Duration(i+1)*time.Microsecond + time.Duration(w.boots[m])
		}
	}
	return 0
}

// breach notes that a promise was broken.
func (w *World) breach(format string, args ...any) {
	line := fmt.Sprintf("%v: ", time.Since(w.began).Round(time.Millisecond)) + fmt.Sprintf(format, args...)
	w.log("BREACH", "what", line)
	if w.options.Breach != nil {
		w.options.Breach(line)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.breaches) < 50 {
		w.breaches = append(w.breaches, line)
	}
}

// note adds an answer to the hash of all.
func (w *World) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	to := io.Writer(w.answers)
	if w.options.Answers != nil {
		to = io.MultiWriter(to, w.options.Answers)
	}
	fmt.Fprintf(to, "%d ", time.Since(w.began))
	fmt.Fprintf(to, format+"\n", args...)
}

// build makes the machines and starts the processes: two of the API, and a metricd on each machine.
func (w *World) build() error {
	if err := os.MkdirAll(filepath.Join(w.folder, "shared"), 0o750); err != nil {
		return err
	}
	for i := range w.options.Nodes {
		m := newMachine(w, string(rune('a'+i)), fmt.Sprintf("10.0.0.%d", i+1))
		w.machines = append(w.machines, m)
		w.power[m] = true
		if err := m.setMounted(true); err != nil {
			return err
		}
	}
	for i, m := range w.machines {
		if i < 2 {
			w.slots = append(w.slots, &slot{w: w, name: "api-" + m.name, machine: m, role: cluster.RoleAPI,
				failing: make(map[string]failures), listen: m.host + ":8041", peers: m.host + ":8042"})
		}
		w.slots = append(w.slots, &slot{w: w, name: "metricd-" + m.name, machine: m, role: cluster.RoleMetricd,
			peers: m.host + ":8043"})
		w.commands = append(w.commands, &slot{w: w, name: "sacks-" + m.name, machine: m, role: cluster.RoleBoth,
			peers: m.host + ":8044"})
	}
	for _, s := range w.slots {
		go s.supervise()
	}
	if w.initialized() { // processes are refused until then
		time.Sleep(5 * time.Second)
		_, _, err := datafolder.Init(filepath.Join(w.folder, "shared"), datafolder.Terms{Sacks: w.options.Sacks,
			Coordination: datafolder.CoordinationFile, State: filepath.Join(w.folder, "state")})
		return err
	}
	return nil
}

// Result is what came of a run.
type Result struct {
	Breaches []string // what did not hold
	Answers  int
	Sum      string  // hash of the answers
	Watched  float64 // part of the time in which a healthy process had to answer
}

// Run runs a simulation, in a bubble. The data folder is left in Options.Folder.
func Run(o Options) (r Result, err error) {
	w := newWorld(o)
	if err := w.build(); err != nil {
		return r, err
	}
	if err := w.prepare(); err != nil {
		return r, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for _, c := range w.clients {
		all.Go(func() { c.run(ctx) })
	}
	w.disturb(o.Length)
	cancel()
	all.Wait()
	r.Watched = w.watched()
	w.heal()
	w.finish()
	w.mu.Lock()
	defer w.mu.Unlock()
	r.Breaches, r.Answers, r.Sum = w.breaches, w.asked, hex.EncodeToString(w.answers.Sum(nil))[:16]
	return r, w.disk.copyTo(filepath.Join(w.folder, "shared"))
}
