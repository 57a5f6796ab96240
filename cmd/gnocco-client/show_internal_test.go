package main

import (
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
)

// A chart has no gap that is none: a value lasts until the next, and the last one is in the last column, although its
// share of a year rounds to 1. Where values are missing it has one.
func TestSparkline(t *testing.T) {
	f := func(want string, times ...carbonara.Timestamp) {
		t.Helper()
		values := make([]float64, len(times))
		values[len(values)-1] = 1
		for i := range times {
			times[i] *= 1e9
		}
		if line := sparkline(times, values, 0, 1); line != want {
			t.Errorf("%v: drew %q, want %q", times, line, want)
		}
	}
	const year = 365 * 24 * 3600
	level := strings.Repeat("▁", sparkColumns)
	f(level[3:]+"█", 0, year)
	f(level[3:]+"█", 0, 99, 203, 300, 401, 502)
	f("▁▁▁▁"+strings.Repeat(" ", 12)+"▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁█", 0, 1, 2, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19)
	f("█"+strings.Repeat(" ", sparkColumns-1), 7)
}
