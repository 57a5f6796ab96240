package main

import (
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
)

// The last of a year's values is in the last column, although its share of the time rounds to 1.
func TestSparklineOfAYear(t *testing.T) {
	const year = carbonara.Timestamp(365 * 24 * 3600 * 1e9)
	line := sparkline([]carbonara.Timestamp{0, year}, []float64{0, 1}, 0, 1)
	if want := "▁" + strings.Repeat(" ", sparkColumns-2) + "█"; line != want {
		t.Errorf("drew %q, want %q", line, want)
	}
}
