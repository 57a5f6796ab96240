package metricd

import (
	"testing"
	"time"
)

// A metric is worth its recent groups if it is read again within ten minutes, and no later.
func TestRecentGroupsOfMetricsReadAgain(t *testing.T) {
	f := func(after time.Duration, want bool) {
		t.Helper()
		var c recentCache
		c.init(1 << 20)
		h, now := new(head), c.opened.Add(time.Hour)
		if c.of(h, 0, now) != nil {
			t.Error("groups after one read")
		}
		if got := c.of(h, 0, now.Add(after)) != nil; got != want {
			t.Errorf("groups of a metric that was read %v ago: %v", after, got)
		}
	}
	f(time.Second, true)
	f(10*time.Minute, true)
	f(10*time.Minute+time.Second, false)
	f(24*time.Hour, false)
}
