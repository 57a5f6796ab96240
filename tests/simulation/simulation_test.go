package simulation_test

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/testprogram"
)

var (
	runs  = flag.Int("sim.runs", 4, "seeds of TestSimulation")
	again = flag.Int("sim.found", 3, "how many of the seeds that found faults run once more, each day others")
	first = flag.Uint64("sim.first", 1000, "first seed of TestSimulation")
)

// sample is a run.
type sample struct {
	seed    uint64
	length  time.Duration
	late    time.Duration // how old a listing may be
	faults  string        // the only kinds; "": all
	without string        // kinds that are left out
	between time.Duration // mean time between faults
	insist  bool          // clients repeat reads that fail
	found   string        // the fault of the product that it showed once
	planted string        // a bug to plant
	keeps   time.Duration // as the flag
}

// samplesOf returns n seeds as the flags say.
func samplesOf(faults string, from uint64, n int) []sample {
	samples := make([]sample, n)
	for i := range samples {
		samples[i] = sample{seed: from + uint64(i), length: *length, late: *late, faults: faults, without: *without,
			between: *between, insist: *insist, keeps: *keeps}
	}
	return samples
}

// later are the kinds of fault that came after some seeds were found, and change what these give.
const later = "wrong clock,repartition,slow thaw," + latest

// latest are those that came after all.
const latest = "late answers,repeated changes,failing syncs,full at syncs"

// changes of the number of sacks, and faults that meet them.
const changes = "repartition,power of all,kill at a step,unmount,full"

// found are the seeds at which a fault of the product was found.
var found = []sample{
	{seed: 1009, length: 10 * time.Minute, without: later,
		found: "a clock that was set counts as 10 s from the one before"},
	{seed: 1, length: 10 * time.Minute, without: later + ",clock jump",
		found: "a process whose address has another process lives permanently"},
	{seed: 5000, length: 10 * time.Minute, late: time.Second, without: later + ",clock jump",
		found: "a refresh misses the store of a process that started in the same second"},
	{seed: 1002, length: 10 * time.Minute, without: "clock jump,slow thaw," + latest,
		found: "a machine that starts alone with a system time that is behind makes earlier measures too old"},
	{seed: 32003, length: 10 * time.Minute, faults: "clock jump,rolling restart,wrong clock", between: 12 * time.Second,
		found: "the same, with clocks that jump besides"},
	{seed: 22000, length: 10 * time.Minute, faults: changes, between: 25 * time.Second,
		found: "a number of sacks that cannot be changed any more, since the journal came before the check for measures"},
	{seed: 30000, length: 10 * time.Minute, without: "clock jump,slow thaw," + latest,
		found: "gnocco sacks does not wait for the stores of a process that was killed"},
	{seed: 300189, length: 10 * time.Minute, without: latest,
		found: "gnocco sacks drains without the index"},
	{seed: 200118, length: 10 * time.Minute, without: latest,
		found: "processes that start together do not compare their clocks"},
	{seed: 500840, length: 10 * time.Minute, without: latest,
		found: "an adopted store stays held on a full disk, and closed"},
	{seed: 400876, length: 10 * time.Minute, without: latest,
		found: "a power cut brings back an earlier mark of a closed store"},
	{seed: 400165, length: 10 * time.Minute, without: latest,
		found: "a refresh misses a store that moves meanwhile"},
	{seed: 500821, length: 10 * time.Minute, without: latest,
		found: "a machine whose clock was set by ten minutes in all goes back to its own"},
}

// result is what one seed gave.
type result struct {
	breaches []string
	line     string // number and hash of answers
	virtual  time.Duration
	took     time.Duration
}

var virtualTime = regexp.MustCompile(`, ([0-9hms.]+) virtual`)

// simulate runs one seed in a process of its own. The folder has the same name each time, since the
// order of goroutines depends on names.
func simulate(t *testing.T, program, check string, s sample) (r result) {
	t.Helper()
	base := os.TempDir()
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		base = "/dev/shm"
	}
	folder := filepath.Join(base, fmt.Sprintf("gnocco-simulation-%06d", s.seed))
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o750)); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	cmd := exec.Command("timeout", "-s", "QUIT", "900", program, "-test.run", "^TestSeed$", "-sim.seed", fmt.Sprint(s.seed),
		"-sim.length", s.length.String(), "-sim.folder", folder, "-sim.log", *logFile, "-sim.fault", s.faults, "-sim.without",
		s.without, "-sim.late", s.late.String(), "-sim.between", cmp.Or(s.between, *between).String(),
		fmt.Sprintf("-sim.insist=%v", s.insist), fmt.Sprintf("-sim.stop=%v", check == ""),
		fmt.Sprintf("-sim.nodes=%d", *nodes), fmt.Sprintf("-sim.sacks=%d", *sacks),
		"-sim.gc", gc.String(), "-sim.keeps", s.keeps.String(), fmt.Sprintf("-sim.plain=%v", s.found != "" || *plain))
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1", plantedVariable+"="+s.planted)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	r.took = time.Since(began)
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "BREACH "); ok {
			r.breaches = append(r.breaches, text)
		} else if m := virtualTime.FindStringSubmatch(line); m != nil {
			r.line = line
			r.virtual, _ = time.ParseDuration(m[1])
		}
	}
	if r.line == "" {
		r.breaches = append(r.breaches, fmt.Sprintf("seed %d ended with %v: %s", s.seed, err, out[:min(len(out), 4000)]))
	}
	if check != "" && len(r.breaches) == 0 {
		if out, err := exec.Command(check, "fsck", "--data", filepath.Join(folder, "shared")).CombinedOutput(); err != nil {
			r.breaches = append(r.breaches, fmt.Sprintf("fsck: %v: %s", err, out))
		}
	}
	return r
}

// simulateMany runs samples on all processors until f returns false.
func simulateMany(t *testing.T, program, check string, samples []sample, f func(s sample, r result) bool) {
	t.Helper()
	var next atomic.Int64
	var stop atomic.Bool
	var mu sync.Mutex
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for !stop.Load() {
				i := next.Add(1) - 1
				if i >= int64(len(samples)) {
					return
				}
				r := simulate(t, program, check, samples[i])
				mu.Lock()
				if !f(samples[i], r) {
					stop.Store(true)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
}

func skipIfShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("Go's runtime is built anew: make test SHORT=")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("the edits of Go's runtime were tried on Linux only")
	}
}

func gnocco(t *testing.T) string {
	t.Helper()
	dir, err := testprogram.Build("gnocco")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "gnocco")
}

// A cluster keeps its promises through faults of every kind; and the seeds at which it once did not, pass.
func TestSimulation(t *testing.T) {
	skipIfShort(t)
	program, check := build(t), gnocco(t)
	var virtual time.Duration
	report := func(s sample, r result) bool {
		virtual += r.virtual
		if len(r.breaches) == 0 {
			t.Logf("%s, %v", r.line, r.took.Round(100*time.Millisecond))
			return true
		}
		t.Errorf("%+v:\n%s\nagain, with a log: go test ./tests/simulation -run TestSimulation -sim.first=%d -sim.runs=1 "+
			"-sim.found=0 -sim.length=%v -sim.without=%s -sim.log=/tmp/log", s,
			strings.Join(r.breaches[:min(len(r.breaches), 10)], "\n"), s.seed, s.length, s.without)
		return false
	}
	samples, day := samplesOf(*only, *first, *runs), int(time.Now().Unix()/86400)
	for i := range min(*again, len(found)) {
		samples = append(samples, found[(day**again+i)%len(found)])
	}
	simulateMany(t, program, check, samples, report)
	t.Logf("%v virtual", virtual.Round(time.Minute))
	if *runs > 1 {
		sameSeed(t, program)
	}
}

// sameSeed holds runs of one seed to give the same answers, at the same times; one of three may differ.
func sameSeed(t *testing.T, program string) {
	t.Helper()
	lines := make(map[string]int)
	for range 3 {
		r := simulate(t, program, "", sample{seed: 1, length: 2 * time.Minute, without: *without})
		line, _, _ := strings.Cut(r.line, " virtual")
		lines[line]++
	}
	most := 0
	for line, n := range lines {
		t.Log(n, line)
		most = max(most, n)
	}
	if most < 2 {
		t.Error("three runs of one seed are all different")
	}
}
