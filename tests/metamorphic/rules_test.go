package metamorphic_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
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
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/query/promql"
	"github.com/gnocco-db/gnocco/rules"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/promtest"
	"github.com/gnocco-db/gnocco/tests/seedtest"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// ruleFile has a rule that reads another one's results, and stands before it.
const ruleFile = `
groups:
- name: first
  interval: 2m
  query_offset: 70s
  rules:
  - {record: "rack:load:share", expr: "last_over_time(rack:load:sum[1m]) / ignoring (rack) group_left
      sum(last_over_time(rack:load:sum[1m]))"}
- name: second
  interval: 1m
  rules:
  - {record: "rack:load:sum", expr: "sum by (rack) (load)"}
  - {record: "rack:load:max", expr: "max by (rack) (max_over_time(load[5m]))", labels: {kind: max}}
  - {record: "rack:requests:rate", expr: "sum by (rack) (rate(requests_total[5m]))"}
`

// ruleMeanings are the rules of ruleFile without reading results.
var ruleMeanings = []struct {
	record, expr string
	step         time.Duration
}{
	{"rack:load:sum", "sum by (rack) (load)", time.Minute},
	{"rack:load:max", `label_replace(max by (rack) (max_over_time(load[5m])), "kind", "max", "", "")`, time.Minute},
	{"rack:requests:rate", "sum by (rack) (rate(requests_total[5m]))", time.Minute},
	{"rack:load:share", "sum by (rack) (load) / ignoring (rack) group_left sum(load)", 2 * time.Minute},
}

// ruled is a node with recording rules on a disk that loses what is not synced, and all measures that it should have.
type ruled struct {
	*testnode.Node
	t       *testing.T
	rng     *rand.Rand
	disk    *testnode.CrashableFS
	cutting sync.Mutex // guards left and cut
	left    int        // changes of the disk until the power is cut; 0: it is not
	cut     *vfs.MemFS // what the cut left
	cuts    int
	now     time.Time
	engine  *promql.Engine
	writer  *series.Writer
	manager *rules.Manager
	inputs  []*ruleInput
}

// ruleInput is a pushed series, or a metric of a resource whose rack changes.
type ruleInput struct {
	name, id  string
	rack      string
	host      uuid.UUID // of the resource; Nil: it is pushed
	metric    uuid.UUID
	counter   float64
	measures  map[carbonara.Timestamp]float64
	forgotten bool // it was deleted
}

func (in *ruleInput) labels() labels.Labels {
	return labels.FromStrings("__name__", in.name, "rack", in.rack, "host", in.id)
}

const ruledSacks = 3

func newRuled(t *testing.T) *ruled {
	r := &ruled{t: t, rng: rand.New(rand.NewPCG(seedtest.Next(t), 3)), disk: testnode.NewCrashableFS(),
		now: time.Now().Truncate(time.Hour).Add(-6 * time.Hour)}
	r.start()
	t.Cleanup(func() { r.Stop(context.Background()) })
	kind, err := model.NewResourceType("host", []*model.Attribute{{Name: "host", Kind: model.KindString, MaxLength: 9},
		{Name: "rack", Kind: model.KindString, MaxLength: 9}})
	fatal.If(t, err, r.Index.CreateResourceType(t.Context(), kind))
	policy, err := r.writer.Ingester.PolicyOfSeries(t.Context(), model.UnknownType)
	fatal.If(t, err)
	for i := range 4 {
		for _, name := range []string{"load", "requests_total"} {
			r.inputs = append(r.inputs, &ruleInput{name: name, id: fmt.Sprint("p", i), rack: fmt.Sprint("r", i%2)})
		}
		host := &ruleInput{name: "load", id: fmt.Sprint("h", i), rack: fmt.Sprint("r", i%3), host: uuid.New(),
			metric: uuid.New()}
		resource := &model.Resource{ID: host.host, Type: "host", Creator: "me", OriginalID: host.id}
		resource.Attributes.Set("host", host.id)
		resource.Attributes.Set("rack", host.rack)
		fatal.If(t, r.Index.CreateResource(t.Context(), resource, []*model.Metric{{ID: host.metric, Name: "load",
			ArchivePolicy: policy, Creator: "me"}}))
		r.inputs = append(r.inputs, host)
	}
	for _, in := range r.inputs {
		in.measures = map[carbonara.Timestamp]float64{}
	}
	return r
}

// start starts a node on the disk, and a process that evaluates.
func (r *ruled) start() {
	disk := r.disk
	r.Node = testnode.Start(r.t, testnode.Options{Sacks: ruledSacks, Workers: 1, FS: &crashFS{disk, func() {
		r.cutting.Lock()
		defer r.cutting.Unlock()
		if r.left == 0 {
			return
		}
		if r.left--; r.left == 0 {
			r.cut = disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: r.cuts * 37 % 101,
				RNG: rand.New(rand.NewPCG(uint64(r.cuts), 4))})
		}
	}}})
	r.takeOver()
}

// takeOver makes a process evaluate that knows nothing but what the stores have.
func (r *ruled) takeOver() {
	clock := func() time.Time { return r.now }
	archives := testnode.Archives{Metricd: r.Metricd}
	r.engine = promql.New(promql.Options{Archives: archives, Policies: r.Index.ArchivePolicies, Now: clock,
		Series: postings.New(r.Index, postings.Options{Bytes: 64 << 20})})
	ingester := ingest.New(ingest.Options{Index: r.Index, Incoming: r.Incoming, Sacks: ruledSacks,
		Quotas: new(quota.Book), MaxFuture: 24 * time.Hour, Timeout: time.Minute, Now: clock})
	var err error
	r.writer, err = series.NewWriter(series.Options{Ingester: ingester, NewSeries: 1 << 20,
		Exemplars: new(exemplars.Ring), Logger: slog.New(slog.DiscardHandler)})
	fatal.If(r.t, err)
	r.manager = rules.New(rules.Options{Index: r.Index, Engine: r.engine, Archives: archives, Writer: r.writer,
		Sacks: ruledSacks, Logger: slog.New(slog.DiscardHandler), Now: clock,
		Rights: func(json.RawMessage) (postings.Sees, ingest.Rights, error) { return nil, ingest.Unrestricted{}, nil }})
}

// untilCut does something, during which the power is cut. All that was acknowledged before is there afterwards.
func (r *ruled) untilCut(f func()) {
	arm := func(left int) (cut *vfs.MemFS) {
		r.cutting.Lock()
		defer r.cutting.Unlock()
		r.left, cut, r.cut = left, r.cut, nil
		return cut
	}
	arm(1 + r.rng.IntN(60))
	f()
	cut := arm(0)
	if cut == nil {
		return
	}
	dead, stop := context.WithCancel(context.Background())
	stop()
	r.Stop(dead)
	r.disk, r.cuts = &testnode.CrashableFS{MemFS: cut}, r.cuts+1
	r.start()
}

// send sends measures of an input.
func (r *ruled) send(in *ruleInput, times []time.Time, values []float64) {
	if in.forgotten {
		return
	}
	var batch series.Batch
	sent := &model.Measures{Metrics: []uuid.UUID{in.metric}, Offsets: []int{0, len(times)}, Values: values}
	for i, at := range times {
		t := carbonara.FromTime(at)
		sent.Timestamps = append(sent.Timestamps, t)
		in.measures[t] = values[i]
		var named series.Labels
		in.labels().Range(func(l labels.Label) { named.Set(l.Name, l.Value) })
		fatal.If(r.t, batch.Add(named, t, values[i]))
	}
	if in.host != uuid.Nil {
		fatal.If(r.t, r.Post(sent))
		return
	}
	fatal.If(r.t, r.writer.Store(r.t.Context(), "me", "test", &batch))
}

// replace corrects the measures of an input in a range, or deletes them.
func (r *ruled) replace(in *ruleInput, from, to time.Time, values ...float64) {
	id := in.metric
	if in.forgotten {
		return
	}
	if in.host == uuid.Nil {
		var packed []byte
		for _, name := range []string{"__name__", "host", "rack"} {
			packed = model.AppendLabel(packed, name, in.labels().Get(name))
		}
		found, _, err := r.Index.MetricsOfLabels(r.t.Context(), "me", []model.Labels{model.Labels(packed)})
		fatal.If(r.t, err)
		if found[0] == nil {
			return
		}
		id = found[0].ID
	}
	what := &model.Replacement{From: carbonara.FromTime(from), To: carbonara.FromTime(to)}
	maps.DeleteFunc(in.measures, func(t carbonara.Timestamp, _ float64) bool { return t >= what.From && t < what.To })
	for i, v := range values {
		t := what.From.Add(time.Duration(i)*15*time.Second + 500*time.Millisecond)
		what.Timestamps, what.Values = append(what.Timestamps, t), append(what.Values, v)
		in.measures[t] = v
	}
	_, err := testnode.Archives{Metricd: r.Metricd}.Replace(r.t.Context(), []uuid.UUID{id}, what)
	fatal.If(r.t, err)
}

// rename moves a host to another rack, with all of its history.
func (r *ruled) rename(in *ruleInput) {
	rack := fmt.Sprint("r", r.rng.IntN(4))
	_, err := r.Index.UpdateResource(r.t.Context(), "host", in.host, carbonara.FromTime(r.now),
		func(x *model.Resource) (*index.MetricSet, error) {
			x.Attributes.Set("rack", rack)
			return nil, nil
		})
	fatal.If(r.t, err)
	in.rack = rack
}

// minute sends the measures of a minute.
func (r *ruled) minute() {
	for _, in := range r.inputs {
		if r.rng.IntN(20) == 0 {
			continue
		}
		var times []time.Time
		var values []float64
		for i := range 4 {
			value := float64(1 + r.rng.IntN(400))
			if in.name != "load" {
				if r.rng.IntN(40) == 0 {
					in.counter = 0 // a reset
				}
				in.counter += value
				value = in.counter
			}
			at := r.now.Add(time.Duration(i)*15*time.Second + 7*time.Second)
			times, values = append(times, at), append(values, value)
		}
		r.send(in, times, values)
	}
	r.now = r.now.Add(time.Minute)
}

// settle runs rounds until nothing is to do.
func (r *ruled) settle() {
	r.now = r.now.Add(time.Minute) // behind all rounds
	for quiet := 0; quiet < 4; {
		r.now = r.now.Add(6 * time.Second) // the sacks are polled
		fatal.If(r.t, r.manager.Round(r.t.Context(), r.now))
		all, err := r.manager.Statuses(r.t.Context(), func(*rules.Group) bool { return true })
		fatal.If(r.t, err)
		quiet++
		for _, g := range all {
			for _, one := range g.Rules {
				if one.Todo > 0 {
					quiet = 0
				}
				if one.Fault != "" {
					r.t.Fatalf("rule %s: %s", one.Name, one.Fault)
				}
			}
		}
	}
}

// answered returns the values of an expression by labels and time.
func (r *ruled) answered(q upstream.Query, err error) map[string]float64 {
	r.t.Helper()
	fatal.If(r.t, err)
	defer q.Close()
	matrix, err := q.Exec(r.t.Context()).Matrix()
	fatal.If(r.t, err)
	found := map[string]float64{}
	for _, one := range matrix {
		for _, p := range one.Floats {
			found[fmt.Sprintf("%s at %v", one.Metric, time.UnixMilli(p.T).UTC())] = p.F
		}
	}
	return found
}

// requireCells compares the recorded cells with the expressions by Prometheus' engine over all measures.
func (r *ruled) requireCells(engine *upstream.Engine, from, to time.Time) {
	r.t.Helper()
	var all []promtest.Series
	for _, in := range r.inputs {
		one := promtest.Series{Labels: in.labels()}
		for t, v := range in.measures {
			one.Samples = append(one.Samples, promtest.Sample{MS: int64(t) / 1e6, Value: v})
		}
		slices.SortFunc(one.Samples, func(a, b chunks.Sample) int { return cmp.Compare(a.T(), b.T()) })
		if !in.forgotten && len(one.Samples) > 0 {
			all = append(all, one)
		}
	}
	for _, rule := range ruleMeanings {
		start := from.Truncate(rule.step).Add(rule.step)
		ask := func(over string) map[string]float64 {
			q := &promql.Query{Expr: fmt.Sprintf("%s_over_time({__name__=%q}[%ds])", over, rule.record,
				int(rule.step.Seconds()))}
			query, err := r.engine.Range(r.t.Context(), q, start, to, rule.step)
			return r.answered(query, err)
		}
		truth := fmt.Sprintf(`label_replace(%s, "__name__", %q, "", "")`, rule.expr, rule.record)
		query, err := engine.NewRangeQuery(r.t.Context(), promtest.Queryable(all...), nil, truth, start, to, rule.step)
		want, got := r.answered(query, err), ask("last")
		now := func() map[string]float64 {
			query, err := r.engine.Range(r.t.Context(), &promql.Query{Expr: truth}, start, to, rule.step)
			return r.answered(query, err)
		}
		for cell, v := range want {
			g, ok := got[cell]
			if near := g == v || math.Abs(g-v) <= 1e-9*math.Abs(v); !ok || !near && (g == g || v == v) {
				r.t.Fatalf("%s: recorded %v (%t), want %v; the expression is %v now", cell, g, ok, v, now()[cell])
			}
		}
		for cell, v := range got {
			if _, ok := want[cell]; !ok {
				r.t.Fatalf("%s: recorded %v, want nothing; the expression is %v now", cell, v, now()[cell])
			}
		}
		for cell, n := range ask("count") {
			if n != 1 {
				r.t.Fatalf("%s: %v measures in a cell", cell, n)
			}
		}
	}
}

// Each recorded cell is its expression over the inputs as they are in the end. Measures come late and twice, and are
// corrected and deleted; hosts are renamed; other processes take over, and the power is cut.
func TestRulesEqualTheirExpressions(t *testing.T) {
	rounds, cuts := seedtest.Rounds(2, 6), 0
	for range rounds {
		r := newRuled(t)
		engine := promtest.NewEngine(t)
		begin := r.now
		for range 15 {
			r.minute()
		}
		groups, _, err := rules.Parse([]byte(ruleFile), r.engine.Parser())
		fatal.If(t, err)
		for _, g := range groups {
			g.Creator = "me"
		}
		fatal.If(t, r.manager.Apply(t.Context(), groups))
		fatal.If(t, r.Metricd.Refresh(t.Context(), []uuid.UUID{{}, {15: 1}, {15: 2}})) // all sacks
		// Rules find at once what those before them have recorded.
		fatal.If(t, r.manager.Round(t.Context(), r.now))
		r.requireCells(engine, begin, r.now.Add(-2*time.Minute))
		for range 60 {
			r.minute()
			round := func() { fatal.If(t, r.manager.Round(t.Context(), r.now)) }
			if r.rng.IntN(3) == 0 {
				r.untilCut(round)
			} else {
				round()
			}
			for i := range 1 + r.rng.IntN(6) {
				if i > 0 && r.rng.IntN(2) == 0 { // it hears of changes, and gathers them
					fatal.If(t, r.manager.Round(t.Context(), r.now.Add(time.Duration(i)*8*time.Second)))
				}
				in := r.inputs[r.rng.IntN(len(r.inputs))]
				at := begin.Add(time.Duration(r.rng.IntN(int(r.now.Sub(begin).Seconds()))) * time.Second)
				at = at.Add(200 * time.Millisecond) // groups leave out what lies at their end
				switch r.rng.IntN(11) {
				case 0, 1: // late, or of a time that has a measure
					r.send(in, []time.Time{at}, []float64{float64(r.rng.IntN(100))})
				case 2:
					at = at.Truncate(time.Minute).Add(7 * time.Second)
					r.send(in, []time.Time{at, at}, []float64{1, 2})
				case 3:
					r.replace(in, at, at.Add(time.Duration(r.rng.IntN(600))*time.Second))
				case 4:
					r.replace(in, at, at.Add(time.Minute), 3, 99, 5)
				case 5, 6:
					if in.host != uuid.Nil && !in.forgotten {
						r.rename(in)
					}
				case 7:
					r.Restart(r.rng.IntN(2) == 0)
					r.takeOver()
				case 8:
					r.takeOver()
				case 9:
					r.untilCut(func() { fatal.If(t, r.Metricd.Checkpoint(t.Context())) })
				case 10:
					if in.id == "h3" && !in.forgotten {
						fatal.If(t, r.Index.DeleteResource(t.Context(), "host", in.host, nil))
						in.forgotten = true
					}
				}
			}
		}
		r.settle()
		r.requireCells(engine, begin, r.now.Add(-2*time.Minute))
		t.Logf("the power was cut %d times", r.cuts)
		cuts += r.cuts
	}
	if cuts == 0 {
		t.Error("the power was never cut")
	}
}
