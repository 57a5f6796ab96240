package index_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A lookup of a metric reports when its resource ended, also after a restart, until a measure revives the resource.
func TestRevive(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, index.Options{FS: fs})
	end := carbonara.Timestamp(1e18)
	var metrics []uuid.UUID
	ended, alive := newResource("ended"), newResource("alive")
	for _, r := range []*model.Resource{ended, alive} {
		m := newMetric("low")
		m.Name, m.ResourceID = "cpu", &r.ID
		fatal.If(t, s.CreateResource(ctx, r, []*model.Metric{m}))
		metrics = append(metrics, m.ID)
	}
	want := func(ends ...bool) {
		t.Helper()
		found := make([]*model.Metric, len(metrics))
		fatal.If(t, s.Find(ctx, metrics, found))
		for i, m := range found {
			if got := m.ResourceEndedAt; (got != nil) != ends[i] || got != nil && *got != end {
				t.Errorf("metric %d: %v, want %t", i, got, ends[i])
			}
		}
	}
	closeStore(t, s)
	s = open(t, index.Options{FS: fs}) // which has looked for ended resources before one ends
	want(false, false)
	if _, err := s.UpdateResource(ctx, model.GenericType, ended.ID, 5000,
		func(r *model.Resource) (*index.MetricSet, error) {
			r.EndedAt = &end
			return nil, nil
		}); err != nil {
		t.Fatal(err)
	}
	want(true, false)
	closeStore(t, s)
	s = open(t, index.Options{FS: fs})
	defer func() { closeStore(t, s) }()
	want(true, false)
	revive := func(newest carbonara.Timestamp) {
		t.Helper()
		fatal.If(t, s.Revive(ctx, map[uuid.UUID]carbonara.Timestamp{ended.ID: newest, alive.ID: newest,
			uuid.New(): newest}, 9000))
	}
	revive(end - 1)
	want(true, false)
	revive(end)
	want(false, false)
	if r, err := s.Resource(model.GenericType, ended.ID); err != nil || r.RevisionStart != 9000 || r.EndedAt != nil {
		t.Errorf("%+v, %v", r, err)
	}
}
