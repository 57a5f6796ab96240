package rules_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/tsdb/chunks"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/ingest/exemplars"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/quota"
	"github.com/gnocco-db/gnocco/metricd/changes"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/query/promql"
	"github.com/gnocco-db/gnocco/rules"
	"github.com/gnocco-db/gnocco/tests/promtest"
	"github.com/gnocco-db/gnocco/tests/seedtest"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

const sacks = 4

// world is a node with rules, and all measures that it should have.
type world struct {
	*testnode.Node
	t       testing.TB
	rng     *rand.Rand
	now     time.Time
	engine  *promql.Engine
	writer  *series.Writer
	manager *rules.Manager
	mu      sync.Mutex              // of fails
	fails   func(what string) error // before a call of the manager

	truth map[string]map[carbonara.Timestamp]float64 // by the text of the labels
	named map[string]labels.Labels
}

func newWorld(t testing.TB, rng *rand.Rand) *world { return newWorldOf(t, rng, 1) }

func newWorldOf(t testing.TB, rng *rand.Rand, workers int) *world {
	w := &world{Node: testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: sacks, Workers: workers}),
		t: t, rng: rng,
		now: time.Now().Truncate(time.Hour).Add(-6 * time.Hour), truth: map[string]map[carbonara.Timestamp]float64{},
		named: map[string]labels.Labels{}}
	t.Cleanup(func() { w.Stop(context.Background()) })
	w.open()
	return w
}

// open makes a process of the stores: a manager that knows nothing.
func (w *world) open() {
	clock := func() time.Time { return w.now }
	archives := testnode.Archives{Metricd: w.Metricd}
	w.engine = promql.New(promql.Options{Archives: archives, Policies: w.Index.ArchivePolicies, Now: clock,
		Series: postings.New(w.Index, postings.Options{Bytes: 64 << 20})})
	ingester := ingest.New(ingest.Options{Index: w.Index, Incoming: w.Incoming, Sacks: sacks, Quotas: new(quota.Book),
		MaxFuture: 24 * time.Hour, Timeout: time.Minute, Now: clock})
	var err error
	w.writer, err = series.NewWriter(series.Options{Ingester: ingester, NewSeries: 1 << 20,
		Exemplars: new(exemplars.Ring), Logger: slog.New(slog.DiscardHandler)})
	w.check(err)
	w.manager = rules.New(rules.Options{Index: w.Index, Engine: w.engine, Archives: faultyArchives{archives, w},
		Writer: w.writer, Sacks: sacks, Logger: slog.New(slog.DiscardHandler),
		Rights: func(json.RawMessage) (postings.Sees, ingest.Rights, error) {
			return nil, ingest.Unrestricted{}, w.fail("rights")
		}, Now: clock})
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) fail(what string) error {
	if w.fails == nil {
		return nil
	}
	w.mu.Lock() // sacks are asked side by side
	defer w.mu.Unlock()
	return w.fails(what)
}

func (f faultyArchives) Changes(ctx context.Context, sack int, r changes.Request) (changes.Answer, error) {
	if err := f.w.fail("changes"); err != nil {
		return changes.Answer{}, err
	}
	answer, err := f.Archives.Changes(ctx, sack, r)
	return answer, errors.Join(err, f.w.fail("answer"))
}

type faultyArchives struct {
	testnode.Archives
	w *world
}

func (f faultyArchives) Refresh(ctx context.Context, ids []uuid.UUID) error {
	if err := f.w.fail("refresh"); err != nil {
		return err
	}
	return f.Archives.Refresh(ctx, ids)
}

func (f faultyArchives) Replace(ctx context.Context, ids []uuid.UUID, r *model.Replacement) (model.Replaced, error) {
	if err := f.w.fail("replace"); err != nil {
		return model.Replaced{}, err
	}
	return f.Archives.Replace(ctx, ids, r)
}

// apply applies a rule file.
func (w *world) apply(file string) {
	w.t.Helper()
	groups, _, err := rules.Parse([]byte(file), w.engine.Parser())
	w.check(err)
	for _, g := range groups {
		g.Creator = "me"
	}
	w.check(w.manager.Apply(context.Background(), groups))
}

// push sends measures of a series.
func (w *world) push(l labels.Labels, times []time.Time, values []float64) {
	w.t.Helper()
	var batch series.Batch
	var named series.Labels
	l.Range(func(one labels.Label) { named.Set(one.Name, one.Value) })
	truth := w.truth[l.String()]
	if truth == nil {
		truth = map[carbonara.Timestamp]float64{}
		w.truth[l.String()], w.named[l.String()] = truth, l
	}
	for i, t := range times {
		w.check(batch.Add(named, carbonara.FromTime(t), values[i]))
		truth[carbonara.FromTime(t)] = values[i]
	}
	w.check(w.writer.Store(context.Background(), "me", "test", &batch))
}

// replace corrects the measures of a series in a range, or deletes them.
func (w *world) replace(l labels.Labels, from, to time.Time, values ...float64) {
	w.t.Helper()
	var packed []byte
	l.Range(func(one labels.Label) { packed = model.AppendLabel(packed, one.Name, one.Value) })
	found, _, err := w.Index.MetricsOfLabels(context.Background(), "me", []model.Labels{model.Labels(packed)})
	w.check(err)
	if found[0] == nil {
		return
	}
	r := &model.Replacement{From: carbonara.FromTime(from), To: carbonara.FromTime(to)}
	truth := w.truth[l.String()]
	for t := range truth {
		if t >= r.From && t < r.To {
			delete(truth, t)
		}
	}
	for i, v := range values {
		t := r.From.Add(time.Duration(i) * 15 * time.Second)
		r.Timestamps, r.Values = append(r.Timestamps, t), append(r.Values, v)
		truth[t] = v
	}
	_, err = testnode.Archives{Metricd: w.Metricd}.Replace(context.Background(), []uuid.UUID{found[0].ID}, r)
	w.check(err)
}

// settleIncoming waits until all measures can be read.
func (w *world) settleIncoming() {
	w.check(w.Metricd.Refresh(context.Background(), []uuid.UUID{{}, {15: 1}, {15: 2}, {15: 3}}))
}

// settle runs rounds until nothing is to do, and the sacks have told of the last results.
func (w *world) settle() {
	w.t.Helper()
	w.settleIncoming()
	for i, quiet := 0, 0; quiet < 4; i++ {
		w.now = w.now.Add(6 * time.Second) // the sacks are polled
		w.check(w.manager.Round(context.Background(), w.now))
		all, err := w.manager.Statuses(context.Background(), func(*rules.Group) bool { return true })
		w.check(err)
		quiet++
		for _, g := range all {
			for _, r := range g.Rules {
				if r.Todo > 0 {
					quiet = 0
				}
				if r.Fault != "" && i > 10 {
					w.t.Fatalf("rule %s: %s", r.Name, r.Fault)
				}
			}
		}
		if i > 400 {
			w.t.Fatalf("cells are still to do: %+v", all)
		}
	}
}

// ask evaluates an expression at times, by an engine.
func ask(t testing.TB, q upstream.Query, err error) map[string]map[int64]float64 {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	result := q.Exec(context.Background())
	matrix, err := result.Matrix()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]map[int64]float64{}
	for _, one := range matrix {
		values := map[int64]float64{}
		for _, p := range one.Floats {
			values[p.T] = p.F
		}
		found[one.Metric.String()] = values
	}
	return found
}

func (w *world) ask(expr string, from, to time.Time, step time.Duration) map[string]map[int64]float64 {
	w.t.Helper()
	q, err := w.engine.Range(context.Background(), &promql.Query{Expr: expr}, from, to, step)
	return ask(w.t, q, err)
}

// askTruth evaluates an expression by Prometheus' engine over all measures.
func (w *world) askTruth(engine *upstream.Engine, expr string, from, to time.Time,
	step time.Duration) map[string]map[int64]float64 {
	w.t.Helper()
	var all []promtest.Series
	for text, measures := range w.truth {
		one := promtest.Series{Labels: w.named[text]}
		for t, v := range measures {
			one.Samples = append(one.Samples, promtest.Sample{MS: int64(t) / 1e6, Value: v})
		}
		slices.SortFunc(one.Samples, func(a, b chunks.Sample) int { return cmp.Compare(a.T(), b.T()) })
		all = append(all, one)
	}
	q, err := engine.NewRangeQuery(context.Background(), promtest.Queryable(all...), nil, expr, from, to, step)
	return ask(w.t, q, err)
}

func near(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b))
}

// same compares the recorded values of a rule with the answer of its expression.
func same(recorded, want map[string]map[int64]float64) error {
	for l, values := range want {
		for t, v := range values {
			if got, ok := recorded[l][t]; !ok || !near(got, v) {
				return fmt.Errorf("%s at %v: recorded %v (%t), want %v", l, time.UnixMilli(t).UTC(), got, ok, v)
			}
		}
	}
	for l, values := range recorded {
		for t, v := range values {
			if _, ok := want[l][t]; !ok {
				return fmt.Errorf("%s at %v: recorded %v, want nothing", l, time.UnixMilli(t).UTC(), v)
			}
		}
	}
	return nil
}

// lawFile has rules of the usual shapes; the second group reads the first.
const lawFile = `
groups:
- name: first
  interval: 1m
  query_offset: 70s
  rules:
  - record: job:load:sum
    expr: sum by (job) (load)
  - record: job:load:avg5m
    expr: avg by (job) (avg_over_time(load[5m]))
  - record: job:requests:rate5m
    expr: sum by (job) (rate(requests_total[5m]))
    labels: {kind: rate}
  - record: load:earlier
    expr: max(load offset 10m) - min(load)
  - record: load:high
    expr: load > 50
- name: second
  interval: 2m
  rules:
  - record: all:load:ratio
    expr: last_over_time(job:load:sum[1m]) / ignoring (job) group_left sum(last_over_time(job:load:sum[1m]))
`

var lawRules = []struct {
	record, expr string
	step         time.Duration
}{
	{"job:load:sum", "sum by (job) (load)", time.Minute},
	{"job:load:avg5m", "avg by (job) (avg_over_time(load[5m]))", time.Minute},
	{"job:requests:rate5m", `label_replace(sum by (job) (rate(requests_total[5m])), "kind", "rate", "", "")`, time.Minute},
	{"load:earlier", "max(load offset 10m) - min(load)", time.Minute},
	{"load:high", "load > 50", time.Minute},
	{"all:load:ratio", "sum by (job) (load) / ignoring (job) group_left sum(load)", 2 * time.Minute},
}

// compare compares the cells of a range with the truth.
func (w *world) compare(engine *upstream.Engine, from, to time.Time) error {
	for _, r := range lawRules {
		start := from.Truncate(r.step).Add(r.step)
		found := fmt.Sprintf("last_over_time({__name__=%q}[%ds])", r.record, int(r.step.Seconds()))
		recorded := w.ask(found, start, to, r.step)
		truth := fmt.Sprintf(`label_replace(%s, "__name__", %q, "", "")`, r.expr, r.record)
		want := w.askTruth(engine, truth, start, to, r.step)
		if err := same(recorded, want); err != nil {
			return fmt.Errorf("rule %s: %w", r.record, err)
		}
		counts := w.ask(fmt.Sprintf("count_over_time({__name__=%q}[%ds])", r.record, int(r.step.Seconds())), start, to,
			r.step)
		for l, values := range counts {
			for t, n := range values {
				if n != 1 {
					return fmt.Errorf("%s at %v: %v measures in a cell", l, time.UnixMilli(t).UTC(), n)
				}
			}
		}
	}
	return nil
}

// Every recorded cell equals its expression over the true inputs, in any order of measures, calls that fail and kills.
func TestCellsFollowTheirInputs(t *testing.T) {
	rng := rand.New(rand.NewPCG(seedtest.Next(t), 0))
	w := newWorld(t, rng)
	engine := promtest.NewEngine(t)
	var all []labels.Labels
	for _, job := range []string{"api", "db"} {
		for i := range 2 {
			all = append(all, labels.FromStrings("__name__", "load", "job", job, "instance", fmt.Sprint(i)),
				labels.FromStrings("__name__", "requests_total", "job", job, "instance", fmt.Sprint(i)))
		}
	}
	begin := w.now
	counters, silent := map[string]float64{}, map[string]bool{}
	value := func(l labels.Labels) float64 {
		if l.Get("__name__") == "load" {
			return float64(rng.IntN(400)) / 4
		}
		if rng.IntN(40) == 0 {
			counters[l.String()] = 0
		}
		counters[l.String()] += float64(rng.IntN(20))
		return counters[l.String()]
	}
	minute := func() {
		for _, l := range all {
			if silent[l.String()] {
				if silent[l.String()] = rng.IntN(8) > 0; silent[l.String()] {
					continue
				}
			} else if rng.IntN(60) == 0 {
				silent[l.String()] = true
			}
			var times []time.Time
			var values []float64
			for i := range 4 {
				times = append(times, w.now.Add(time.Duration(i)*15*time.Second+
					time.Duration(rng.IntN(2))*time.Millisecond))
				values = append(values, value(l))
			}
			w.push(l, times, values)
		}
		w.now = w.now.Add(time.Minute)
	}
	for range 20 {
		minute()
	}
	w.apply(lawFile)
	steps := 60
	for range steps {
		ctx, kill := context.WithCancel(t.Context())
		killed := rng.IntN(2) == 0
		if rng.IntN(2) == 0 {
			// A call fails, or the process ends in it.
			left := rng.IntN(40)
			w.fails = func(string) error {
				if left--; left == 0 || left < 0 && killed {
					if killed {
						kill()
					}
					return errors.New("planned")
				}
				return nil
			}
		}
		minute()
		_ = w.manager.Round(ctx, w.now) // an error is tried again
		kill()
		if w.fails = nil; killed {
			w.open()
		}
		for range 1 + rng.IntN(3) {
			l := all[rng.IntN(len(all))]
			at := begin.Add(time.Duration(rng.IntN(int(w.now.Sub(begin).Seconds()))) * time.Second)
			switch rng.IntN(9) {
			case 0, 1: // late, or of a time that has a measure
				w.push(l, []time.Time{at}, []float64{float64(rng.IntN(100))})
			case 2:
				at = at.Truncate(time.Minute)
				w.push(l, []time.Time{at, at.Add(time.Millisecond)}, []float64{1, 2})
			case 3:
				w.replace(l, at, at.Add(time.Duration(rng.IntN(600))*time.Second))
			case 4:
				w.replace(l, at, at.Add(time.Minute), 3, 99, 5)
			case 5:
				w.Restart(rng.IntN(2) == 0)
				w.open()
			case 6:
				w.open() // another process evaluates
			case 7:
				w.check(w.Metricd.Checkpoint(t.Context()))
			case 8: // late, and in an archive before anybody asks
				w.push(l, []time.Time{at}, []float64{float64(rng.IntN(100))})
				w.check(w.Metricd.Checkpoint(t.Context()))
				w.Restart(true)
				w.open()
			}
		}
	}
	w.settle()
	if err := w.compare(engine, begin, w.now.Add(-2*time.Minute)); err != nil {
		t.Fatal(err)
	}
}

// Cells that are to do stay to do while calls fail, also when another process takes over.
func TestWorkOutlivesFaults(t *testing.T) {
	for _, fault := range []string{"rights", "refresh", "answer"} {
		for _, takeover := range []bool{false, true} {
			t.Run(fmt.Sprint(fault, takeover), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seedtest.Next(t), 0))
				w := newWorld(t, rng)
				engine := promtest.NewEngine(t)
				load := labels.FromStrings("__name__", "load", "job", "api")
				begin := w.now
				for range 4 * 40 {
					w.push(load, []time.Time{w.now}, []float64{float64(rng.IntN(100))})
					w.now = w.now.Add(15 * time.Second)
				}
				w.apply(lawFile)
				w.settle()
				at := begin.Add(time.Duration(10+rng.IntN(15)) * time.Minute)
				w.replace(load, at, at.Add(2*time.Minute), 1000, 2000)
				w.fails = func(what string) error {
					if what == fault {
						return errors.New("planned")
					}
					return nil
				}
				for range 3 {
					w.now = w.now.Add(6 * time.Second)
					_ = w.manager.Round(t.Context(), w.now)
				}
				if w.fails = nil; takeover {
					w.open()
				}
				w.settle()
				if err := w.compare(engine, begin, w.now.Add(-2*time.Minute)); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// Cells whose expression fails hold up no others, older or newer, and are tried again.
func TestFailingCellsHoldUpNobody(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(seedtest.Next(t), 0)))
	load := labels.FromStrings("__name__", "load", "job", "api")
	twin := labels.FromStrings("__name__", "load", "job", "twin")
	begin := w.now
	for i := range 4 * 40 {
		w.push(load, []time.Time{w.now}, []float64{1})
		if i >= 80 && i < 88 {
			w.push(twin, []time.Time{w.now}, []float64{1}) // the rule's label makes it the same series
		}
		w.now = w.now.Add(15 * time.Second)
	}
	w.apply("groups:\n- name: g\n  interval: 1m\n  rules:\n" +
		"  - {record: one, expr: 'last_over_time(load[1m])', labels: {job: x}}")
	state := func() rules.RuleStatus {
		all, err := w.manager.Statuses(t.Context(), func(*rules.Group) bool { return true })
		w.check(err)
		return all[0].Rules[0]
	}
	rounds := func() {
		for range 150 {
			w.now = w.now.Add(6 * time.Second)
			w.check(w.manager.Round(t.Context(), w.now))
		}
	}
	rounds()
	recorded := w.ask("count_over_time(one[1h])", begin.Add(40*time.Minute), begin.Add(40*time.Minute), time.Minute)
	for _, n := range recorded {
		for _, n := range n {
			if n < 34 || n > 39 {
				t.Errorf("%v of 40 cells are recorded", n)
			}
		}
	}
	if s := state(); len(recorded) != 1 || s.Todo < 1 || s.Todo > 6 || !strings.Contains(s.Fault, "the same labels") {
		t.Errorf("%v, %+v", recorded, s)
	}
	w.replace(twin, begin, w.now)
	rounds()
	if s := state(); s.Todo != 0 || s.Fault != "" {
		t.Errorf("%+v", s)
	}
}

// A new rule has history as far as its inputs go, and a correction of any age has its cells evaluated again.
func TestHistoryOfRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(seedtest.Next(t), 0))
	w := newWorld(t, rng)
	w.now = w.now.Add(-60 * time.Hour)
	begin := w.now
	load := labels.FromStrings("__name__", "load", "job", "api")
	gone := labels.FromStrings("__name__", "load", "job", "gone")
	for hour := range 60 {
		for _, l := range []labels.Labels{load, gone} {
			var times []time.Time
			var values []float64
			for i := range 240 {
				times = append(times, w.now.Add(time.Duration(i)*15*time.Second))
				values = append(values, float64(rng.IntN(100)))
			}
			if l.Get("job") == "api" || hour < 20 {
				w.push(l, times, values)
			}
		}
		w.now = w.now.Add(time.Hour)
	}
	w.apply(`
groups:
- name: g
  rules:
  - {record: "job:load:avg5m", expr: "avg by (job) (avg_over_time(load[5m]))"}
  - {record: "load:max", expr: "max(load)"}
  - {record: "jobs", expr: "count(last_over_time(job:load:avg5m[1m]))"}
`)
	compare := func() {
		t.Helper()
		w.settle()
		for record, expr := range map[string]string{"job:load:avg5m": "avg by (job) (avg_over_time(load[5m]))",
			"load:max": "max(load)", "jobs": "count(avg by (job) (avg_over_time(load[5m])))"} {
			end := w.now.Add(-10 * time.Minute)
			for from := begin.Add(-time.Hour); from.Before(end); from = from.Add(7 * time.Hour) {
				to := from.Add(7*time.Hour - time.Minute)
				if last := w.now.Add(-2 * time.Minute).Truncate(time.Minute); to.After(last) {
					to = last
				}
				recorded := w.ask(fmt.Sprintf("last_over_time({__name__=%q}[1m])", record), from, to, time.Minute)
				want := w.ask(fmt.Sprintf(`label_replace(%s, "__name__", %q, "", "")`, expr, record), from, to, time.Minute)
				if err := same(recorded, want); err != nil {
					t.Fatalf("rule %s: %v", record, err)
				}
			}
		}
	}
	compare()
	all, err := w.manager.Statuses(t.Context(), func(*rules.Group) bool { return true })
	w.check(err)
	for _, r := range all[0].Rules[:2] { // the third one's inputs come meanwhile
		if r.History < 60*60 || r.History > (60+24)*60 {
			t.Errorf("rule %s began with %d cells, and its inputs have 60 h", r.Name, r.History)
		}
	}
	for range 5 {
		at := begin.Add(time.Duration(rng.IntN(58*60)) * time.Minute)
		w.replace(load, at, at.Add(time.Duration(1+rng.IntN(30))*time.Minute), 1000, 2000)
		w.replace(gone, at, at.Add(time.Duration(1+rng.IntN(30))*time.Minute))
		compare()
	}
}

// A rule whose new expression has less history keeps no cells of the old one, and its history begins with its inputs.
func TestHistoryOfAChangedRule(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewPCG(seedtest.Next(t), 0)))
	w.now = w.now.Add(-100 * time.Hour)
	begin := w.now
	for hour := range 100 {
		l := labels.FromStrings("__name__", "load", "job", []string{"old", "new"}[hour/50])
		w.push(l, []time.Time{w.now, w.now.Add(time.Minute)}, []float64{1, 2})
		w.now = w.now.Add(time.Hour)
	}
	for _, job := range []string{"old", "new", "old"} {
		w.apply(fmt.Sprintf("groups: [{name: g, rules: [{record: a, expr: 'sum(last_over_time(load{job=%q}[1h]))'}]}]", job))
		w.settle()
		for from := begin; from.Before(w.now.Add(-10 * time.Hour)); from = from.Add(9 * time.Hour) {
			to := from.Add(9*time.Hour - time.Minute)
			want := w.ask(fmt.Sprintf("sum(last_over_time(load{job=%q}[1h]))", job), from, to, time.Minute)
			if err := same(w.ask("sum(last_over_time(a[1m]))", from, to, time.Minute), want); err != nil {
				t.Fatalf("of job %s: %v", job, err)
			}
		}
	}
}
