package metrics

import "testing"

// Metrics read before a change are left out of the cache of metrics.
func TestCacheLeavesOutWhatIsOld(t *testing.T) {
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
}
