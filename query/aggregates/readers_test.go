package aggregates_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/compensated"
	"github.com/gnocco-db/gnocco/query/aggregates"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

var acrossMethods = []string{"mean", "median", "std", "min", "max", "sum", "var", "count", "1pct", "95pct", "rate:mean"}

// onCores makes the process use so many cores until the test ends.
func onCores(t *testing.T, n int) {
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// Aggregates across derived series have the bits of aggregates across metrics with the same values. Neither the order
// of reading nor the number of cores changes them.
func TestDerivedAsMetrics(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, cores := range []int{1, 5} {
		onCores(t, cores)
		for _, shape := range [][2]int{{1, 70}, {3, 1100}, {40, 300}, {300, 90}} {
			table := gappyTable(random, shape[0], shape[1])
			table.Series[0] = aggregates.Series{} // there is a value at each time
			for row := range shape[1] {
				table.Series[0].Starts = append(table.Series[0].Starts, carbonara.Timestamp(row)*60e9)
				table.Series[0].Values = append(table.Series[0].Values, float64(row%7))
			}
			for _, fill := range []string{"null", "0", "ffill", "full_bfill"} {
				options := aggregates.Options{}
				options.Fill, _ = aggregates.ParseFill(fill)
				for _, text := range []string{
					"(metric a mean)", "(* 2 (metric a mean))", "(clip 1 (neg (metric a mean)) 9)", "(rateofchange (metric a mean))",
					"(rateofchangesec (metric a mean))", "(rolling std 3 (metric a mean))", "(rolling rate:mean 2 (metric a mean))",
					"(rolling median 4 (metric a mean))", "(rolling sum 66 (metric a mean))", "(resample 75pct 300 (metric a mean))",
					"(+ (rolling max 2 (metric a mean)) 1)",
					"(rateofchange (rolling mean 2 (rateofchange (metric a mean))))",
				} {
					derived := tableOf(t, text, table, options)
					for _, method := range acrossMethods {
						got := columnOf(t, "(aggregate "+method+" "+text+")", table, options)
						want := columnOf(t, "(aggregate "+method+" (metric a mean))", derived, nullFill())
						for i := range want {
							if len(got) != len(want) || !sameBits(got[i], want[i]) {
								t.Fatalf("%d cores, %v, fill %s: %s of %s differs at %d of %d", cores, shape, fill, method, text,
									i, len(got))
							}
						}
					}
				}
			}
		}
	}
}

func nullFill() aggregates.Options {
	null, _ := aggregates.ParseFill("null")
	return aggregates.Options{Fill: null}
}

// tableOf returns the columns of an operation as series.
func tableOf(t *testing.T, text string, table *aggregates.Table, options aggregates.Options) *aggregates.Table {
	t.Helper()
	operation, err := aggregates.Parse(text)
	fatal.If(t, err)
	result, err := aggregates.Evaluate(t.Context(), operation, table, &options)
	fatal.If(t, err)
	out := &aggregates.Table{Granularity: table.Granularity}
	for j := range result.Columns() {
		values, err := result.Column(j, nil)
		fatal.If(t, err)
		out.Series = append(out.Series, aggregates.Series{Starts: slices.Clone(result.Times), Values: values})
	}
	return out
}

// A window that is not long is computed from its first row to its last, as if it were alone.
func TestRollingIsEachWindow(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, window := range []int{1, 2, 7, 60, 64} {
		for _, rows := range []int{window, window + 1, 1023 + window, 1024 + window, 5000} {
			values, times := make([]float64, rows), make([]carbonara.Timestamp, rows)
			for i := range values {
				times[i] = carbonara.Timestamp(i) * 60e9
				if values[i] = random.NormFloat64() * 1e9; random.IntN(3) == 0 || rows%2 == 0 && i > rows/2 {
					values[i] = math.NaN()
				}
			}
			table := &aggregates.Table{Granularity: 60e9, Series: []aggregates.Series{{Starts: times, Values: values}}}
			for _, method := range []string{"mean", "std", "min", "max", "sum", "var", "count"} {
				got := columnOf(t, fmt.Sprintf("(rolling %s %d (metric a mean))", method, window), table, nullFill())
				for i := range got {
					if want := ofWindow(method, values[i:i+window]); !sameBits(got[i], want) {
						t.Fatalf("%s of window %d of %d at %d: %v, want %v", method, window, rows, i, got[i], want)
					}
				}
			}
		}
	}
}

func ofWindow(method string, window []float64) float64 {
	var sum compensated.Sum
	n, least, greatest := 0., math.NaN(), math.NaN()
	for _, v := range window {
		if v != v {
			continue
		}
		n++
		sum = sum.Plus(v)
		if !(least <= v) {
			least = v
		}
		if !(greatest >= v) {
			greatest = v
		}
	}
	mean, squares := sum.Over(n), 0.
	for _, v := range window {
		if v == v {
			d := v - mean.High - mean.Low
			squares += float64(d * d)
		}
	}
	return map[string]float64{"mean": sum.Float() / n, "min": least, "max": greatest, "sum": sum.Float(), "count": n,
		"var": squares / n, "std": math.Sqrt(squares / n)}[method]
}
