package simulation_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/gnocco-db/gnocco/tests/simulation"
)

var (
	seed    = flag.Uint64("sim.seed", 0, "seed of TestSeed")
	length  = flag.Duration("sim.length", 5*time.Minute, "virtual time with faults")
	pause   = flag.Duration("sim.pause", time.Second, "of a client, at most")
	between = flag.Duration("sim.between", 15*time.Second, "mean time between faults")
	only    = flag.String("sim.fault", "", "the only kinds of fault, by commas")
	without = flag.String("sim.without", "", "kinds of fault to leave out unless sim.fault is set, by commas")
	stale   = flag.Int("sim.stale", 20, "one in so many contents that change in place stays in other mounts' caches")
	late    = flag.Duration("sim.late", -1, "how old a listing may be; negative: up to 4 s in half of the seeds")
	keeps   = flag.Duration("sim.keeps", -1, "for so long the server keeps a dead machine's capabilities, as CephFS; "+
		"negative: up to 30 s in a quarter of the seeds")
	plain   = flag.Bool("sim.plain", false, "as the first seeds were: one writer a metric, no resources, counts and sums only")
	insist  = flag.Bool("sim.insist", true, "clients repeat reads that fail")
	trace   = flag.Bool("sim.trace", false, "log packets")
	logFile = flag.String("sim.log", "", "file for the log of all processes")
	answers = flag.String("sim.answers", "", "file for a line of each answer")
	gc      = flag.Duration("sim.gc", time.Minute, "virtual time between two collections of garbage")
	stop    = flag.Bool("sim.stop", false, "end with the first breach")
	folder  = flag.String("sim.folder", "", "for the data folder")
	nodes   = flag.Int("sim.nodes", 3, "machines, at most 26: two have an API, all a metricd")
	sacks   = flag.Int("sim.sacks", 4, "of the cluster")
)

// bubbleBegins is midnight of 2000-01-01, as testing/synctest has it.
var bubbleBegins = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// TestSeed is what the others run in a process of its own, built with the overlay.
func TestSeed(t *testing.T) {
	if *seed == 0 {
		t.Skip("no seed")
	}
	cryptotest.SetGlobalRandom(t, *seed)
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1) // a collection at some moment would change the order of goroutines
	runtime.MemProfileRate = 0
	makeThreads(64)
	ballast = freshHeap()
	o := simulation.Options{Seed: *seed, Length: *length, Sacks: *sacks, Nodes: *nodes, Clients: 3, Pause: *pause,
		Between: *between, Faults: *only, Without: *without, Late: *late, Keeps: *keeps, Insist: *insist, Stale: *stale,
		Trace: *trace, Folder: *folder, Plain: *plain}
	if *stop {
		o.Breach = func(line string) {
			fmt.Println("BREACH", line)
			fmt.Printf("seed %d: stopped, %v virtual\n", *seed, time.Since(bubbleBegins).Round(time.Second))
			os.Exit(1)
		}
	}
	if o.Folder == "" {
		o.Folder = t.TempDir()
	}
	create := func(name string) io.Writer {
		if name == "" {
			return nil
		}
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	o.Log, o.Answers = create(*logFile), create(*answers)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		go collect()
		r, err := simulation.Run(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range r.Breaches {
			fmt.Println("BREACH", line)
		}
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		fmt.Printf("seed %d: %d answers, hash %s, %v virtual, %d MiB, %d goroutines, watched %.0f %%\n", *seed, r.Answers,
			r.Sum, time.Since(began).Round(time.Second), memory.HeapAlloc>>20, runtime.NumGoroutine(), 100*r.Watched)
		status := 0
		if len(r.Breaches) > 0 {
			status = 1
		}
		os.Exit(status) // dead processes have goroutines that never return
	})
}

// collect frees memory while no goroutine runs. Later objects have other addresses then, which not all depends on the
// seed.
func collect() {
	for {
		time.Sleep(*gc)
		synctest.Wait()
		runtime.GC()
	}
}
