package promql_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/promtest"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// dashboards are expressions of the shapes that dashboards and rules have. R, S and L are ranges of any length, the
// step of a subquery, and a long range.
var dashboards = []string{
	// nodes
	`100 * (1 - avg by (instance) (rate(cpu_seconds_total{mode="idle"}[R])))`,
	`sum by (instance, mode) (irate(cpu_seconds_total[R]))
		/ on (instance) group_left () count by (instance) (cpu_seconds_total{mode="idle"})`,
	`sum by (mode) (increase(cpu_seconds_total{mode!="idle"}[R]))`,
	`sum without (cpu) (rate(cpu_seconds_total{mode=~"user|system"}[R])) > 0.2`,
	`count(count by (instance, cpu) (cpu_seconds_total))`,
	`load1 / on (instance) count by (instance) (cpu_seconds_total{mode="idle"})`,
	`avg_over_time(load1[R])`,
	`1 - memory_free_bytes / memory_bytes`,
	`100 * avg_over_time(memory_free_bytes[R]) / memory_bytes`,
	`min_over_time(memory_free_bytes[R])`,
	`max by (instance) (max_over_time(memory_free_bytes[L]))`,
	`(disk_free_bytes / disk_bytes * 100 < 40) and predict_linear(disk_free_bytes[L], 4 * 3600) < 0`,
	`predict_linear(disk_free_bytes{mount="/"}[R], 3600)`,
	`deriv(disk_free_bytes[R])`,
	`delta(disk_free_bytes{mount="/"}[L])`,
	`delta(temperature[R])`,
	`idelta(temperature[R])`,
	`quantile_over_time(0.95, load1[R])`,
	`quantile_over_time(0.5, temperature[L])`,
	`stddev_over_time(load1[R])`,
	`stdvar_over_time(temperature[R])`,
	`(load1 - avg_over_time(load1[L])) / stddev_over_time(load1[L])`,
	`max_over_time(temperature[R]) - min_over_time(temperature[R])`,
	`max(temperature)`,
	`time() - boot_seconds`,
	`changes(boot_seconds[R]) > 0`,
	`changes(temperature[R])`,
	`resets(network_bytes_total[R])`,
	`8 * rate(network_bytes_total{direction="in"}[R])`,
	`-8 * irate(network_bytes_total{direction="out"}[R])`,
	`topk(2, sum by (instance, direction) (rate(network_bytes_total[R])))`,
	`bottomk(1, rate(network_bytes_total[L]))`,
	`max_over_time(rate(network_bytes_total[R])[L:S])`,
	`quantile_over_time(0.9, rate(network_bytes_total[R])[L:S])`,
	`avg_over_time(sum(rate(network_bytes_total[R]))[L:S])`,
	`min_over_time((1 - memory_free_bytes / memory_bytes)[L:S])`,
	`sum(rate(network_bytes_total[R])) - sum(rate(network_bytes_total[R] offset 1h))`,
	`rate(network_bytes_total[R] offset 17m)`,
	`sum(increase(network_bytes_total[L])) / 1e9`,
	// a rate that never varies
	`rate(steady_total[R])`,
	`rate(steady_total[90m])`,
	`sum(increase(steady_total[R]))`,
	// targets and their ends
	`up == 0`,
	`avg_over_time(up[R]) < 0.9`,
	`sum by (job) (up) / count by (job) (up)`,
	`count(up == 1)`,
	`min_over_time(up[R])`,
	`sum_over_time(up[R])`,
	`count_over_time(up[R])`,
	`1 - sum(sum_over_time(up[L])) / sum(count_over_time(up[L]))`,
	`absent(up{job="none"})`,
	`absent(job_progress)`,
	`absent_over_time(job_progress[R])`,
	`absent_over_time(job_progress{phase="none"}[R])`,
	`present_over_time(job_progress[R])`,
	`last_over_time(job_progress[R])`,
	`first_over_time(job_progress[R])`,
	`job_progress`,
	`count_over_time(job_progress[R])`,
	`sum(job_progress) or vector(0)`,
	`timestamp(up)`,
	`time() - timestamp(load1)`,
	`up unless on (instance) boot_seconds > 0`,
	`last_over_time(temperature[R]) > -100`,
	// pods
	`sum by (node) (rate(pod_cpu_seconds_total[R]) * on (pod) group_left (node) pod_info)`,
	`topk(3, sum by (pod) (rate(pod_cpu_seconds_total[R])))`,
	`sum by (pod) (pod_memory_bytes) / sum by (pod) (pod_memory_limit_bytes)`,
	`max by (pod) (max_over_time(pod_memory_bytes[R])) / on (pod) pod_memory_limit_bytes`,
	`sum(rate(pod_cpu_seconds_total[R])) / sum(pod_cpu_limit)`,
	`increase(pod_restarts_total[R]) > 0`,
	`sum by (pod) (increase(pod_restarts_total[L]))`,
	`changes(pod_restarts_total[R])`,
	`rate(pod_restarts_total[L]) * 60 * 15 > 0`,
	`replicas_wanted != replicas_ready`,
	`max_over_time(replicas_wanted[R]) - min_over_time(replicas_ready[R])`,
	`count_values("n", replicas_ready)`,
	`label_replace(sum by (pod) (rate(pod_cpu_seconds_total[R])), "app", "$1", "pod", "(.*)-[0-9]+")`,
	`sum by (app) (label_replace(pod_memory_bytes, "app", "$1", "pod", "(.*)-[0-9]+"))`,
	`label_join(replicas_ready, "id", "/", "app", "job")`,
	`group by (app) (replicas_ready)`,
	`clamp_max(sum by (pod) (rate(pod_cpu_seconds_total[R])) / on (pod) pod_cpu_limit, 1)`,
	`round(sum(increase(pod_cpu_seconds_total[R])), 0.001)`,
	`quantile(0.9, sum by (pod) (rate(pod_cpu_seconds_total[R])))`,
	`stddev(rate(pod_cpu_seconds_total[R]))`,
	// requests
	`sum by (code) (rate(requests_total[R]))`,
	`sum(rate(requests_total{code=~"5.."}[R])) / sum(rate(requests_total[R]))`,
	`sum by (handler) (rate(requests_total{code="500"}[R])) / sum by (handler) (rate(requests_total[R])) > 0.01`,
	`(sum(rate(requests_total{code="500"}[R])) / sum(rate(requests_total[R])) > 0.02)
		and (sum(rate(requests_total{code="500"}[L])) / sum(rate(requests_total[L])) > 0.02)`,
	`1 - sum(increase(requests_total{code="500"}[L])) / sum(increase(requests_total[L]))`,
	`sum(irate(requests_total[R]))`,
	`sum(idelta(requests_total[R]))`,
	`increase(requests_total{code="500"}[R])`,
	`sum(rate(requests_total[R] @ end()))`,
	`sum(rate(requests_total[R])) / sum(rate(requests_total[R] @ start() offset 1h))`,
	`rate(requests_total{code="200"}[R]) / ignoring (code) group_left () sum without (code) (rate(requests_total[R]))`,
	`sum(max_over_time(rate(requests_total[R])[L:S]))`,
	`increase(requests_total[L:S])`,
	`sum(rate(operations[R]))`,
	`increase(operations[R])`,
	`sum(increase(requests_total[R] anchored))`,
	`sum by (instance) (rate(requests_total[R] smoothed))`,
	`increase(requests_total{code="500"}[R] smoothed)`,
	`resets(requests_total{code="500"}[R] anchored)`,
	`changes(boot_seconds[R] anchored)`,
	`delta(temperature[R] smoothed)`,
	`delta(load1[R] anchored)`,
	`quantile_over_time(0.95, load1[10s])`,
	`quantile_over_time(0.95, temperature[1m])`,
	`deriv(sum(requests_total)[L:S])`,
	`changes(requests_total{code="500"}[R])`,
	`histogram_quantile(0.99, sum by (le) (rate(latency_seconds_bucket[R])))`,
	`histogram_quantile(0.5, sum by (le, instance) (increase(latency_seconds_bucket[R])))`,
	`histogram_quantile(0.9, latency_seconds_bucket)`,
	`sum by (instance) (rate(latency_seconds_sum[R])) / sum by (instance) (rate(latency_seconds_count[R]))`,
	`sum(rate(latency_seconds_bucket{le="0.5"}[R])) / sum(rate(latency_seconds_count[R]))`,
	`(sum(rate(latency_seconds_bucket{le="0.1"}[R])) + sum(rate(latency_seconds_bucket{le="0.5"}[R]))) / 2
		/ sum(rate(latency_seconds_count[R]))`,
	`sum by (le) (increase(latency_seconds_bucket[R]))`,
	`max_over_time(histogram_quantile(0.9, sum by (le) (rate(latency_seconds_bucket[R])))[L:S])`,
	`histogram_quantile(0.9, sum(rate(rpc_seconds[R])))`,
	`histogram_quantile(0.5, rate(rpc_seconds{instance="a"}[R]))`,
	`histogram_count(rate(rpc_seconds[R]))`,
	`histogram_sum(increase(rpc_seconds[R])) / histogram_count(increase(rpc_seconds[R]))`,
	`histogram_avg(sum(rate(rpc_seconds[R])))`,
	`histogram_fraction(0, 0.5, sum(rate(rpc_seconds[R])))`,
	`histogram_quantile(0.9, rpc_seconds)`,
	`histogram_count(rpc_seconds)`,
	`histogram_quantile(0.9, sum(increase(rpc_seconds[L])))`,
	`histogram_count(sum_over_time(rpc_seconds[R]))`,
	`histogram_count(sum(irate(rpc_seconds[R])))`,
	`resets(rpc_seconds[R])`,
}

const (
	dashboardSpan  = 9 * time.Hour
	dashboardFirst = 6 * time.Hour // that is asked for
	dashboardEvery = 15 * time.Second
)

// dashboardAges are the ages of the newest measure, the widest groups that answer then, and what else answers from a
// time on, as of the first measure: finer groups, or measures.
var dashboardAges = []struct {
	name              string
	age, group, finer time.Duration
	from              time.Duration
}{
	{"1 h", 0, 10 * time.Second, 0, dashboardSpan - 2*time.Hour},
	{"20 h", 17 * time.Hour, 10 * time.Second, 0, math.MaxInt64},
	{"10 d", 10 * 24 * time.Hour, time.Minute, 0, math.MaxInt64},
	{"31 d", 31*24*time.Hour - 2*time.Hour - time.Minute, time.Hour, time.Minute, dashboardSpan - 2*time.Hour},
	{"40 d", 40 * 24 * time.Hour, time.Hour, 0, math.MaxInt64},
	{"2 y", 720 * 24 * time.Hour, time.Hour, 0, math.MaxInt64},
}

// fleet makes what two machines with their pods show: counters that begin anew when a machine does, gauges with NaN,
// scrapes that fail, jobs that come and go, histograms.
type fleet struct {
	ctx    context.Context
	r      *rand.Rand
	start  time.Time
	series []promtest.Series
}

// add adds a series. value returns what it shows at a time, false for nothing.
func (f *fleet) add(text string, times []int64, value func(i int) (promtest.Sample, bool)) {
	b := labels.NewScratchBuilder(4)
	name, rest, _ := strings.Cut(text, "{")
	b.Add(model.LabelName, name)
	for _, pair := range strings.Split(strings.TrimSuffix(rest, "}"), ",") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			b.Add(name, value)
		}
	}
	b.Sort()
	s := promtest.Series{Labels: b.Labels()}
	for i, ms := range times {
		if sample, ok := value(i); ok {
			sample.MS = ms
			s.Samples = append(s.Samples, chunks.Sample(sample))
		}
	}
	f.series = append(f.series, s)
}

func number(v float64) promtest.Sample { return promtest.Sample{Value: v} }

func newFleet(ctx context.Context, r *rand.Rand, start time.Time) *fleet {
	f := &fleet{ctx: ctx, r: r, start: start}
	for _, instance := range []string{"a", "b"} {
		f.machine(instance)
	}
	return f
}

func (f *fleet) machine(instance string) {
	r := f.r
	n := int(dashboardSpan / dashboardEvery)
	times, restarted, failed := make([]int64, n), make([]bool, n), make([]bool, n)
	phase := r.Int64N(dashboardEvery.Milliseconds() - 10)
	for i := range times {
		times[i] = f.start.UnixMilli() + int64(i)*dashboardEvery.Milliseconds() + phase + r.Int64N(5)
		if times[i]%10_000 == 0 {
			times[i]++ // bounds of groups are another law's
		}
		restarted[i] = i > 0 && r.IntN(500) == 0
		failed[i] = r.IntN(300) == 0
	}
	for range 2 { // outages
		from := r.IntN(n)
		for i := from; i < min(n, from+20+r.IntN(60)); i++ {
			failed[i] = true
		}
	}
	gauge := func(text string, value func(i int) float64) {
		f.add(text, times, func(i int) (promtest.Sample, bool) { return number(value(i)), !failed[i] })
	}
	counter := func(text string, step func(i int) float64) {
		v := math.Floor(r.Float64() * 1000)
		gauge(text, func(i int) float64 {
			if restarted[i] {
				v = 0
			}
			v += step(i)
			return v
		})
	}
	walk := func(text string, at, by, least float64) {
		v := at
		gauge(text, func(int) float64 {
			v = max(least, v+by*r.NormFloat64())
			return v
		})
	}
	job := func(name string, more string) string {
		return fmt.Sprintf("%s{instance=%s,job=node%s}", name, instance, more)
	}
	daily := func(i int) float64 { return 1.2 + math.Sin(float64(i)/300) }
	for cpu := range 2 {
		for m, mode := range []string{"idle", "user", "system"} {
			counter(job("cpu_seconds_total", fmt.Sprintf(",cpu=%d,mode=%s", cpu, mode)), func(i int) float64 {
				return float64(9-4*m) * daily(i) * r.Float64()
			})
		}
	}
	counter(job("operations", ""), func(int) float64 { return math.Floor(9 * r.Float64()) }) // of a gauge's policy
	walk(job("load1", ""), 2, 0.3, 0)
	walk(job("memory_free_bytes", ""), 4e9, 5e7, 1e8)
	gauge(job("memory_bytes", ""), func(int) float64 { return 16e9 })
	for _, mount := range []string{"/", "/data"} {
		walk(job("disk_free_bytes", ",mount="+mount), 5e10, 3e8, 1e6)
		gauge(job("disk_bytes", ",mount="+mount), func(int) float64 { return 1e11 })
	}
	gauge(job("temperature", ""), func(i int) float64 {
		if r.IntN(200) == 0 {
			return math.NaN()
		}
		return math.Round(40 + 10*daily(i) + r.NormFloat64())
	})
	boot := float64(f.start.Unix() - 5000)
	gauge(job("boot_seconds", ""), func(i int) float64 {
		if restarted[i] {
			boot = float64(times[i]/1000) - 3
		}
		return boot
	})
	for _, direction := range []string{"in", "out"} {
		counter(job("network_bytes_total", ",direction="+direction), func(i int) float64 {
			return math.Floor(1e6 * daily(i) * r.ExpFloat64())
		})
	}
	f.add(job("up", ""), times, func(i int) (promtest.Sample, bool) {
		return number(map[bool]float64{false: 1}[failed[i]]), true
	})
	f.add(job("steady_total", ""), times, func(i int) (promtest.Sample, bool) {
		return number(1e4 + float64(times[i]-f.start.UnixMilli())/100), true
	})
	begins := r.IntN(n - 400)
	f.add(job("job_progress", ""), times, func(i int) (promtest.Sample, bool) {
		return number(float64(i - begins)), i >= begins && i < begins+60+r.IntN(5)
	})
	for i := range 2 {
		pod := fmt.Sprintf(",pod=web%s-%d", instance, i)
		counter(job("pod_cpu_seconds_total", pod), func(i int) float64 { return 15 * r.Float64() * daily(i) })
		walk(job("pod_memory_bytes", pod), 3e8, 1e6, 1e6)
		gauge(job("pod_memory_limit_bytes", pod), func(int) float64 { return 1e9 })
		gauge(job("pod_cpu_limit", pod), func(int) float64 { return 2 })
		gauge(job("pod_info", pod+",node=n"+instance), func(int) float64 { return 1 })
		counter(job("pod_restarts_total", pod), func(int) float64 { return float64(r.IntN(400) / 399) })
	}
	wanted := 3.0
	gauge(job("replicas_wanted", ",app=web"), func(int) float64 {
		if r.IntN(100) == 0 {
			wanted = float64(1 + r.IntN(4))
		}
		return wanted
	})
	gauge(job("replicas_ready", ",app=web"), func(int) float64 { return float64(2 + r.IntN(2)) })
	for c, code := range []string{"200", "404", "500"} {
		rate := []float64{100, 5, 2}[c]
		for _, handler := range []string{"/", "/api"} {
			counter(job("requests_total", ",code="+code+",handler="+handler), func(i int) float64 {
				return math.Floor(rate * daily(i) * r.ExpFloat64())
			})
		}
	}
	f.latencies(instance, times, restarted, failed)
}

// latencies adds a classic histogram and a native one.
func (f *fleet) latencies(instance string, times []int64, restarted, failed []bool) {
	bounds := []string{"0.05", "0.1", "0.5", "1", "+Inf"}
	counts, sums := make([][]float64, len(times)), make([]float64, len(times))
	native := make([]*histogram.FloatHistogram, len(times))
	seen, sum, count := make([]float64, len(bounds)), 0.0, 0
	positive := map[int32]float64{}
	for i := range times {
		if restarted[i] {
			clear(seen)
			clear(positive)
			sum, count = 0, 0
		}
		for range f.r.IntN(20) {
			v := math.Exp(f.r.NormFloat64() - 1.5)
			sum, count = sum+v, count+1
			for b, le := range []float64{0.05, 0.1, 0.5, 1, math.Inf(1)} {
				if v <= le {
					seen[b]++
				}
			}
			positive[bucketOf(v, 1)]++
		}
		counts[i], sums[i] = slices.Clone(seen), sum
		h := &histogram.FloatHistogram{Schema: 1, ZeroThreshold: 1e-9, Count: float64(count), Sum: sum}
		h.PositiveSpans, h.PositiveBuckets = spansOf(positive)
		native[i] = h.Compact(0)
	}
	job := fmt.Sprintf("instance=%s,job=node", instance)
	for b, le := range bounds {
		f.add(fmt.Sprintf("latency_seconds_bucket{%s,le=%s}", job, le), times, func(i int) (promtest.Sample, bool) {
			return number(counts[i][b]), !failed[i]
		})
	}
	f.add("latency_seconds_count{"+job+"}", times, func(i int) (promtest.Sample, bool) {
		return number(counts[i][len(bounds)-1]), !failed[i]
	})
	f.add("latency_seconds_sum{"+job+"}", times, func(i int) (promtest.Sample, bool) {
		return number(sums[i]), !failed[i]
	})
	f.add("rpc_seconds{"+job+"}", times, func(i int) (promtest.Sample, bool) {
		return promtest.Sample{Histogram: native[i]}, !failed[i]
	})
}

// fleetStore is a store with a fleet.
type fleetStore struct {
	*store
	fleet    *fleet
	policies [2]*model.ArchivePolicy // of gauges, of counters
	ids      map[string]uuid.UUID
	engine   *upstream.Engine
	lacks    bool // archive policies lack methods, which answers may say
}

// newFleetStore returns one whose archive policies are those of pushed series, without some methods.
func newFleetStore(t *testing.T, f *fleet, without ...string) *fleetStore {
	s := &fleetStore{store: newStore(t, promtest.Syntax), fleet: f, ids: map[string]uuid.UUID{},
		engine: promtest.NewEngine(t), lacks: len(without) > 0}
	s.policies[0] = model.SeriesArchivePolicy()
	s.policies[1] = model.CounterArchivePolicy(s.policies[0])
	for i, p := range s.policies {
		if s.lacks {
			var err error
			p, err = p.Change(nil, nil, slices.DeleteFunc(p.MethodNames(), func(method string) bool {
				return slices.Contains(without, method)
			}))
			fatal.If(t, err)
			s.policies[i] = p
		}
		fatal.If(t, s.Index.CreateArchivePolicy(t.Context(), p))
	}
	return s
}

// send sends samples of each series.
func (s *fleetStore) send(of func(promtest.Series) []chunks.Sample) {
	at, values := map[uuid.UUID][]carbonara.Timestamp{}, map[uuid.UUID][]float64{}
	var fresh []*model.Metric
	id := func(l labels.Labels, part string) uuid.UUID {
		key := part + l.String()
		if id, ok := s.ids[key]; ok {
			return id
		}
		name := l.Get(model.LabelName)
		counts := part != ""
		for _, suffix := range []string{"_total", "_count", "_sum", "_bucket"} {
			counts = counts || strings.HasSuffix(name, suffix)
		}
		var text []byte
		if part != "" {
			text = model.AppendLabel(text, model.LabelHistogram, part)
		}
		l.Range(func(l labels.Label) { text = model.AppendLabel(text, l.Name, l.Value) })
		m := &model.Metric{ID: uuid.New(), ArchivePolicy: s.policies[0], Creator: "me", Labels: model.Labels(text)}
		if counts {
			m.ArchivePolicy = s.policies[1]
		}
		fresh = append(fresh, m)
		s.ids[key] = m.ID
		return m.ID
	}
	for _, series := range s.fleet.series {
		for _, sample := range of(series) {
			add := func(part string, v float64) {
				id := id(series.Labels, part)
				at[id] = append(at[id], carbonara.Timestamp(sample.T()*1e6))
				values[id] = append(values[id], v)
			}
			if sample.Type() == chunkenc.ValFloat {
				add("", sample.F())
			} else {
				for part, v := range promtest.Parts(s.t, sample.FH()) {
					add(part, v)
				}
			}
		}
	}
	fatal.If(s.t, s.Index.CreateMetrics(s.t.Context(), fresh))
	m := &model.Measures{Offsets: []int{0}}
	for id := range at {
		m.Metrics, m.Timestamps = append(m.Metrics, id), append(m.Timestamps, at[id]...)
		m.Values, m.Offsets = append(m.Values, values[id]...), append(m.Offsets, len(m.Values)+len(values[id]))
	}
	fatal.If(s.t, s.Post(m), s.Metricd.Refresh(s.t.Context(), m.Metrics))
}

// unbounded are the warnings of answers that may be far off.
var unbounded = regexp.MustCompile(`not seen|hold NaN|mean over the last group|of one histogram a group|` +
	`has no s(uch|ketch)|evenly spaced`)

// The verdicts on an answer.
const (
	isEqual   = iota // to the truth
	isLast           // that of the last measures of groups, by the info that names the granularity
	isBounded        // within what its warning or info says
	isOpen           // with a warning that gives no bound
	isWrong          // silent, or beyond what it says
	verdicts
)

// Dashboards' expressions at any age and second have the answers of Prometheus' engine from all measures, or say how
// they differ, and are within what they say. docs/explain/testing.md has the table.
func TestDashboardsAtAnyAge(t *testing.T) {
	pages, err := os.ReadFile("../../docs/explain/testing.md")
	fatal.If(t, err)
	askDashboards(t, rand.New(rand.NewPCG(seedtest.Next(t), 11)), func(age string, counts [verdicts]int) {
		requireRow(t, string(pages), age, counts)
	})
}

// Archive policies that lack methods give these answers, or say that they cannot.
func TestDashboardsOfAnyPolicy(t *testing.T) {
	r := rand.New(rand.NewPCG(seedtest.Next(t), 12))
	without := []string{"last"}
	for _, method := range []string{"mean", "min", "max", "sum", "count", "std", "first", "95pct", "sketch", "increase", "resets"} {
		if r.IntN(4) == 0 {
			without = append(without, method)
		}
	}
	askDashboards(t, r, func(age string, counts [verdicts]int) {
		t.Logf("%s without %v: %v", age, without, counts)
	}, without...)
}

// askDashboards asks all expressions at all ages, of archive policies without some methods.
func askDashboards(t *testing.T, r *rand.Rand, tell func(age string, counts [verdicts]int), without ...string) {
	start := time.Unix(1_700_000_000, 0).Truncate(24 * time.Hour)
	s := newFleetStore(t, newFleet(t.Context(), r, start), without...)
	s.send(func(of promtest.Series) []chunks.Sample { return of.Samples })
	rounds := seedtest.Rounds(1, 2)
	for _, a := range dashboardAges {
		s.now = start.Add(dashboardSpan + a.age)
		if a.age > 0 {
			s.send(func(of promtest.Series) []chunks.Sample {
				last := of.Samples[len(of.Samples)-1].(promtest.Sample)
				last.MS = s.now.UnixMilli()
				return []chunks.Sample{last}
			})
		}
		if r.IntN(2) == 0 {
			fatal.If(t, s.Metricd.Checkpoint(t.Context()))
		}
		last := s.fleet.grouped(a.group, a.finer, a.from)
		var counts [verdicts]int
		for _, shape := range dashboards {
			for range rounds {
				at := start.Add(dashboardFirst + time.Duration(r.Int64N(7_200_000))*time.Millisecond)
				at = at.Truncate([]time.Duration{time.Hour, time.Minute, 1, 1}[r.IntN(4)])
				pick := func(list ...string) string { return list[r.IntN(len(list))] }
				expr := strings.NewReplacer("[R]", "["+pick("1m", "2m", "4m", "5m", "10m", "30m", "1h", "90m", "2h",
					"3h")+"]", "[L", "["+pick("30m", "1h", "100m", "3h"), ":S", ":"+pick("30s", "1m", "5m")).Replace(shape)
				counts[s.judge(expr, at, a.group, last)]++
			}
		}
		tell(a.name, counts)
	}
}

// requireRow requires that a page has the shares of verdicts at an age, roughly.
func requireRow(t *testing.T, page, age string, counts [verdicts]int) {
	t.Helper()
	row, total := regexp.MustCompile(`(?m)^\| `+age+` \|.*$`).FindString(page), 0
	for _, n := range counts {
		total += n
	}
	t.Logf("%s: %v", age, counts)
	cells := strings.Split(strings.Trim(row, "| "), "|")
	if len(cells) != verdicts+1 {
		t.Errorf("the page has no row of %s: %q", age, row)
		return
	}
	for i, n := range counts {
		var percent float64
		if _, err := fmt.Sscanf(cells[i+1], "%f %%", &percent); err != nil {
			t.Errorf("%s: %v", row, err)
		}
		if share := 100 * float64(n) / float64(total); math.Abs(share-percent) > 10 {
			t.Errorf("%.1f %% of the answers at %s have verdict %d, the page says %s", share, age, i, cells[i+1])
		}
	}
}

// grouped returns a fleet of which selectors without a range see one sample a group: the last one, at the group's end.
// From a time on the groups are finer, 0 for the measures themselves.
func (f *fleet) grouped(group, finer, from time.Duration) storage.Queryable {
	join := int64(math.MaxInt64)
	if from < math.MaxInt64 {
		join = f.start.Add(from).UnixMilli()
	}
	var last []promtest.Series
	for _, s := range f.series {
		one := promtest.Series{Labels: s.Labels}
		for i, sample := range s.Samples {
			t, width := sample.T(), group.Milliseconds()
			if t >= join {
				width = finer.Milliseconds()
			}
			last, next := sample.(promtest.Sample), int64(math.MaxInt64)
			if width > 0 {
				last.MS = (t/width + 1) * width
			}
			if i+1 < len(s.Samples) {
				next = s.Samples[i+1].T()
			}
			if width > 0 && next < last.MS {
				continue
			}
			one.Samples = append(one.Samples, chunks.Sample(last))
			if end := last.MS + max(5*time.Minute.Milliseconds(), 2*width); end < next { // the series ends
				stale := promtest.Sample{MS: end, Value: math.Float64frombits(value.StaleNaN)}
				one.Samples = append(one.Samples, chunks.Sample(stale))
			}
		}
		last = append(last, one)
	}
	all, single := promtest.Queryable(f.series...), promtest.Queryable(last...)
	return storage.QueryableFunc(func(from, to int64) (storage.Querier, error) {
		ranges, err := all.Querier(from, to)
		if err != nil {
			return nil, err
		}
		selectors, err := single.Querier(from, to)
		return &storage.MockQuerier{SelectMockFunction: func(sorted bool, hints *storage.SelectHints,
			matchers ...*labels.Matcher) storage.SeriesSet {
			if hints.Range > 0 {
				return ranges.Select(f.ctx, sorted, hints, matchers...)
			}
			return selectors.Select(f.ctx, sorted, hints, matchers...)
		}}, err
	})
}

// judge asks an expression of groups of some width, and compares. last is the fleet in such groups.
func (s *fleetStore) judge(expr string, at time.Time, group time.Duration, last storage.Queryable) int {
	t := s.t
	got := s.instant(expr, at)
	prometheus := func(of storage.Queryable, lookback time.Duration) *upstream.Result {
		options := upstream.NewPrometheusQueryOpts(false, lookback, nil)
		q, err := s.engine.NewInstantQuery(t.Context(), of, options, expr, at)
		fatal.If(t, err)
		return q.Exec(t.Context())
	}
	all := promtest.Queryable(s.fleet.series...)
	truth := prometheus(all, 0)
	if s.lacks && got.Err != nil {
		return isOpen
	}
	if got.Err != nil || truth.Err != nil {
		t.Errorf("%s at %d: %v, %v", expr, at.UnixMilli(), got.Err, truth.Err)
		return isWrong
	}
	a, want := numbersOf(got), numbersOf(truth)
	if maps.EqualFunc(a, want, alike) {
		return isEqual
	}
	known := notesOf(truth)
	notes := slices.DeleteFunc(notesOf(got), func(note string) bool {
		return slices.Contains(known, note) || strings.Contains(note, "is answered from")
	})
	if maps.EqualFunc(a, numbersOf(prometheus(last, max(5*time.Minute, 2*group))), alike) {
		return isLast
	}
	outside := ""
	if len(notes) > 0 {
		bounds := s.around(all, expr, at, group)
		for key, v := range a {
			if !bounds.hold(key, v) {
				outside = fmt.Sprintf("%s: %v outside of %v", key, v, bounds.of[key])
			}
		}
		if outside == "" {
			return isBounded
		}
	}
	if slices.ContainsFunc(notes, unbounded.MatchString) || s.lacks && strings.Contains(strings.Join(notes, " "), " has no ") {
		return isOpen
	}
	t.Errorf("%s at %d from groups of %v: %v, want %v; %s; notes %q", expr, at.UnixMilli(), group, a, want, outside,
		notes)
	return isWrong
}

// around are the truths at times around one, by labels: the least, the greatest, and at how many times there is one.
type around struct {
	of    map[string][3]float64
	times float64
}

func (a *around) add(key string, v float64) {
	if v != v {
		return
	}
	b, ok := a.of[key]
	if !ok {
		b = [3]float64{v, v}
	}
	a.of[key] = [3]float64{min(b[0], v), max(b[1], v), b[2] + 1}
}

// hold reports whether an answer lies between the truths, as far as these say it: not where some are absent, which are
// beyond a comparison.
func (a *around) hold(key string, v float64) bool {
	b := a.of[key]
	slack := 0.5*(b[1]-b[0]) + 0.03*max(math.Abs(b[0]), math.Abs(b[1]))
	return v != v || b[2] < a.times || v >= b[0]-slack && v <= b[1]+slack
}

// ofRange finds functions of ranges.
var ofRange = regexp.MustCompile(`(\w+)(\((?:[\d.]+, )?\w+(?:{[^}]*})?)\[(\w+)\]`)

// ranges returns an expression with other ranges: from groups, a range has more or less by a group, and one below a
// group has the group's rates, averages and extremes.
func ranges(expr string, of func(function string, length time.Duration) time.Duration) string {
	return ofRange.ReplaceAllStringFunc(expr, func(text string) string {
		parts := ofRange.FindStringSubmatch(text)
		length, err := time.ParseDuration(parts[3])
		if err != nil {
			panic(err)
		}
		return fmt.Sprintf("%s%s[%dms]", parts[1], parts[2], of(parts[1], length).Milliseconds())
	})
}

// inProportion are the functions that have a part of a group.
var inProportion = []string{"increase", "sum_over_time", "count_over_time", "resets", "delta", "changes"}

// around asks at times around one, and of ranges around those asked for.
func (s *fleetStore) around(all storage.Queryable, expr string, at time.Time, group time.Duration) *around {
	expr = strings.NewReplacer("@ end()", "", "@ start()", "").Replace(expr)
	ofGroup := ranges(expr, func(function string, length time.Duration) time.Duration {
		if slices.Contains(inProportion, function) {
			return length
		}
		return max(length, group)
	})
	wider := ranges(expr, func(function string, length time.Duration) time.Duration {
		switch {
		case !slices.Contains(inProportion, function):
			return length + 2*group
		case length < group:
			return length
		}
		return length + group
	})
	narrower := ranges(expr, func(_ string, length time.Duration) time.Duration {
		if length > group {
			return length - group
		}
		return length
	})
	a := &around{of: map[string][3]float64{}}
	steps := min(int(3*group/time.Second), 360) // half the shortest range: of two measures, one range has both
	for _, expr := range slices.Compact([]string{expr, ofGroup, wider, narrower}) {
		q, err := s.engine.NewRangeQuery(s.t.Context(), all, nil, expr, at.Add(-2*group), at.Add(group),
			3*group/time.Duration(steps))
		fatal.If(s.t, err)
		r := q.Exec(s.t.Context())
		fatal.If(s.t, r.Err)
		a.times += float64(steps + 1)
		for _, series := range r.Value.(upstream.Matrix) {
			key := series.Metric.String()
			for _, p := range series.Floats {
				a.add(key, p.F)
			}
			for _, p := range series.Histograms {
				a.add(key+" count", p.H.Count)
				a.add(key+" sum", p.H.Sum)
			}
		}
	}
	return a
}

func notesOf(r *upstream.Result) []string {
	warnings, infos := r.Warnings.AsStrings("", 0, 0)
	return slices.Concat(warnings, infos)
}

func alike(a, b float64) bool {
	return a == b || a != a && b != b || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b))
}

// numbersOf returns the values of a result by their labels.
func numbersOf(r *upstream.Result) map[string]float64 {
	all := map[string]float64{}
	switch v := r.Value.(type) {
	case upstream.Scalar:
		all[""] = v.V
	case upstream.Vector:
		for _, s := range v {
			if key := s.Metric.String(); s.H == nil {
				all[key] = s.F
			} else {
				all[key+" count"], all[key+" sum"] = s.H.Count, s.H.Sum
			}
		}
	}
	return all
}
