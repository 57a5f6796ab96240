package index_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// describe shows all that a store holds.
func describe(t testing.TB, s *index.Store) string {
	t.Helper()
	text := fmt.Sprintf("%d metrics\n", s.CountMetrics())
	for _, p := range s.ArchivePolicies() {
		text += fmt.Sprintf("policy %s %d %v\n", p.Name, p.BackWindow, p.Definition)
	}
	for _, r := range s.ArchivePolicyRules() {
		text += fmt.Sprintf("rule %+v\n", *r)
	}
	for _, deleted := range []bool{false, true} {
		metrics, err := s.ListMetrics(ctx, index.MetricQuery{Deleted: deleted})
		fatal.If(t, err)
		for _, m := range metrics {
			text += fmt.Sprintf("metric %s %s %s %v %v\n", m.ID, m.Name, m.ArchivePolicy.Name, m.ResourceID, m.Deleted)
		}
	}
	resources, err := s.ListResources(ctx, 0, uuid.Nil)
	fatal.If(t, err)
	for _, r := range resources {
		text += fmt.Sprintf("resource %s %v\n", r.OriginalID, r.Metrics)
	}
	for _, resourceType := range s.ResourceTypes() {
		text += fmt.Sprintf("type %s %d\n", resourceType.Name, len(resourceType.Attributes))
		fatal.If(t, s.EachRevision(ctx, resourceType.Name, func(r *model.Resource) bool {
			text += fmt.Sprintf("state %d of %s %v %d\n", r.Revision, r.OriginalID, r.Attributes, r.RevisionStart)
			return true
		}))
	}
	return text
}

// TestCrashAtEveryWrite takes what is left of the file system at each of its writes, and opens that: the store holds
// what all acknowledged calls made, or that and the whole of the call under way.
func TestCrashAtEveryWrite(t *testing.T) {
	type crash struct {
		fs    *vfs.MemFS
		acked int // calls
	}
	var mu sync.Mutex // guards crashes, acked
	var crashes []crash
	acked := 0
	mem := vfs.NewCrashableMem()
	fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		mu.Lock()
		defer mu.Unlock()
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			crashes = append(crashes, crash{mem.CrashClone(vfs.CrashCloneCfg{}), acked})
		}
		return nil
	}))

	web := newResource("web")
	named, plain, extra := newMetric("low"), newMetric("mine"), newMetric("mine")
	named.Name, extra.Name, extra.ResourceID = "cpu", "extra", &web.ID
	backWindow := 4
	s := open(t, index.Options{FS: fs})
	calls := []func() error{
		func() error { return s.CreateArchivePolicy(ctx, policy(t, "mine", time.Second, time.Hour)) },
		func() error { return s.CreateResource(ctx, web, []*model.Metric{named}) },
		func() error { return s.CreateMetrics(ctx, []*model.Metric{plain, extra}) },
		func() error {
			_, err := s.UpdateArchivePolicy(ctx, "mine", func(old *model.ArchivePolicy) (*model.ArchivePolicy, error) {
				return old.Update(&backWindow, nil)
			})
			return err
		},
		func() error { _, err := s.RenameArchivePolicyRule(ctx, "default", "renamed"); return err },
		func() error { return s.DeleteMetric(ctx, plain.ID) },
		func() error { return s.DeleteResource(ctx, "generic", web.ID, nil) },
		func() error { return s.Expunge(ctx, named.ID) },
		func() error { return s.CreateResourceType(ctx, hostType(t)) },
		func() error { return s.CreateResource(ctx, newHost("host", "rack 1"), nil) },
		func() error { return patchHost(s, "host", "rack 2") },
		func() error { return addAttribute(s, attribute("size", model.KindNumber, true, 3.5)) },
		func() error { return patchHost(s, "host", "rack 3") },
		func() error {
			deleted, err := s.DeleteResources(ctx, []uuid.UUID{newHost("host", "").ID, uuid.New()})
			if deleted != 1 {
				t.Errorf("%d resources deleted, want 1", deleted)
			}
			return err
		},
		func() error { return s.DeleteResourceType(ctx, "host") },
		func() error { return s.DeleteArchivePolicyRule(ctx, "renamed") },
		func() error { return s.DeleteArchivePolicy(ctx, "low") },
	}
	states := []string{describe(t, s)} // after so many calls
	opened := len(crashes)             // crashes while a new store was made
	for _, call := range calls {
		fatal.If(t, call())
		mu.Lock()
		acked++
		mu.Unlock()
		states = append(states, describe(t, s))
	}
	closeStore(t, s)

	if len(crashes) < opened+len(calls) {
		t.Fatalf("only %d writes seen", len(crashes))
	}
	for k, c := range crashes {
		s := open(t, index.Options{FS: c.fs})
		got := describe(t, s)
		if got != states[c.acked] && (c.acked == len(calls) || got != states[c.acked+1]) {
			t.Errorf("crash at write %d, after %d calls, leaves\n%s\nwant\n%s", k, c.acked, got, states[c.acked])
		}
		closeStore(t, s)
	}
	t.Logf("%d crashes", len(crashes))
}
