package ingest

import (
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/model"
)

// A list of rows is remembered if all of them have a metric.
func TestListsWithoutAMetricAreUnknown(t *testing.T) {
	k := newKnownMetrics(10)
	metric := &model.Metric{}
	for i, of := range [][]*model.Metric{{metric, metric}, {metric, nil}} {
		hash := keyhash.Of([]byte{byte(i)})
		for range 2 {
			k.addLists([]namedList{{hash, 1, 3}}, slices.Concat([]*model.Metric{nil}, of), 1)
		}
		got, known := k.lists.Get(hash, 1)
		if known == slices.Contains(of, nil) || known && !slices.Equal(got, of) {
			t.Errorf("list %d: %v, known %t", i, got, known)
		}
	}
}
