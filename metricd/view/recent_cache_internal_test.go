package view

import (
	"slices"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
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

// Where all recent groups do not fit, those that were not read for longest go once they are no longer read.
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
	now = now.Add(6 * time.Minute)
	read(all[0])
	if read(all[2]) != nil {
		t.Error("groups take the place of others that are read")
	}
	now = now.Add(5 * time.Minute)
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

// Raw measures of a fleet that is larger than the cache do not push each other out, until they are no longer read.
func TestRecentMeasuresOfALargeFleetStay(t *testing.T) {
	var c recentCache
	const each = 512 + 16*1024
	c.init(3 * each)
	now := c.opened.Add(time.Hour)
	var all []*heads.Head
	kept := func() (found []int) {
		for i, h := range all {
			r := c.of(h, ofMeasures, now)
			if r == nil {
				continue
			}
			found = append(found, i)
			if r.groups.Len() == 0 {
				r.groups.Reset(0, oneColumn)
				r.groups.Starts, r.groups.Values[0] = make([]carbonara.Timestamp, 1024), make([]float64, 1024)
				c.count(r)
			}
		}
		return found
	}
	for range 6 {
		all = append(all, new(heads.Head))
	}
	f := func(want ...int) {
		t.Helper()
		if got := kept(); !slices.Equal(got, want) {
			t.Errorf("measures are kept of the heads %v, want %v", got, want)
		}
	}
	f() // one read is not worth it
	f(0, 1, 2)
	f(0, 1, 2)
	now = now.Add(5 * time.Minute)
	all = all[3:]
	f()
	now = now.Add(6 * time.Minute)
	f(0, 1, 2)
}
