package index

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Series are found by their labels, those of one creator, also after a restart. A deleted one is not, and one that
// cannot be read is a fault of its own.
func TestMetricsOfLabels(t *testing.T) {
	fs := vfs.NewMem()
	open := func() *Store {
		s, err := Open("index", Options{FS: fs})
		fatal.If(t, err)
		return s
	}
	s := open()
	var labels []model.Labels
	var series []*model.Metric
	for i := range 100 {
		labels = append(labels, model.Labels(model.AppendLabel(nil, []byte("n"), []byte(fmt.Sprint(i)))))
		series = append(series, &model.Metric{Name: "n", Creator: "me", Labels: labels[i],
			ArchivePolicy: &model.ArchivePolicy{Name: "low"}})
	}
	const unknown, deleted, corrupt = 3, 5, 7
	created := append(append([]*model.Metric{}, series[:unknown]...), series[unknown+1:]...)
	fatal.If(t, s.CreateMetrics(t.Context(), created))
	if err := s.CreateMetrics(t.Context(), created[:2]); !errors.Is(err, model.ErrExists) {
		t.Errorf("created twice: %v", err)
	}
	fatal.If(t, s.DeleteMetric(t.Context(), series[deleted].ID))
	check := func() {
		t.Helper()
		found, faults, err := s.MetricsOfLabels(t.Context(), "me", labels)
		fatal.If(t, err)
		for i, m := range found {
			known := i != unknown && i != deleted && faults[i] == nil
			if (m != nil) != known || known && m.ID != series[i].ID {
				t.Errorf("labels %d are of %+v", i, m)
			}
			if isCorrupt := errors.Is(faults[i], storage.ErrCorrupt); isCorrupt != (faults[i] != nil) {
				t.Errorf("labels %d: %v", i, faults[i])
			}
		}
		if found, _, err := s.MetricsOfLabels(t.Context(), "other", labels[:1]); err != nil || found[0] != nil {
			t.Errorf("of another creator: %+v, %v", found[0], err)
		}
	}
	check()
	fatal.If(t, s.Close())
	s = open()
	check() // in the order of creation
	fatal.If(t, s.Close())
	s = open()
	for i := range labels { // one by one
		if found, _, err := s.MetricsOfLabels(t.Context(), "me", labels[i:i+1]); err != nil ||
			found[0] != nil && found[0].ID != series[i].ID || (found[0] == nil) != (i == unknown || i == deleted) {
			t.Errorf("labels %d alone are of %+v, %v", i, found, err)
		}
	}
	key := keyspace.IDKey(keyspace.Metric, series[corrupt].ID)
	fatal.If(t, s.log.DB.Set(key, []byte{0xff}, pebble.Sync))
	fatal.If(t, s.Close())
	s = open()
	defer s.Close()
	check()
	if _, faults, _ := s.MetricsOfLabels(t.Context(), "me", labels); faults[corrupt] == nil {
		t.Error("a record that cannot be read is no fault")
	}
}
