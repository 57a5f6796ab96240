package promql_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/query/promql"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// store is a node with an engine.
type store struct {
	*testnode.Node
	t        testing.TB
	archives testnode.Archives
	series   *postings.Catalog
	engine   *promql.Engine
	now      time.Time
	stop     func()
}

const sacks = 4

func newStore(t testing.TB, syntax parser.Options) *store {
	s := &store{Node: testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: sacks, Workers: 1,
		GroupBytes: 128 << 20}),
		t: t, now: time.Now()}
	s.stop = sync.OnceFunc(func() { s.Stop(context.Background()) })
	t.Cleanup(s.stop)
	s.archives = testnode.Archives{Metricd: s.Metricd}
	s.series = postings.New(s.Index, postings.Options{Bytes: 64 << 20})
	s.engine = promql.New(promql.Options{Archives: s.archives, Series: s.series, Policies: s.Index.ArchivePolicies,
		Syntax: syntax, Now: func() time.Time { return s.now }})
	return s
}

// policy creates an archive policy of granularities without end.
func (s *store) policy(name string, methods []string, granularities ...time.Duration) {
	s.t.Helper()
	definition := make([]model.DefinitionInput, len(granularities))
	for i := range granularities {
		definition[i].Granularity = &granularities[i]
	}
	p, err := model.NewArchivePolicy(name, 0, definition, methods)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.Index.CreateArchivePolicy(context.Background(), p); err != nil {
		s.t.Fatal(err)
	}
}

// metric creates a metric of a resource of its own.
func (s *store) metric(policy, resource, name string) uuid.UUID {
	s.t.Helper()
	p, err := s.Index.ArchivePolicy(policy)
	if err != nil {
		s.t.Fatal(err)
	}
	id := uuid.New()
	project := "project of " + resource
	r := &model.Resource{ID: uuid.NewSHA1(uuid.Nil, []byte(resource)), OriginalID: resource, Type: "generic",
		Creator: "me", ProjectID: &project}
	m := &model.Metric{ID: id, Name: name, ArchivePolicy: p, Creator: "me"}
	if err := s.Index.CreateResource(context.Background(), r, []*model.Metric{m}); err != nil {
		m.ResourceID = &r.ID
		if err := s.Index.CreateMetric(context.Background(), m); err != nil {
			s.t.Fatal(err)
		}
	}
	return id
}

// pushed creates a series that was pushed with a name as its only label.
func (s *store) pushed(policy, name string) uuid.UUID {
	s.t.Helper()
	p, err := s.Index.ArchivePolicy(policy)
	if err != nil {
		s.t.Fatal(err)
	}
	m := &model.Metric{ID: uuid.New(), ArchivePolicy: p, Creator: "me",
		Labels: model.Labels(model.AppendLabel(nil, model.LabelName, name))}
	if err := s.Index.CreateMetrics(s.t.Context(), []*model.Metric{m}); err != nil {
		s.t.Fatal(err)
	}
	return m.ID
}

// post sends measures; the i-th is i steps after the first.
func (s *store) post(id uuid.UUID, first time.Time, step time.Duration, values ...float64) {
	s.t.Helper()
	m := &model.Measures{Metrics: []uuid.UUID{id}, Offsets: []int{0, len(values)}, Values: values}
	for i := range values {
		m.Timestamps = append(m.Timestamps, carbonara.FromTime(first.Add(time.Duration(i)*step)))
	}
	if err := s.Post(m); err != nil {
		s.t.Fatal(err)
	}
	if err := s.Metricd.Refresh(context.Background(), []uuid.UUID{id}); err != nil {
		s.t.Fatal(err)
	}
}

// kept creates an archive policy of granularities and timespans.
func (s *store) kept(name string, methods []string, backWindow int, spans ...time.Duration) {
	s.t.Helper()
	var definition []model.DefinitionInput
	for i := 0; i < len(spans); i += 2 {
		d := model.DefinitionInput{Granularity: &spans[i]}
		if spans[i+1] > 0 {
			d.Timespan = &spans[i+1]
		}
		definition = append(definition, d)
	}
	p, err := model.NewArchivePolicy(name, backWindow, definition, methods)
	if err == nil {
		err = s.Index.CreateArchivePolicy(context.Background(), p)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// measures sends measures at any times.
func (s *store) measures(id uuid.UUID, times []time.Time, values []float64) {
	s.t.Helper()
	m := &model.Measures{Metrics: []uuid.UUID{id}, Offsets: []int{0, len(values)}, Values: values}
	for _, t := range times {
		m.Timestamps = append(m.Timestamps, carbonara.FromTime(t))
	}
	if err := s.Post(m); err != nil {
		s.t.Fatal(err)
	}
	if err := s.Metricd.Refresh(context.Background(), []uuid.UUID{id}); err != nil {
		s.t.Fatal(err)
	}
}

// instant evaluates an expression at one time.
func (s *store) instant(expr string, at time.Time) *upstream.Result {
	s.t.Helper()
	q, err := s.engine.Instant(context.Background(), &promql.Query{Expr: expr}, at)
	if err != nil {
		return &upstream.Result{Err: err}
	}
	return q.Exec(context.Background()) // not closed: the result stays
}

// over evaluates an expression at each step.
func (s *store) over(expr string, start, end time.Time, step time.Duration) *upstream.Result {
	s.t.Helper()
	q, err := s.engine.Range(context.Background(), &promql.Query{Expr: expr}, start, end, step)
	if err != nil {
		return &upstream.Result{Err: err}
	}
	return q.Exec(context.Background())
}

// value returns the only value of a vector.
func (s *store) value(expr string, at time.Time) (float64, bool) {
	s.t.Helper()
	r := s.instant(expr, at)
	if r.Err != nil {
		s.t.Fatalf("%s: %v", expr, r.Err)
	}
	v := r.Value.(upstream.Vector)
	if len(v) == 0 {
		return 0, false
	}
	if len(v) > 1 {
		s.t.Fatalf("%s: %v", expr, v)
	}
	return v[0].F, true
}

// Groups are samples at their ends, raw measures at their own times, and a series ends by its own granularity.
func TestTime(t *testing.T) {
	s := newStore(t, parser.Options{})
	s.policy("p", []string{"mean", "last"}, time.Minute, time.Hour)
	id := s.metric("p", "a", "cpu")
	start := time.Unix(1_700_000_000, 0).Truncate(time.Hour)
	s.post(id, start.Add(5*time.Second), 20*time.Second, 1, 2, 3, 4, 5, 6)
	s.now = start.Add(24 * time.Hour)
	f := func(expr string, after time.Duration, want float64) {
		t.Helper()
		if got, ok := s.value(expr, start.Add(after)); !ok || got != want {
			t.Errorf("%s after %v: %v %v, want %v", expr, after, got, ok, want)
		}
	}
	none := func(expr string, after time.Duration) {
		t.Helper()
		if got, ok := s.value(expr, start.Add(after)); ok {
			t.Errorf("%s after %v: %v, want none", expr, after, got)
		}
	}
	f("cpu", 5*time.Second, 1)
	f("cpu", 25*time.Second, 2)
	none("cpu", 4*time.Second)
	f("cpu", 105*time.Second+5*time.Minute-time.Millisecond, 6)
	none("cpu", 105*time.Second+5*time.Minute)
	const minute = `cpu{__granularity__="60"}`
	none(minute, time.Minute-time.Millisecond)
	f(minute, time.Minute, 3)
	f(minute, 2*time.Minute, 6)
	f(minute, 7*time.Minute-time.Millisecond, 6)
	none(minute, 7*time.Minute)
	const hour = `cpu{__granularity__="1h",__aggregation__="mean"}`
	none(hour, time.Hour-time.Millisecond)
	f(hour, 3*time.Hour-time.Millisecond, 3.5)
	none(hour, 3*time.Hour)

	// A series of raw measures ends by the finest granularity of its archive policy: a measure every ten minutes leaves
	// no gaps.
	s.policy("slow", []string{"last"}, 10*time.Minute, time.Hour)
	s.post(s.metric("slow", "b", "slow"), start.Add(5*time.Second), 10*time.Minute, 1, 2)
	f("slow", 10*time.Minute, 1)
	f("slow", 30*time.Minute+5*time.Second-time.Millisecond, 2)
	none("slow", 30*time.Minute+5*time.Second)

	// A group is no sample before it has ended by the clock.
	s.now = start.Add(90 * time.Second)
	f(minute, 2*time.Minute, 3)
}

// The parts of a series follow from its own measures, also beside others of its archive policy.
func TestSeriesHaveTheirOwnParts(t *testing.T) {
	s := newStore(t, parser.Options{})
	start := time.Unix(1_700_000_000, 0).Truncate(time.Hour)
	s.now = start.Add(12 * time.Hour)
	s.kept("p", []string{"last", "mean"}, 1, 10*time.Second, time.Hour, time.Minute, 48*time.Hour)
	for i, n := range []int{360, 12 * 360, 12*360 - 60, 6 * 360} {
		values := make([]float64, n)
		for j := range values {
			values[j] = float64(j * (i + 1))
		}
		s.post(s.pushed("p", fmt.Sprint("x", i)), start.Add(time.Second), 10*time.Second, values...)
	}
	ask := func(expr string) string {
		return shown(s.over(expr, start.Add(5*time.Hour), start.Add(11*time.Hour), 10*time.Second))
	}
	together := ask(`{__name__=~"x."}`)
	for i := range 4 {
		for _, line := range strings.Split(ask(fmt.Sprintf("x%d", i)), "\n") {
			if strings.HasPrefix(line, "{__name__") && !strings.Contains(together, line) {
				t.Errorf("alone: %s\ntogether: %s", line, together)
			}
		}
	}
}
