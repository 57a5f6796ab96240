package index_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Many metrics, in any order, are found as each is alone: live ones with the end of their resource, others not at all.
func TestFindMany(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, index.Options{FS: fs})
	end := carbonara.Timestamp(1e18)
	ended := newResource("ended")
	fatal.If(t, s.CreateResource(ctx, ended, nil))
	var metrics []*model.Metric
	for i := range 100 {
		m := newMetric("low")
		if i%2 == 0 {
			m.ID = uuid.New() // others ascend
		}
		if i%5 == 0 {
			m.Name, m.ResourceID = m.ID.String(), &ended.ID
		}
		metrics = append(metrics, m)
	}
	fatal.If(t, s.CreateMetrics(ctx, metrics))
	if _, err := s.UpdateResource(ctx, model.GenericType, ended.ID, 5000,
		func(r *model.Resource) (*index.MetricSet, error) {
			r.EndedAt = &end
			return nil, nil
		}); err != nil {
		t.Fatal(err)
	}
	var ids []uuid.UUID
	for i, m := range metrics {
		if i%7 == 0 {
			fatal.If(t, s.DeleteMetric(ctx, m.ID))
		}
		ids = append(ids, m.ID)
	}
	ids = append(ids, uuid.New(), uuid.Max, uuid.UUID{}, ids[1], ids[1])
	rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	want := make([]*model.Metric, len(ids))
	for i, id := range ids {
		want[i] = s.Lookup(id)
	}
	closeStore(t, s)

	s = open(t, index.Options{FS: fs})
	defer closeStore(t, s)
	for _, when := range []string{"first", "again"} {
		found := make([]*model.Metric, len(ids))
		fatal.If(t, s.Find(ctx, ids, found))
		live := 0
		for i, m := range found {
			if m != nil {
				live++
			}
			if (m == nil) != (want[i] == nil) || m != nil && !reflect.DeepEqual(m, want[i]) {
				t.Errorf("%s: %s: %+v, want %+v", when, ids[i], m, want[i])
			}
		}
		if live != 85+2 {
			t.Errorf("%s: %d live metrics", when, live)
		}
	}
}

// Reads past the cache leave the copies in it, which others hold: memory has each metric once.
func TestMetricsAreInMemoryOnce(t *testing.T) {
	s := open(t, index.Options{FS: vfs.NewMem()})
	defer closeStore(t, s)
	var metrics []*model.Metric
	var labels []model.Labels
	var ids []uuid.UUID
	for i := range 100 {
		m := newMetric("low")
		m.Labels = model.Labels(model.AppendLabel(nil, model.LabelName, fmt.Sprintf("m%d", i)))
		metrics, labels = append(metrics, m), append(labels, m.Labels)
	}
	fatal.If(t, s.CreateMetrics(ctx, metrics))
	held := make([]*model.Metric, len(metrics))
	for i, m := range metrics {
		ids, held[i] = append(ids, m.ID), s.Lookup(m.ID)
	}
	fatal.If(t, s.FindCurrent(ids, make([]*model.Metric, len(ids))))
	byLabels, _, err := s.MetricsOfLabels(ctx, metrics[0].Creator, labels)
	fatal.If(t, err)
	for i, m := range held {
		if byLabels[i] != m || s.Lookup(m.ID) != m {
			t.Errorf("metric %d is in memory twice", i)
		}
	}
}
