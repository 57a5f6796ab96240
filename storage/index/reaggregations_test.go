package index_test

import (
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"gnocco/model"
	"gnocco/storage/index"
)

func TestReaggregations(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, index.Options{FS: fs})
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var ids []uuid.UUID
	for range 5 {
		m := newMetric("medium")
		if err := s.CreateMetric(ctx, m); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, m.ID)
	}
	unsettled := func(want bool) {
		t.Helper()
		for _, id := range ids {
			if m, err := s.Metric(id); err != nil || m.MayDiffer() != want {
				t.Fatalf("%v, %v: want %v", m, err, want)
			}
		}
	}
	backWindow := 3
	if _, job, err := s.ChangeArchivePolicy(ctx, "medium", now, func(old *model.ArchivePolicy) (*model.ArchivePolicy, error) {
		return old.Change(&backWindow, nil, nil)
	}); err != nil || job != nil {
		t.Fatal(job, err)
	}
	unsettled(false)
	change := func(methods ...string) *model.Reaggregation {
		t.Helper()
		_, job, err := s.ChangeArchivePolicy(ctx, "medium", now, func(old *model.ArchivePolicy) (*model.ArchivePolicy, error) {
			return old.Change(nil, nil, methods)
		})
		if err != nil || job == nil || job.State != model.ReaggregationRunning {
			t.Fatal(job, err)
		}
		return job
	}
	job := change("last")
	unsettled(true)
	if p, err := s.ArchivePolicy("medium"); err != nil || p.BackWindow != 3 || len(p.Definition) != 2 || p.Definition[0].Points == 0 || len(p.Methods()) != 1 {
		t.Fatal(p, err)
	}

	// It goes on after a restart where it was.
	all, err := s.MetricsOfPolicy(ctx, "medium", uuid.Nil, 0)
	if err != nil || len(all) != 5 {
		t.Fatal(all, err)
	}
	job.Metrics = 5
	job.Advance(all[2], model.Reaggregated{Changed: 2, Failed: 1, Fault: "odd"})
	if err := s.AdvanceReaggregation(ctx, job); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	s = open(t, index.Options{FS: fs})
	defer func() { closeStore(t, s) }()
	unsettled(true)
	select {
	case <-s.ReaggregationsChanged():
	default:
		t.Error("nobody is told that there is work")
	}
	if job, err = s.Reaggregation(job.ID); err != nil || job.Cursor != all[2] || job.Changed != 2 || job.Fault != "odd" {
		t.Fatal(job, err)
	}
	if rest, err := s.MetricsOfPolicy(ctx, "medium", job.Cursor, 1); err != nil || len(rest) != 1 || rest[0] != all[3] {
		t.Fatal(rest, err)
	}

	// With failures archives may go on to differ; started anew, the earlier run counts no more.
	if err := s.FinishReaggregation(ctx, job, now); err != nil {
		t.Fatal(err)
	}
	unsettled(true)
	earlier := change("last", "max")
	current := change("last", "max", "min")
	if err := s.AdvanceReaggregation(ctx, earlier); !errors.Is(err, model.ErrInvalid) {
		t.Error(err)
	}
	if err := s.FinishReaggregation(ctx, earlier, now); !errors.Is(err, model.ErrInvalid) {
		t.Error(err)
	}
	if cancelled, err := s.CancelReaggregation(ctx, current.ID, now); err != nil || cancelled.State != model.ReaggregationCancelled {
		t.Error(cancelled, err)
	}
	if err := s.FinishReaggregation(ctx, current, now); !errors.Is(err, model.ErrInvalid) {
		t.Error(err)
	}
	unsettled(true)
	if current, err = s.ReaggregatePolicy(ctx, "medium", now); err != nil {
		t.Fatal(err)
	}
	if err := s.FinishReaggregation(ctx, current, now.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	unsettled(false)
	if jobs, err := s.Reaggregations(ctx); err != nil || len(jobs) != 1 || jobs[0].State != model.ReaggregationDone {
		t.Fatal(jobs, err)
	}

	// One metric gets another policy.
	m, own, err := s.ChangeMetric(ctx, ids[0], "low", now)
	if err != nil || m.ArchivePolicy.Name != "low" || !m.Unsettled {
		t.Fatal(m, err)
	}
	if m := s.Lookup(ids[0]); m.ArchivePolicy.Name != "low" || !m.MayDiffer() {
		t.Error(m)
	}
	if all, err := s.MetricsOfPolicy(ctx, "medium", uuid.Nil, 0); err != nil || len(all) != 4 {
		t.Error(all, err)
	}
	if err := s.DeleteArchivePolicy(ctx, "low"); !errors.Is(err, model.ErrInUse) {
		t.Error(err)
	}
	if err := s.FinishReaggregation(ctx, own, now); err != nil {
		t.Fatal(err)
	}
	unsettled(false)
	for _, f := range []func() error{
		func() error { _, _, err := s.ChangeMetric(ctx, uuid.New(), "low", now); return err },
		func() error { _, _, err := s.ChangeMetric(ctx, ids[0], "no-such", now); return err },
		func() error { _, err := s.ReaggregatePolicy(ctx, "no-such", now); return err },
		func() error { _, err := s.CancelReaggregation(ctx, uuid.New(), now); return err },
		func() error { _, err := s.Reaggregation(uuid.New()); return err },
	} {
		if err := f(); !errors.Is(err, model.ErrNotFound) {
			t.Error(err)
		}
	}
	if err := s.DeleteMetric(ctx, ids[0]); err != nil {
		t.Fatal(err)
	}
	if err := s.Expunge(ctx, ids[0]); err != nil {
		t.Fatal(err)
	}
}
