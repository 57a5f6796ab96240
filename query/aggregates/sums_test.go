package aggregates_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/query/aggregates"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Across series and windows, short and long, nothing is lost of values that cancel, lie far from zero, or are huge.
func TestSums(t *testing.T) {
	f := func(want float64, operation string, values ...float64) {
		t.Helper()
		method, long, _ := strings.Cut(operation, " ")
		rolling := fmt.Sprintf("(rolling %s %d (metric m mean))", method, len(values))
		if long == "" {
			var across []aggregates.Series
			for i, v := range values {
				across = append(across, series(i, 0, 60, v))
			}
			check(t, "(aggregate "+method+" (metric m mean))", 60, want, across...)
		} else { // a window that does not begin with the series is computed in two parts
			values = append(values, values[:len(values)/3]...)
		}
		within := []float64{0}
		for i, v := range values {
			within = append(within, float64(60*(i+1)), v)
		}
		check(t, rolling, 60*len(values), want, series(0, within...))
	}
	inf := math.Inf(1)
	f(2, "sum", 1e16, 1, -1e16, 1)
	f(0.5, "mean", 1e16, 1, -1e16, 1)
	f(0.25, "std", 1e15, 1e15+0.5, 1e15, 1e15+0.5)
	f(2.0/9/4, "var", 1e15, 1e15, 1e15+0.5)
	f(2.0/9/4, "var", math.NaN(), 1e15, 1e15, 1e15+0.5)
	f(inf, "sum", 1.7e308, 1.7e308)
	f(inf, "mean", 1.7e308, inf)
	check(t, "(aggregate mean (metric m mean))", 60, 1.6e308, series(0, 0, 60, 1.7e308), series(1, 0, 60, 1.5e308))
	check(t, "(aggregate mean (metric m mean))", 60, -1.7e308, series(0, 0, 60, -1.7e308), series(1, 0, 60, -1.7e308))
	for _, n := range []int{99, 300} {
		var long []float64
		for i := range n {
			long = append(long, []float64{1e16, 1, -1e16}[i%3])
		}
		f(float64(n/3), "sum long", long...)
		for i := range n {
			long[i] = 1e15 + []float64{0, 0, 0.5}[i%3]
		}
		f(2.0/9/4, "var long", long...)
	}
}

// check holds the last row of the only column, at so many seconds, to a value.
func check(t *testing.T, text string, at int, want float64, all ...aggregates.Series) {
	t.Helper()
	operation, err := aggregates.Parse(text)
	fatal.If(t, err)
	for i := range all {
		all[i].Reference = 0
	}
	fill, _ := aggregates.ParseFill("null")
	result, err := aggregates.Evaluate(t.Context(), operation, &aggregates.Table{Granularity: 60e9, Series: all},
		&aggregates.Options{Fill: fill})
	fatal.If(t, err)
	values, err := result.Column(0, nil)
	fatal.If(t, err)
	n := len(values)
	if n == 0 || int(result.Times[n-1]/1e9) != at {
		t.Fatalf("%s: %d rows", text, n)
	}
	if got := values[n-1]; got != want && !(math.Abs(got-want) <= 1e-14*math.Abs(want)) {
		t.Errorf("%s: got %v, want %v", text, got, want)
	}
}
