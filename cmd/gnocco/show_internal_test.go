package main

import (
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

// A table is read by people: a fraction has three significant digits, a whole number all of them.
func TestRounded(t *testing.T) {
	f := func(value float64, want string) {
		t.Helper()
		if got := rounded(value); got != want {
			t.Errorf("%v is shown as %s, not %s", value, got, want)
		}
	}
	f(29.49983870967742, "29.5")
	f(0.5, "0.5")
	f(-1.0/3, "-0.333")
	f(999.96, "1000")
	f(1234.567, "1235")
	f(1767225600, "1767225600")
	f(-12, "-12")
	f(0.00012345, "0.000123")
	f(1.2345e-7, "1.23e-07")
	f(1.2345e20, "1.23e+20")
	f(math.NaN(), "NaN")
	f(math.Inf(-1), "-Inf")
}
