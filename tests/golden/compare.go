package golden

import (
	"fmt"
	"math"

	"github.com/gnocco-db/gnocco/carbonara"
)

// How far std may lie from Gnocchi's: a share of itself, and units in the last place of the largest value, because the
// rounding of the running sum is of that size (rule 8 of carbonara/doc.go). The vectors come to 4.2 units at most,
// where the same inexact value comes 60 times; series with any spread stay below 2.
const (
	stdRelative = 1e-12
	stdUnits    = 8
)

// Compare returns nil if got is what method must answer where want is expected: the same groups, and values of the
// same bits (any NaN for NaN), except for std, which is bounded. Largest is the largest finite absolute value
// among the measures.
func Compare(method carbonara.Method, want, got Answer, largest float64) error {
	if len(got.Starts) != len(got.Values) {
		return fmt.Errorf("%d starts, %d values", len(got.Starts), len(got.Values))
	}
	for i := range max(len(want.Starts), len(got.Starts)) {
		switch {
		case i >= len(want.Starts):
			return fmt.Errorf("group %d, at %d: not expected, value %v", i, got.Starts[i], got.Values[i])
		case i >= len(got.Starts):
			return fmt.Errorf("group %d, at %d: missing, want %v", i, want.Starts[i], want.Values[i])
		case want.Starts[i] != got.Starts[i]:
			return fmt.Errorf("group %d: starts at %d, want %d", i, got.Starts[i], want.Starts[i])
		case !Equal(method, want.Values[i], got.Values[i], largest):
			return fmt.Errorf("group %d, at %d: %v, want %v", i, got.Starts[i], got.Values[i], want.Values[i])
		}
	}
	return nil
}

// Equal reports whether got is as good as want, in the sense of Compare.
func Equal(method carbonara.Method, want, got, largest float64) bool {
	if math.Float64bits(want) == math.Float64bits(got) || want != want && got != got {
		return true
	}
	if method.Base() != carbonara.Std {
		return false
	}
	return math.Abs(got-want) <= stdRelative*want+stdUnits*(math.Nextafter(largest, math.Inf(1))-largest)
}

// Largest returns the largest finite absolute value, for Compare.
func Largest(values []float64) float64 {
	largest := 0.0
	for _, v := range values {
		if v = math.Abs(v); v > largest && !math.IsInf(v, 0) {
			largest = v
		}
	}
	return largest
}
