package index_test

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestArchivePolicyLifeCycle(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, index.Options{FS: fs, SkipDefaults: true})
	fatal.If(t, s.CreateArchivePolicy(ctx, policy(t, "✔ long name", time.Second, time.Hour)))
	err := s.CreateArchivePolicy(ctx, policy(t, "✔ long name", time.Minute, time.Hour))
	wantIs(t, err, model.ErrExists)
	if err.Error() != "Archive policy ✔ long name already exists" {
		t.Errorf("text %q", err)
	}
	_, err = s.ArchivePolicy("other")
	wantIs(t, err, model.ErrNotFound)
	wantIs(t, s.DeleteArchivePolicy(ctx, "other"), model.ErrNotFound)

	// In use: by a rule, by a metric, by a metric that is only marked deleted.
	rule := &model.ArchivePolicyRule{Name: "r", MetricPattern: "*", ArchivePolicyName: "✔ long name"}
	fatal.If(t, s.CreateArchivePolicyRule(ctx, rule))
	wantIs(t, s.DeleteArchivePolicy(ctx, "✔ long name"), model.ErrInUse)
	fatal.If(t, s.DeleteArchivePolicyRule(ctx, "r"))
	m := newMetric("✔ long name")
	fatal.If(t, s.CreateMetric(ctx, m))
	wantIs(t, s.DeleteArchivePolicy(ctx, "✔ long name"), model.ErrInUse)
	fatal.If(t, s.DeleteMetric(ctx, m.ID))
	wantIs(t, s.DeleteArchivePolicy(ctx, "✔ long name"), model.ErrInUse)
	fatal.If(t, s.Expunge(ctx, m.ID))
	wantIs(t, s.Expunge(ctx, m.ID), model.ErrNotFound)
	fatal.If(t, s.DeleteArchivePolicy(ctx, "✔ long name"))
	wantIs(t, s.CreateMetric(ctx, m), model.ErrNotFound)
	closeStore(t, s)

	s = open(t, index.Options{FS: fs})
	defer closeStore(t, s)
	if len(s.ArchivePolicies()) != 0 {
		t.Error("a deleted policy is back")
	}
}

// A policy whose name begins another's is not in use by the other's metrics.
func TestArchivePolicyNamePrefix(t *testing.T) {
	s := open(t, index.Options{SkipDefaults: true})
	defer closeStore(t, s)
	fatal.If(t, s.CreateArchivePolicy(ctx, policy(t, "a", time.Second, time.Hour)))
	fatal.If(t, s.CreateArchivePolicy(ctx, policy(t, "ab", time.Second, time.Hour)))
	fatal.If(t, s.CreateMetric(ctx, newMetric("ab")))
	fatal.If(t, s.DeleteArchivePolicy(ctx, "a"))
	wantIs(t, s.DeleteArchivePolicy(ctx, "ab"), model.ErrInUse)
}

func TestUpdateArchivePolicyReachesMetrics(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, index.Options{FS: fs})
	cached, other := newMetric("low"), newMetric("high")
	fatal.If(t, s.CreateMetrics(ctx, []*model.Metric{cached, other}))
	before, otherBefore := s.Lookup(cached.ID), s.Lookup(other.ID)
	generation := s.Generation()

	backWindow := 3
	updated, err := s.UpdateArchivePolicy(ctx, "low", func(old *model.ArchivePolicy) (*model.ArchivePolicy, error) {
		return old.Update(&backWindow, nil)
	})
	fatal.If(t, err)
	if updated.BackWindow != 3 || before.ArchivePolicy.BackWindow != 0 {
		t.Error("the update did not make a new policy")
	}
	if s.Generation() == generation {
		t.Error("the generation did not move")
	}
	if m := s.Lookup(cached.ID); m.ArchivePolicy != updated {
		t.Errorf("the metric still has %+v", m.ArchivePolicy)
	}
	if s.Lookup(other.ID) != otherBefore {
		t.Error("a metric of another policy was replaced")
	}

	granularity, points := 5*time.Minute, int64(7)
	_, err = s.UpdateArchivePolicy(ctx, "low", func(old *model.ArchivePolicy) (*model.ArchivePolicy, error) {
		return old.Update(nil, []model.DefinitionInput{{Granularity: &granularity, Points: &points}})
	})
	fatal.If(t, err)
	granularity = time.Second
	_, err = s.UpdateArchivePolicy(ctx, "low", func(old *model.ArchivePolicy) (*model.ArchivePolicy, error) {
		return old.Update(nil, []model.DefinitionInput{{Granularity: &granularity, Points: &points}})
	})
	wantIs(t, err, model.ErrInvalid)
	_, err = s.UpdateArchivePolicy(ctx, "none", func(old *model.ArchivePolicy) (*model.ArchivePolicy, error) {
		return old, nil
	})
	wantIs(t, err, model.ErrNotFound)
	closeStore(t, s)

	s = open(t, index.Options{FS: fs})
	defer closeStore(t, s)
	p, err := s.ArchivePolicy("low")
	fatal.If(t, err)
	if p.BackWindow != 3 || p.Timespan(5*time.Minute) != 35*time.Minute || len(p.Methods()) != 6 {
		t.Errorf("after reopening the policy is %+v", p)
	}
}

func TestRules(t *testing.T) {
	s := open(t, index.Options{})
	defer closeStore(t, s)
	create := func(name, pattern, policy string) error {
		return s.CreateArchivePolicyRule(ctx, &model.ArchivePolicyRule{Name: name, MetricPattern: pattern,
			ArchivePolicyName: policy})
	}
	fatal.If(t, create("disk", "disk.*", "medium"))
	fatal.If(t, create("io", "disk.io.*", "high"))
	wantIs(t, create("disk", "x", "low"), model.ErrExists)
	wantIs(t, create("new", "x", "none"), model.ErrNotFound)
	wantIs(t, create("", "x", "low"), model.ErrInvalid)

	match := func(name, want string) {
		t.Helper()
		p, err := s.MatchArchivePolicyRule(name)
		if err != nil || p.Name != want {
			t.Errorf("%q matches %v, %v; want %s", name, p, err, want)
		}
	}
	match("disk.io.rate", "high")
	match("disk.size", "medium")
	match("memory", "low")
	match("", "low")

	_, err := s.RenameArchivePolicyRule(ctx, "disk", "io")
	wantIs(t, err, model.ErrExists)
	_, err = s.RenameArchivePolicyRule(ctx, "none", "x")
	wantIs(t, err, model.ErrNotFound)
	renamed, err := s.RenameArchivePolicyRule(ctx, "disk", "disks")
	fatal.If(t, err)
	if renamed.Name != "disks" || renamed.MetricPattern != "disk.*" {
		t.Errorf("renamed to %+v", renamed)
	}
	_, err = s.RenameArchivePolicyRule(ctx, "disks", "disks")
	fatal.If(t, err)
	_, err = s.ArchivePolicyRule("disk")
	wantIs(t, err, model.ErrNotFound)
	match("disk.size", "medium")
	fatal.If(t, s.DeleteArchivePolicyRule(ctx, "disks"))
	wantIs(t, s.DeleteArchivePolicyRule(ctx, "disks"), model.ErrNotFound)
	match("disk.size", "low")
}

func TestUnknownMetric(t *testing.T) {
	s := open(t, index.Options{})
	defer closeStore(t, s)
	id := uuid.New()
	_, err := s.Metric(id)
	wantIs(t, err, model.ErrNotFound)
	wantIs(t, s.DeleteMetric(ctx, id), model.ErrNotFound)
	if s.Lookup(id) != nil {
		t.Error("an unknown metric was found")
	}
}
