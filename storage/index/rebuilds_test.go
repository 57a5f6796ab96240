package index_test

import (
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A planned change leaves the metric as it is until it starts. The latest plan counts, and none that was cancelled.
func TestPlannedChanges(t *testing.T) {
	s := open(t, index.Options{FS: vfs.NewMem()})
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	metric := newMetric("medium")
	fatal.If(t, s.CreateMetric(ctx, metric))
	plan := func(policy string) *model.Rebuild {
		t.Helper()
		job, err := s.PlanMetric(ctx, metric.ID, policy, now.Add(time.Hour))
		if err != nil || job.State != model.RebuildPlanned || !job.Started.Equal(now.Add(time.Hour)) {
			t.Fatal(job, err)
		}
		return job
	}
	policyIs := func(want string, pending bool) {
		t.Helper()
		if m, err := s.Metric(metric.ID); err != nil || m.ArchivePolicy.Name != want || m.SchemaPending() != pending {
			t.Errorf("%v, %v: want %s", m, err, want)
		}
	}
	gone := func(job *model.Rebuild) {
		t.Helper()
		if err := s.StartPlan(ctx, job, now); !errors.Is(err, model.ErrInvalid) {
			t.Errorf("an old plan: %v", err)
		}
	}
	first := plan("low")
	if _, err := s.CancelRebuild(ctx, first.ID, now); err != nil {
		t.Fatal(err)
	}
	gone(first)
	second := plan("high")
	third := plan("low")
	gone(second)
	policyIs("medium", false)
	fatal.If(t, s.StartPlan(ctx, third, now))
	gone(third)
	policyIs("low", true)
	if _, err := s.PlanMetric(ctx, metric.ID, "high", now); !errors.Is(err, model.ErrInvalid) {
		t.Errorf("while a change runs: %v", err)
	}
	job, err := s.Rebuild(third.ID)
	if err != nil || job.State != model.RebuildRunning {
		t.Fatal(job, err)
	}
	fatal.If(t, s.FinishRebuild(ctx, job, now))
	fourth := plan("high")
	if _, _, err := s.ChangeMetric(ctx, metric.ID, "medium", now); err != nil {
		t.Fatal(err)
	}
	gone(fourth)
	policyIs("medium", true)
}

func TestRebuilds(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, index.Options{FS: fs})
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var ids []uuid.UUID
	for range 5 {
		m := newMetric("medium")
		fatal.If(t, s.CreateMetric(ctx, m))
		ids = append(ids, m.ID)
	}
	pending := func(want bool) {
		t.Helper()
		for _, id := range ids {
			if m, err := s.Metric(id); err != nil || m.SchemaPending() != want {
				t.Fatalf("%v, %v: want %v", m, err, want)
			}
		}
	}
	backWindow := 3
	if _, job, err := s.ChangeArchivePolicy(ctx, "medium", now,
		func(old *model.ArchivePolicy) (*model.ArchivePolicy, error) {
			return old.Change(&backWindow, nil, nil)
		}); err != nil || job != nil {
		t.Fatal(job, err)
	}
	pending(false)
	change := func(methods ...string) *model.Rebuild {
		t.Helper()
		_, job, err := s.ChangeArchivePolicy(ctx, "medium", now,
			func(old *model.ArchivePolicy) (*model.ArchivePolicy, error) {
				return old.Change(nil, nil, methods)
			})
		if err != nil || job == nil || job.State != model.RebuildRunning {
			t.Fatal(job, err)
		}
		return job
	}
	job := change("last")
	pending(true)
	if p, err := s.ArchivePolicy("medium"); err != nil || p.BackWindow != 3 || len(p.Definition) != 2 ||
		p.Definition[0].Points == 0 || len(p.Methods()) != 1 {
		t.Fatal(p, err)
	}

	// It goes on after a restart where it was.
	all, err := s.MetricsOfPolicy(ctx, "medium", uuid.Nil, 0)
	if err != nil || len(all) != 5 {
		t.Fatal(all, err)
	}
	job.Metrics = 5
	job.Advance(all[2], model.RebuildCounts{Changed: 2, Failed: 1, Fault: "odd"})
	fatal.If(t, s.AdvanceRebuild(ctx, job))
	closeStore(t, s)
	s = open(t, index.Options{FS: fs})
	defer func() { closeStore(t, s) }()
	pending(true)
	select {
	case <-s.RebuildsChanged():
	default:
		t.Error("nobody is told that there is work")
	}
	if job, err = s.Rebuild(job.ID); err != nil || job.Cursor != all[2] || job.Changed != 2 || job.Fault != "odd" {
		t.Fatal(job, err)
	}
	if rest, err := s.MetricsOfPolicy(ctx, "medium", job.Cursor, 1); err != nil || len(rest) != 1 || rest[0] != all[3] {
		t.Fatal(rest, err)
	}

	// With failures archives may go on to differ; started anew, the earlier run counts no more.
	fatal.If(t, s.FinishRebuild(ctx, job, now))
	pending(true)
	earlier := change("last", "max")
	current := change("last", "max", "min")
	if err := s.AdvanceRebuild(ctx, earlier); !errors.Is(err, model.ErrInvalid) {
		t.Error(err)
	}
	if err := s.FinishRebuild(ctx, earlier, now); !errors.Is(err, model.ErrInvalid) {
		t.Error(err)
	}
	if cancelled, err := s.CancelRebuild(ctx, current.ID, now); err != nil ||
		cancelled.State != model.RebuildCancelled {
		t.Error(cancelled, err)
	}
	if err := s.FinishRebuild(ctx, current, now); !errors.Is(err, model.ErrInvalid) {
		t.Error(err)
	}
	pending(true)
	if current, err = s.RebuildPolicy(ctx, "medium", now); err != nil {
		t.Fatal(err)
	}
	fatal.If(t, s.FinishRebuild(ctx, current, now.Add(time.Second)))
	pending(false)
	if jobs, err := s.Rebuilds(ctx); err != nil || len(jobs) != 1 || jobs[0].State != model.RebuildDone {
		t.Fatal(jobs, err)
	}

	// One metric gets another policy.
	m, own, err := s.ChangeMetric(ctx, ids[0], "low", now)
	if err != nil || m.ArchivePolicy.Name != "low" || !m.OwnSchemaPending {
		t.Fatal(m, err)
	}
	if m := s.Lookup(ids[0]); m.ArchivePolicy.Name != "low" || !m.SchemaPending() {
		t.Error(m)
	}
	if all, err := s.MetricsOfPolicy(ctx, "medium", uuid.Nil, 0); err != nil || len(all) != 4 {
		t.Error(all, err)
	}
	if err := s.DeleteArchivePolicy(ctx, "low"); !errors.Is(err, model.ErrInUse) {
		t.Error(err)
	}
	fatal.If(t, s.FinishRebuild(ctx, own, now))
	pending(false)
	for _, f := range []func() error{
		func() error {
			return s.StartPlan(ctx, &model.Rebuild{ID: model.RebuildOfMetric(ids[1]), Metric: ids[1]}, now)
		},
		func() error { _, _, err := s.ChangeMetric(ctx, uuid.New(), "low", now); return err },
		func() error { _, _, err := s.ChangeMetric(ctx, ids[0], "no-such", now); return err },
		func() error { _, err := s.RebuildPolicy(ctx, "no-such", now); return err },
		func() error { _, err := s.CancelRebuild(ctx, uuid.New(), now); return err },
		func() error { _, err := s.Rebuild(uuid.New()); return err },
	} {
		if err := f(); !errors.Is(err, model.ErrNotFound) {
			t.Error(err)
		}
	}
	fatal.If(t, s.DeleteMetric(ctx, ids[0]))
	fatal.If(t, s.Expunge(ctx, ids[0]))
}

// A rebuild that begins, or that is given more metrics, wakes the process that does it.
func TestChangedMetricsWakeRebuilds(t *testing.T) {
	s := open(t, index.Options{FS: vfs.NewMem()})
	defer closeStore(t, s)
	rebuild := uuid.New()
	for range 2 {
		m := newMetric("medium")
		fatal.If(t, s.CreateMetric(ctx, m))
		select {
		case <-s.RebuildsChanged():
		default:
		}
		fatal.If(t, s.ChangeMetrics(ctx, []uuid.UUID{m.ID}, func(*model.Metric) bool { return true }, "low", rebuild, time.Now()))
		select {
		case <-s.RebuildsChanged():
		default:
			t.Error("nobody is woken")
		}
	}
}
