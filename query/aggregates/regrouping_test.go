package aggregates_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/query/aggregates"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Row i of the n-th group that holds any has the time n*Width + i, and Width is the rows of the largest group.
func TestRegrouping(t *testing.T) {
	var r aggregates.Regrouping
	r.Set([]carbonara.Timestamp{5, 10, 11, 12, 40, 41}, func(t carbonara.Timestamp) int64 { return int64(t / 10) })
	if want := []int64{0, 1, 4}; r.Width != 3 || !slices.Equal(r.Numbers, want) {
		t.Errorf("groups %v of up to %d rows, want %v of 3", r.Numbers, r.Width, want)
	}
	if want := []carbonara.Timestamp{0, 3, 4, 5, 6, 7}; !slices.Equal(r.Times, want) {
		t.Errorf("times %v, want %v", r.Times, want)
	}
	for i, want := range r.Numbers {
		if got := r.Number(carbonara.Timestamp(i) * carbonara.Timestamp(r.Width)); got != want {
			t.Errorf("the group at %v is number %d, want %d", time.Duration(i)*r.Width, got, want)
		}
	}
}

// An operation is symmetric if it makes one series of all metrics that a single reference names.
func TestSymmetric(t *testing.T) {
	for text, want := range map[string]bool{
		"(aggregate mean (metric cpu mean))":                         true,
		"(aggregate mean (metric (cpu mean) (disk mean)))":           false,
		"(aggregate mean (+ (metric cpu mean) (metric cpu max)))":    false,
		"(* 2 (aggregate mean (metric cpu mean)))":                   false,
		"(metric cpu mean)":                                          false,
		"(aggregate mean (rolling mean 3 (metric cpu mean)))":        true,
		"(* 2 (metric cpu mean))":                                    false,
		"(aggregate max (resample max 3600 (metric cpu max)))":       true,
		"(negative (aggregate mean (metric (cpu mean) (disk max))))": false,
	} {
		operation, err := aggregates.Parse(text)
		fatal.If(t, err)
		if got := operation.Symmetric(); got != want {
			t.Errorf("%s is symmetric: %v", text, got)
		}
	}
}
