package rules_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/query/promql"
	"github.com/gnocco-db/gnocco/rules"
)

var (
	costs       = flag.Int("rules.costs", 0, "series that each rule of TestCosts reads; 0: it skips")
	costMinutes = flag.Int("rules.minutes", 60, "minutes of measures in TestCosts")
	costRules   = flag.Int("rules.number", 100, "rules in TestCosts")
	costDays    = flag.Int("rules.days", 30, "days of history in TestCostsOfHistory")
	costProfile = flag.String("rules.profile", "", "folder of profiles of what the rules do")
)

// costShapes are expressions over a fleet; %d makes them different.
var costShapes = []string{
	`sum by (job) (load{none!="%d"})`,
	`avg by (job) (avg_over_time(load{none!="%d"}[5m]))`,
	`max by (zone) (max_over_time(load{none!="%d"}[5m]))`,
	`sum by (job) (rate(requests_total{none!="%d"}[5m]))`,
	`quantile by (zone) (0.95, load{none!="%d"})`,
}

// fleet is as many gauges and counters, measured each 10 s, some of them late.
type fleet struct {
	*world
	labels []series.Labels
	sent   int
	late   func() bool
	held   map[int64][]heldMeasure // by the second at which they are sent
	spent  map[string]time.Duration
}

type heldMeasure struct {
	of int
	t  carbonara.Timestamp
	v  float64
}

const (
	costStep = 10 * time.Second
	lateness = 20 * time.Minute
)

func newFleet(t testing.TB, n int, late func() bool) *fleet {
	f := &fleet{world: newWorldOf(t, rand.New(rand.NewPCG(1, 2)), runtime.GOMAXPROCS(0)), late: late,
		held:  map[int64][]heldMeasure{},
		spent: map[string]time.Duration{}}
	f.now = f.now.Add(-12 * time.Hour)
	for i := range n {
		for _, name := range []string{"load", "requests_total"} {
			var l series.Labels
			l.Set("__name__", name)
			l.Set("job", fmt.Sprint("job", i%10))
			l.Set("zone", fmt.Sprint("zone", i/10%3))
			l.Set("instance", fmt.Sprintf("host%05d:9100", i))
			f.labels = append(f.labels, l)
		}
	}
	return f
}

// cpu returns the CPU time of the process so far.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// spend adds the CPU time of a call to that of its purpose.
func (f *fleet) spend(on string, do func()) {
	began := cpu()
	do()
	f.spent[on] += cpu() - began
}

// tick sends the measures of a step, until it has passed.
func (f *fleet) tick(step time.Duration) {
	f.spend("ingest", func() {
		var batch series.Batch
		at := f.now
		for i, l := range f.labels {
			f.sent++
			v := float64(f.sent * 7919 % 1000)
			if i%2 == 1 {
				v = float64(at.Unix()%1e6*int64(i%7+1)) + v
			}
			if f.late != nil && f.late() {
				due := at.Add(lateness).Unix()
				f.held[due] = append(f.held[due], heldMeasure{i, carbonara.FromTime(at), v})
				continue
			}
			f.check(batch.Add(l, carbonara.FromTime(at), v))
		}
		for _, one := range f.held[at.Unix()] {
			f.check(batch.Add(f.labels[one.of], one.t, one.v))
		}
		delete(f.held, at.Unix())
		f.check(f.writer.Store(context.Background(), "me", "test", &batch))
		f.settleIncoming()
	})
	f.now = f.now.Add(step)
}

// rounds evaluates as Run does in a step.
func (f *fleet) rounds(step time.Duration) {
	f.spend("rules", func() {
		for at := f.now.Add(-step); at.Before(f.now); at = at.Add(time.Second) {
			f.check(f.manager.Round(context.Background(), at))
		}
	})
}

// profiled writes a profile of the CPU while something is done.
func profiled(t testing.TB, name string, do func()) {
	if *costProfile != "" {
		out, err := os.Create(*costProfile + "/" + name + ".pprof")
		if err == nil {
			err = pprof.StartCPUProfile(out)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer pprof.StopCPUProfile()
	}
	do()
}

func (f *fleet) applyRules(n int) {
	if n == 0 {
		return
	}
	var file strings.Builder
	file.WriteString("groups:\n")
	for i := range n {
		if i%10 == 0 {
			fmt.Fprintf(&file, "- name: g%d\n  rules:\n", i/10)
		}
		fmt.Fprintf(&file, "  - {record: \"r%d\", expr: '%s'}\n", i, fmt.Sprintf(costShapes[i%len(costShapes)], i))
	}
	f.apply(file.String())
}

// Rules cost little beside the measures that they read. With -rules.costs the table of docs/decisions comes out.
func TestCosts(t *testing.T) {
	if *costs == 0 {
		t.Skip("-rules.costs is 0")
	}
	minutes := time.Duration(*costMinutes) * time.Minute
	for _, c := range []struct {
		name  string
		rules int
		late  float64
	}{{"no rules", 0, 0}, {"rules", *costRules, 0}, {"no rules, 5 % late", 0, 0.05}, {"rules, 5 % late", *costRules, 0.05}} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4))
			f := newFleet(t, *costs, func() bool { return rng.Float64() < c.late })
			for range int(lateness+10*time.Minute) / int(costStep) {
				f.tick(costStep)
			}
			f.applyRules(c.rules)
			for range 60 { // the history, which is measured by itself
				f.tick(costStep)
				f.rounds(costStep)
			}
			history := f.spent["rules"]
			clear(f.spent)
			cells := f.cellsDone()
			began := cpu()
			profiled(t, strings.ReplaceAll(c.name, " ", "_"), func() {
				for range int(minutes / costStep) {
					f.tick(costStep)
					f.rounds(costStep)
				}
			})
			total := cpu() - began
			perMinute := func(d time.Duration) float64 { return float64(d.Milliseconds()) / float64(*costMinutes) }
			t.Logf("| %s | %d rules of %d series | all %.0f ms a minute, ingest %.0f, rules %.0f: %.2f %% of a core | first %v | "+
				"to do %d |", c.name, c.rules, *costs, perMinute(total), perMinute(f.spent["ingest"]),
				perMinute(f.spent["rules"]), perMinute(f.spent["rules"])/600, history, cells-f.cellsDone())
			if c.rules > 0 && c.late == 0 {
				for shape, text := range costShapes {
					f.compare(t, fmt.Sprintf(text, shape), time.Hour, time.Minute)
				}
			}
		})
	}
}

// cellsDone returns how many cells are not to do any more, negative.
func (f *fleet) cellsDone() (n int64) {
	all, err := f.manager.Statuses(context.Background(), func(*rules.Group) bool { return true })
	f.check(err)
	for _, g := range all {
		for _, r := range g.Rules {
			n -= r.Todo
		}
	}
	return n
}

// compare has 16 clients ask for a span of an expression that a rule records, by the rule and without.
func (f *fleet) compare(t testing.TB, expr string, span, step time.Duration) {
	const clients, queries = 16, 40
	var spent [2]time.Duration
	for i, uses := range []bool{false, true} {
		n := queries
		if !uses {
			n = 2
		}
		began, used := cpu(), 0
		var mu sync.Mutex
		var all sync.WaitGroup
		for c := range clients {
			all.Go(func() {
				for k := range n {
					q := &promql.Query{Expr: expr}
					if uses {
						f.manager.Use(q, func(*rules.Group) bool { return true })
					}
					to := f.now.Truncate(step).Add(-time.Duration(1+(c*n+k)%3) * step)
					prepared, err := f.engine.Range(context.Background(), q, to.Add(-span), to, step)
					if err != nil {
						t.Error(err)
						return
					}
					if err := prepared.Exec(context.Background()).Err; err != nil {
						t.Error(err)
					}
					prepared.Close()
					mu.Lock()
					used += len(q.ByRules)
					mu.Unlock()
				}
			})
		}
		all.Wait()
		spent[i] = (cpu() - began) / time.Duration(clients*n)
		if uses && used != clients*n {
			t.Errorf("%s: %d of %d queries read the rule", expr, used, clients*n)
		}
	}
	t.Logf("| the last %v of %s | %v | %v by a rule |", span, expr, spent[0], spent[1])
}

// fill stores the measures of a span, of all series, an hour at a time.
func (f *fleet) fill(span, step time.Duration) {
	f.spend("ingest", func() {
		for end := f.now.Add(span); f.now.Before(end); f.now = f.now.Add(time.Hour) {
			var batch series.Batch
			for i, l := range f.labels {
				for at := f.now; at.Before(f.now.Add(time.Hour)); at = at.Add(step) {
					f.sent++
					v := float64(f.sent * 7919 % 1000)
					if i%2 == 1 {
						v += float64(at.Unix() - f.now.Truncate(1000*time.Hour).Unix()) // a counter with resets
					}
					f.check(batch.Measure(carbonara.FromTime(at), v))
				}
				f.check(batch.End(l))
			}
			f.check(f.writer.Store(context.Background(), "me", "test", &batch))
			f.settleIncoming()
		}
	})
	f.check(f.Metricd.Checkpoint(context.Background()))
}

// record applies a rule and evaluates its whole history. It returns how many cells that are, and the CPU time.
func (f *fleet) record(name, expr string) (cells int64, spent time.Duration) {
	f.apply(fmt.Sprintf("groups:\n- name: %s\n  rules:\n  - {record: %[1]s, expr: '%s'}\n", name, expr))
	clear(f.spent)
	profiled(f.t, name, func() {
		f.spend("rules", func() {
			for first := true; first || f.cellsDone() < 0; f.now = f.now.Add(time.Second) {
				f.check(f.manager.Round(context.Background(), f.now))
				first = false
			}
		})
	})
	all, err := f.manager.Statuses(context.Background(), func(g *rules.Group) bool { return g.Name == name })
	f.check(err)
	for _, r := range all[0].Rules {
		if r.Health != "ok" || r.Todo > 0 {
			f.t.Fatalf("%s: %+v", name, r)
		}
	}
	return all[0].Rules[0].History, f.spent["rules"]
}

// timeReads asks for an hour of some series again and again until done, and returns how long that takes at the median
// and at the 99th percentile.
func (f *fleet) timeReads(done <-chan struct{}) (median, p99 time.Duration) {
	var all []time.Duration
	for now := f.now; ; {
		select {
		case <-done:
			slices.Sort(all)
			return all[len(all)/2], all[len(all)*99/100]
		case <-time.After(5 * time.Millisecond):
		}
		began := time.Now()
		q := &promql.Query{Expr: `sum by (zone) (rate(requests_total{instance=~"host0000[0-9]:9100"}[5m]))`}
		prepared, err := f.engine.Range(context.Background(), q, now.Add(-time.Hour), now, time.Minute)
		if err == nil {
			err = prepared.Exec(context.Background()).Err
			prepared.Close()
		}
		if err != nil {
			f.t.Error(err)
			return 0, 0
		}
		all = append(all, time.Since(began))
	}
}

// The history of a new rule, while others read.
func TestCostsOfHistory(t *testing.T) {
	if *costs == 0 {
		t.Skip("-rules.costs is 0")
	}
	f := newFleet(t, *costs, nil)
	f.labels = f.labels[:*costs] // half of each
	f.now = f.now.Add(-time.Duration(*costDays) * 24 * time.Hour).Truncate(time.Hour)
	f.fill(time.Duration(*costDays)*24*time.Hour, time.Minute)
	t.Logf("ingest of %d series for %d days: %v", *costs, *costDays, f.spent["ingest"])
	done := make(chan struct{})
	time.AfterFunc(5*time.Second, func() { close(done) })
	median, p99 := f.timeReads(done)
	for i, shape := range []int{0, 3} {
		done, reads := make(chan struct{}), make(chan [2]time.Duration)
		go func() {
			median, p99 := f.timeReads(done)
			reads <- [2]time.Duration{median, p99}
		}()
		began := time.Now()
		cells, spent := f.record(fmt.Sprint("h", i), fmt.Sprintf(costShapes[shape], i))
		took := time.Since(began)
		close(done)
		during := <-reads
		t.Logf("| history of %s | %d cells | %v CPU with those of the reads, %v in all | reads of others %v, %v before and "+
			"%v, %v meanwhile |", costShapes[shape], cells, spent, took, median, p99, during[0], during[1])
	}
}

// A year of a rule's results each hour. The cells are minutes; most of them lie in groups of an hour.
func TestCostsOfAYear(t *testing.T) {
	if *costs == 0 {
		t.Skip("-rules.costs is 0")
	}
	f := newFleet(t, 10, nil)
	const year = 365 * 24 * time.Hour
	f.now = f.now.Add(-year).Truncate(time.Hour)
	f.fill(year, 4*time.Minute)
	for i, expr := range []string{`sum(load{none!="%d"})`, `sum by (job) (rate(requests_total{none!="%d"}[10m]))`} {
		expr = fmt.Sprintf(expr, i)
		cells, spent := f.record(fmt.Sprint("y", i), expr)
		t.Logf("history of a year: %d cells, %v CPU", cells, spent)
		f.check(f.manager.Round(context.Background(), f.now))
		f.compare(t, expr, year, time.Hour)
	}
}
