package index

import (
	"testing"

	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/model"
)

// What was read before a change is left out of the cache of metrics and of that of lists, which has a bound.
func TestCachesLeaveOutWhatIsOld(t *testing.T) {
	c := newMetricCache(100)
	m := randomMetrics(1, 1)[0]
	seen := c.generation.Load()
	c.remove(nil)
	if c.insert(seen, m); c.get(&m.ID) != nil {
		t.Error("a metric that was read before a change is found")
	}
	if c.insert(seen+1, m); c.get(&m.ID) != m {
		t.Error("a metric that was read after it is not found")
	}
	var l metricLists
	creators := []*model.Metric{m}
	l.add(keyhash.Hash{1}, 2, creators)
	l.add(keyhash.Hash{2}, 1, creators)
	if l.find(keyhash.Hash{1}, 2) == nil || l.find(keyhash.Hash{2}, 2) != nil {
		t.Error("a list that was read before a change is found")
	}
	for i := range uint64(maxLists + 10) {
		if l.add(keyhash.Hash{i, 1}, 2, creators); len(l.creators) > maxLists {
			t.Fatalf("%d lists are remembered", len(l.creators))
		}
	}
}
