package main

import (
	"fmt"
	"math"
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

// A value that is not a number is a gap and spoils no other figure. An infinity is a figure and leaves the chart its
// scale, and the largest numbers have one as well.
func TestSummary(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	f := func(want string, values ...float64) {
		t.Helper()
		times := make([]carbonara.Timestamp, sparkColumns)
		all := make([]float64, sparkColumns)
		for i := range times {
			times[i], all[i] = carbonara.Timestamp(i*1e9), values[i*len(values)/sparkColumns]
		}
		if got := fmt.Sprint(summary(times, all)); got != want {
			t.Errorf("%v: %q, want %q", values, got, want)
		}
	}
	f("[0 4 8 8 ▁▁▁▁▁▁▁▁        ▅▅▅▅▅▅▅▅████████]", 0, nan, 4, 8)
	f("[NaN NaN NaN NaN "+strings.Repeat(" ", sparkColumns)+"]", nan)
	f("[0 +Inf +Inf 8 ▁▁▁▁▁▁▁▁████████▅▅▅▅▅▅▅▅████████]", 0, inf, 4, 8)
	most := math.MaxFloat64
	if got := sparkline([]carbonara.Timestamp{0, 1e9}, []float64{-most, most}, -most, most); !strings.HasSuffix(got, "▁█") {
		t.Errorf("the largest numbers: %q", got)
	}
}
