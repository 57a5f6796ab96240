package index_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

var ctx = context.Background()

// open opens a store that is closed with the test, unless closed before.
func open(t testing.TB, opts index.Options) *index.Store {
	t.Helper()
	if opts.FS == nil {
		opts.FS = vfs.NewMem()
	}
	s, err := index.Open("index", opts)
	fatal.If(t, err)
	return s
}

func closeStore(t testing.TB, s *index.Store) {
	t.Helper()
	fatal.If(t, s.Close())
}

func policy(t testing.TB, name string, granularity, timespan time.Duration) *model.ArchivePolicy {
	t.Helper()
	p, err := model.NewArchivePolicy(name, 0, []model.DefinitionInput{{Granularity: &granularity, Timespan: &timespan}},
		nil)
	fatal.If(t, err)
	return p
}

func newMetric(policy string) *model.Metric {
	return &model.Metric{ID: uuid.New(), Creator: "admin", ArchivePolicy: &model.ArchivePolicy{Name: policy}}
}

func newResource(text string) *model.Resource {
	id, err := model.ResourceID(text, "admin")
	if err != nil {
		panic(err)
	}
	return &model.Resource{ID: id, OriginalID: text, Type: model.GenericType, Creator: "admin",
		StartedAt: 1, RevisionStart: 2}
}

func wantIs(t testing.TB, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("error %v, want %v", err, kind)
	}
}

func TestDefaultsAtFirstStartOnly(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, index.Options{FS: fs})
	var names []string
	for _, p := range s.ArchivePolicies() {
		names = append(names, p.Name)
	}
	if got := fmt.Sprint(names); got != "[bool high low medium]" {
		t.Errorf("policies %s", got)
	}
	p, err := s.MatchArchivePolicyRule("anything")
	fatal.If(t, err)
	if p.Name != "low" {
		t.Errorf("default rule gives %s", p.Name)
	}
	fatal.If(t, s.DeleteArchivePolicyRule(ctx, "default"))
	fatal.If(t, s.DeleteArchivePolicy(ctx, "low"))
	closeStore(t, s)

	s = open(t, index.Options{FS: fs})
	defer closeStore(t, s)
	if len(s.ArchivePolicies()) != 3 || len(s.ArchivePolicyRules()) != 0 {
		t.Errorf("%d policies, %d rules after the default ones were deleted", len(s.ArchivePolicies()),
			len(s.ArchivePolicyRules()))
	}
	_, err = s.MatchArchivePolicyRule("anything")
	wantIs(t, err, model.ErrNotFound)
}

func TestSkipDefaults(t *testing.T) {
	s := open(t, index.Options{SkipDefaults: true})
	defer closeStore(t, s)
	if len(s.ArchivePolicies()) != 0 || len(s.ArchivePolicyRules()) != 0 {
		t.Error("a store without defaults has policies or rules")
	}
}

func TestReopenKeepsAll(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, index.Options{FS: fs})
	r := newResource("web")
	user, ended := "u", r.StartedAt+5
	r.UserID, r.EndedAt = &user, &ended
	named := newMetric("high")
	named.Name, named.Unit = "cpu", "%"
	fatal.If(t, s.CreateResource(ctx, r, []*model.Metric{named}))
	plain := newMetric("bool")
	gone := newMetric("medium")
	fatal.If(t, s.CreateMetrics(ctx, []*model.Metric{plain, gone}))
	fatal.If(t, s.DeleteMetric(ctx, gone.ID))
	fatal.If(t, s.CreateArchivePolicyRule(ctx, &model.ArchivePolicyRule{Name: "r", MetricPattern: "cpu.*",
		ArchivePolicyName: "high"}))
	closeStore(t, s)

	s = open(t, index.Options{FS: fs})
	defer closeStore(t, s)
	m, err := s.MetricOfResource(r.ID, "cpu")
	fatal.If(t, err)
	if m.ID != named.ID || m.Name != "cpu" || m.Unit != "%" || m.Creator != "admin" || *m.ResourceID != r.ID ||
		m.ArchivePolicy.Name != "high" {
		t.Errorf("metric is now %+v", m)
	}
	if p, _ := s.ArchivePolicy("high"); m.ArchivePolicy != p {
		t.Error("the metric does not share the store's policy")
	}
	if m := s.Lookup(plain.ID); m == nil || m.ResourceID != nil || m.ArchivePolicy.Name != "bool" {
		t.Errorf("metric is now %+v", m)
	}
	if s.Lookup(gone.ID) != nil || s.CountMetrics() != 2 {
		t.Errorf("the deleted metric is back, or the count is %d", s.CountMetrics())
	}
	deleted, err := s.DeletedMetrics(ctx, 0)
	fatal.If(t, err)
	if len(deleted) != 1 || deleted[0] != gone.ID {
		t.Errorf("deleted metrics: %v", deleted)
	}
	got, err := s.Resource("generic", r.ID)
	fatal.If(t, err)
	if got.OriginalID != "web" || *got.UserID != "u" || got.ProjectID != nil || *got.EndedAt != ended ||
		got.StartedAt != 1 ||
		got.RevisionStart != 2 || got.Metrics["cpu"] != named.ID || len(got.Metrics) != 1 {
		t.Errorf("resource is now %+v", got)
	}
	if p, err := s.MatchArchivePolicyRule("cpu.idle"); err != nil || p.Name != "high" {
		t.Errorf("rule is gone: %v %v", p, err)
	}
}

func TestTelemetryIsRegisteredUntilClose(t *testing.T) {
	r := prometheus.NewRegistry()
	s := open(t, index.Options{Registerer: r})
	fatal.If(t, s.CreateMetric(ctx, newMetric("low")))
	families, err := r.Gather()
	fatal.If(t, err)
	values := map[string]float64{}
	for _, f := range families {
		m := f.Metric[0]
		values[f.GetName()] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
	}
	if values["gnocco_index_metrics"] != 1 || values["gnocco_index_cached_metrics"] != 1 || len(values) != 5 {
		t.Errorf("gathered %v", values)
	}
	closeStore(t, s)
	if families, err := r.Gather(); err != nil || len(families) != 0 {
		t.Errorf("still registered after Close: %v %v", families, err)
	}
}
