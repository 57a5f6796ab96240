package promql_test

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// resources creates n resources of ten projects, each with one metric, and returns their metrics.
func (s *store) resources(n int, policy, name string) []uuid.UUID {
	s.t.Helper()
	p, err := s.Index.ArchivePolicy(policy)
	if err != nil {
		s.t.Fatal(err)
	}
	var all []index.NewResource
	var ids []uuid.UUID
	for i := range n {
		project := fmt.Sprint("project ", i%10)
		r := &model.Resource{ID: uuid.NewSHA1(uuid.Nil, fmt.Append(nil, name, i)), OriginalID: fmt.Sprint(name, i),
			Type: "generic", Creator: "me", ProjectID: &project}
		m := &model.Metric{ID: uuid.New(), Name: name, ArchivePolicy: p, Creator: "me", ResourceID: &r.ID}
		all, ids = append(all, index.NewResource{Resource: r, Metrics: []*model.Metric{m}}), append(ids, m.ID)
	}
	for part := range slices.Chunk(all, 1000) {
		if err := s.Index.CreateResources(context.Background(), part); err != nil {
			s.t.Fatal(err)
		}
	}
	return ids
}

// regular sends each metric so many measures, a step apart.
func (s *store) regular(ids []uuid.UUID, first time.Time, step time.Duration, n int) {
	s.t.Helper()
	for part := range slices.Chunk(ids, 1000) {
		m := &model.Measures{Metrics: part, Offsets: []int{0}}
		for i := range part {
			for j := range n {
				m.Timestamps = append(m.Timestamps, carbonara.FromTime(first.Add(time.Duration(j)*step)))
				m.Values = append(m.Values, float64((i+j)*7919%1000)/8)
			}
			m.Offsets = append(m.Offsets, len(m.Values))
		}
		if err := s.Post(m); err != nil {
			s.t.Fatal(err)
		}
		if err := s.Metricd.Refresh(context.Background(), part); err != nil {
			s.t.Fatal(err)
		}
	}
}

// BenchmarkQuery takes queries of dashboards, as large as docs/explain/benchmarks.md promises them.
func BenchmarkQuery(b *testing.B) {
	start := time.Unix(1_700_000_000, 0).Truncate(24 * time.Hour)
	run := func(b *testing.B, name, expr string, end time.Time, step time.Duration, series, points int,
		fill func(s *store), upstreamAlone bool) {
		b.Run(fmt.Sprintf("query=%s/upstream=%t", name, upstreamAlone), func(b *testing.B) {
			s := newStore(b, parser.Options{})
			if upstreamAlone {
				s.engine = s.engine.Alone()
			}
			s.policy("p", []string{"mean", "count", "last"}, time.Minute, time.Hour)
			// The policy of pushed series: measures of a minute fill one group in six.
			s.kept("pushed", []string{"mean", "min", "max", "sum", "count", "last", "95pct"}, 2, 10*time.Second,
				24*time.Hour, time.Minute, 31*24*time.Hour, time.Hour, 2*365*24*time.Hour)
			fill(s)
			s.now = end
			b.ReportAllocs()
			before := processorTime(b)
			defer func() { b.ReportMetric((processorTime(b)-before).Seconds()*1e3/float64(b.N), "cpu-ms/op") }()
			for b.Loop() {
				r := s.over(expr, start.Add(step), end, step)
				if r.Err != nil {
					b.Fatal(r.Err)
				}
				if m := r.Value.(upstream.Matrix); len(m) != series || len(m[0].Floats) != points {
					b.Fatalf("%d series of %d points", len(m), len(m[0].Floats))
				}
			}
		})
	}
	f := func(name, expr string, end time.Time, step time.Duration, series, points int, fill func(s *store)) {
		for _, upstreamAlone := range []bool{true, false} {
			run(b, name, expr, end, step, series, points, fill, upstreamAlone)
		}
	}
	f("month_of_100", "avg by (project_id) (avg_over_time(cpu[1h]))", start.Add(30*24*time.Hour), time.Hour, 10, 720,
		func(s *store) {
			s.regular(s.resources(100, "p", "cpu"), start.Add(time.Second), 10*time.Minute, 30*24*6)
		})
	f("day_of_1", "cpu", start.Add(24*time.Hour), time.Minute, 1, 1440,
		func(s *store) { s.regular(s.resources(1, "p", "cpu"), start.Add(time.Second), time.Minute, 24*60) })
	f("sparse_day_of_1", "cpu", start.Add(24*time.Hour), time.Minute, 1, 1440,
		func(s *store) { s.regular(s.resources(1, "pushed", "cpu"), start.Add(time.Second), time.Minute, 24*60) })
	f("hour_of_10000", "sum by (project_id) (cpu)", start.Add(time.Hour), time.Minute, 10, 60,
		func(s *store) { s.regular(s.resources(10_000, "p", "cpu"), start.Add(time.Second), time.Minute, 60) })
	fleet := func(s *store) { s.fleet(10_000, start.Add(-10*time.Minute)) }
	f("fleet_mean", "avg(avg_over_time(cpu[1m]))", start.Add(time.Hour), time.Minute, 1, 60, fleet)
	f("fleet_sum", "sum by (project) (cpu)", start.Add(time.Hour), time.Minute, 10, 60, fleet)
	f("fleet_rate", "sum by (project) (rate(cpu[5m]))", start.Add(time.Hour), time.Minute, 10, 60, fleet)
	f("fleet_top", "topk(10, max_over_time(cpu[1m]) > 20)", start.Add(time.Hour), time.Hour, 10, 1, fleet)
	f("fleet_ratio", "sum by (project) (cpu / max_over_time(cpu[5m]))", start.Add(time.Hour), time.Minute, 10, 60, fleet)
	f("fleet_quantile", "quantile by (project) (0.9, cpu)", start.Add(time.Hour), time.Minute, 10, 60, fleet)
	f("fleet_subquery", "sum by (project) (max_over_time(rate(cpu[1m])[5m:1m]))", start.Add(time.Hour), time.Minute, 10, 60,
		fleet)
	f("fleet_histogram", `histogram_quantile(0.9, max by (host, le) (label_replace(label_replace(cpu,
		"le", "$1", "host", ".*(.)"), "host", "$1", "host", "(.*).")))`, start.Add(time.Hour), time.Minute, 1000, 60, fleet)
	f("fleet_absent", "absent(cpu > 200)", start.Add(time.Hour), time.Minute, 1, 60, fleet)
	f("fleet_values", `count_values("value", round(cpu / 10))`, start.Add(time.Hour), time.Minute, 13, 60, fleet)
	f("hosts_of_an_hour", `max by (host) (max_over_time(cpu{host=~"host .7"}[1m]))`, start.Add(time.Hour), time.Minute,
		9, 60, fleet)
	f("top_10_of_10000", "count(topk(10, cpu))", start.Add(time.Hour), time.Minute, 1, 60,
		func(s *store) { s.regular(s.resources(10_000, "p", "cpu"), start.Add(time.Second), time.Minute, 60) })
}

// processorTime is what the process has used: beside others, a clock on the wall says little.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	fatal.If(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkLabelValues lists the values of a label that 100,000 resources have.
func BenchmarkLabelValues(b *testing.B) {
	s := newStore(b, parser.Options{})
	s.policy("p", nil, time.Minute)
	s.resources(100_000, "p", "cpu")
	catalog := postings.New(s.Index, postings.Options{Bytes: 1 << 30})
	if _, err := catalog.Values(context.Background(), nil, "__name__"); err != nil { // reads the index
		b.Fatal(err)
	}
	for _, label := range []struct {
		name string
		n    int
	}{{"resource_id", 100_000}, {"project_id", 10}, {"__name__", 1}} {
		b.Run("label="+label.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				values, err := catalog.Values(context.Background(), nil, label.name)
				if err != nil || len(values) != label.n {
					b.Fatal(len(values), err)
				}
			}
		})
	}
}

// fleet makes n pushed series of ten projects that get a measure every ten seconds, for an hour: the last ten minutes
// wait in heads, and the rest came in six checkpoints, as while a server takes measures.
func (s *store) fleet(n int, start time.Time) {
	s.t.Helper()
	p, err := s.Index.ArchivePolicy("pushed")
	if err != nil {
		s.t.Fatal(err)
	}
	var metrics []*model.Metric
	var ids []uuid.UUID
	for i := range n {
		text := model.AppendLabel(nil, model.LabelName, "cpu")
		text = model.AppendLabel(text, "host", fmt.Sprint("host ", i))
		text = model.AppendLabel(text, "project", fmt.Sprint("project ", i%10))
		m := &model.Metric{ID: uuid.New(), ArchivePolicy: p, Creator: "me", Labels: model.Labels(text)}
		metrics, ids = append(metrics, m), append(ids, m.ID)
	}
	for part := range slices.Chunk(metrics, 1000) {
		if err := s.Index.CreateMetrics(context.Background(), part); err != nil {
			s.t.Fatal(err)
		}
	}
	for part := range 7 {
		s.regular(ids, start.Add(time.Duration(part)*10*time.Minute+time.Second), 10*time.Second, 60)
		if part < 6 {
			if err := s.Metricd.Checkpoint(context.Background()); err != nil {
				s.t.Fatal(err)
			}
		}
	}
}
