package index_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestOneOfEachCreator(t *testing.T) {
	s := open(t, index.Options{})
	defer closeStore(t, s)
	var ids []uuid.UUID
	for i := range 40 {
		m := newMetric("low")
		if i%4 == 0 {
			m.Creator = "somebody"
		}
		fatal.If(t, s.CreateMetric(ctx, m))
		ids = append(ids, m.ID)
	}
	want := func(ids []uuid.UUID, creators ...string) {
		t.Helper()
		for range 3 { // it is remembered from the second time on
			metrics, ok := s.OneOfEachCreator(ids)
			if ok != (creators != nil) || len(metrics) != len(creators) {
				t.Fatalf("%d metrics, %t; want %v", len(metrics), ok, creators)
			}
			for i, m := range metrics {
				if m.Creator != creators[i] {
					t.Fatalf("creator %q, want %q", m.Creator, creators[i])
				}
			}
		}
	}
	want(ids, "somebody", "admin")
	want(ids[1:4], "admin")
	if metrics, ok := s.OneOfEachCreator(nil); !ok || len(metrics) != 0 {
		t.Errorf("of no metrics: %d, %t", len(metrics), ok)
	}
	want(append(ids[:39:39], uuid.New()))
	fatal.If(t, s.DeleteMetric(ctx, ids[20]))
	want(ids)
	want(append(ids[1:20:20], ids[21:]...), "admin", "somebody")
	for i := range 20 { // too many to remember
		m := newMetric("low")
		m.Creator = string(rune('a' + i))
		fatal.If(t, s.CreateMetric(ctx, m))
		ids[i] = m.ID
	}
	want(ids[:20])
}
