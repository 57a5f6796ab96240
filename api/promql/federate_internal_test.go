package promql

import (
	"math"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
)

// Text for Prometheus escapes values, and quotes names that earlier releases did not know.
func TestExposedSample(t *testing.T) {
	f := func(want string, value float64, pairs ...string) {
		t.Helper()
		if got := string(appendExposed(nil, labels.FromStrings(pairs...), value, 5)); got != want+"\n" {
			t.Errorf("%q, want %q", got, want)
		}
	}
	f(`up{} 1 5`, 1, "__name__", "up")
	f(`up{a="x\\\"\ny",b="2"} +Inf 5`, math.Inf(1), "__name__", "up", "b", "2", "a", "x\\\"\ny")
	f(`{"room temp","the.place"="a"} NaN 5`, math.NaN(), "__name__", "room temp", "the.place", "a")
	f(`{"up.a"} -Inf 5`, math.Inf(-1), "__name__", "up.a")
}
