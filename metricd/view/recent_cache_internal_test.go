package view

import (
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/metricd/heads"
)

// A metric is worth its recent groups if it is read again within ten minutes, and no later.
func TestRecentGroupsOfMetricsReadAgain(t *testing.T) {
	f := func(after time.Duration, want bool) {
		t.Helper()
		var c recentCache
		c.init(1 << 20)
		h, now := new(heads.Head), c.opened.Add(time.Hour)
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

// The recent groups that were not read for longest go where all do not fit.
func TestRecentGroupsReadLastStay(t *testing.T) {
	var c recentCache
	c.init(1100) // two without rows
	now := c.opened.Add(time.Hour)
	all := []*heads.Head{new(heads.Head), new(heads.Head), new(heads.Head)}
	read := func(h *heads.Head) *recentGroups {
		c.of(h, 0, now)
		return c.of(h, 0, now)
	}
	c.count(read(all[0]))
	c.count(read(all[1]))
	read(all[0])
	c.count(read(all[2]))
	for i, want := range []bool{true, false, true} {
		if got := c.find(all[i], 0) != nil; got != want {
			t.Errorf("metric %d has recent groups: %v, want %v", i, got, want)
		}
	}
	if n := c.bytes(); n != 1024 {
		t.Errorf("%d bytes, want 1024", n)
	}
	c = recentCache{}
	if c.init(0); read(new(heads.Head)) != nil {
		t.Error("groups without memory for them")
	}
}
