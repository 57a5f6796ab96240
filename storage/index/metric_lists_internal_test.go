package index

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// A list of few metrics is looked up each time, and takes no place among those that are remembered.
func TestShortListsAreNotRemembered(t *testing.T) {
	s, err := Open("index", Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	policy, err := s.ArchivePolicy("low")
	if err != nil {
		t.Fatal(err)
	}
	var ids []uuid.UUID
	for len(ids) < minListed {
		m := &model.Metric{ArchivePolicy: policy}
		if err := s.CreateMetric(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, m.ID)
	}
	for _, n := range []int{0, 1, minListed - 1, minListed} {
		metrics, ok := s.OneOfEachCreator(ids[:n])
		if !ok || len(metrics) != min(n, 1) {
			t.Errorf("of %d: %d metrics, %t", n, len(metrics), ok)
		}
		if got := len(s.lists.creators); got != n/minListed {
			t.Errorf("after a list of %d metrics, %d are remembered", n, got)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
