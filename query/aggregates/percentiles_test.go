package aggregates_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/query/aggregates"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// gappyTable has so many series of rows a minute apart. Each lacks some of them, or all.
func gappyTable(random *rand.Rand, columns, rows int) *aggregates.Table {
	table := &aggregates.Table{Granularity: 60e9}
	for range columns {
		var s aggregates.Series
		present := random.Float64() * 1.2
		for row := range rows {
			if random.Float64() < present {
				s.Starts = append(s.Starts, carbonara.Timestamp(row)*60e9)
				s.Values = append(s.Values, math.Round(random.NormFloat64()*100)/8)
			}
		}
		table.Series = append(table.Series, s)
	}
	return table
}

func columnOf(t testing.TB, text string, table *aggregates.Table, options aggregates.Options) []float64 {
	t.Helper()
	operation, err := aggregates.Parse(text)
	fatal.If(t, err)
	result, err := aggregates.Evaluate(t.Context(), operation, table, &options)
	fatal.If(t, err)
	values, err := result.Column(0, nil)
	fatal.If(t, err)
	return values
}

// percentile interpolates between the two nearest of some values.
func percentile(values []float64, p float64) float64 {
	values = slices.DeleteFunc(values, math.IsNaN)
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	rank := float64(len(values)-1) * (p / 100)
	low := math.Floor(rank)
	if low == rank {
		return values[int(low)]
	}
	return float64(values[int(low)]*(low+1-rank)) + float64(values[int(low)+1]*(rank-low))
}

// A percentile across metrics is that of their values at each time, however many rows and columns are gathered at once,
// on all cores or on one, and also of a rolling window.
func TestPercentilesOfRows(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	options := aggregates.Options{Fill: aggregates.DropNA}
	for _, shape := range [][2]int{{1, 1}, {1, 3000}, {7, 40}, {8, 513}, {9, 1200}, {300, 1100}, {40_000, 8}} {
		table := gappyTable(random, shape[0], shape[1])
		var rows [][]float64
		number := make(map[carbonara.Timestamp]int)
		for _, s := range table.Series {
			for _, start := range s.Starts {
				number[start] = 0
			}
		}
		times := make([]carbonara.Timestamp, 0, len(number))
		for start := range number {
			times = append(times, start)
		}
		slices.Sort(times)
		for i, start := range times {
			number[start] = i
		}
		rows = make([][]float64, len(times))
		for _, s := range table.Series {
			for i, start := range s.Starts {
				rows[number[start]] = append(rows[number[start]], s.Values[i])
			}
		}
		for _, p := range []int{1, 37, 50, 95, 99} {
			across := columnOf(t, fmt.Sprintf("(aggregate %dpct (metric a mean))", p), table, options)
			derived := columnOf(t, fmt.Sprintf("(neg (aggregate %dpct (neg (metric a mean))))", 100-p), table, options)
			if len(across) != len(rows) {
				t.Fatalf("%v: %d rows, want %d", shape, len(across), len(rows))
			}
			for i := range rows {
				if want := percentile(slices.Clone(rows[i]), float64(p)); across[i] != want {
					t.Fatalf("%v: the %d. percentile of row %d is %v, want %v", shape, p, i, across[i], want)
				}
				if math.Abs(derived[i]-across[i]) > 1e-9 {
					t.Fatalf("%v: of what is derived the %d. percentile is %v, want %v", shape, p, derived[i], across[i])
				}
			}
		}
	}
}

func sameBits(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// An aggregate across metrics has the same bits on all cores, which share the rows, as on one, which reads what is
// derived from the metrics whole.
func TestSameBitsOnAllCores(t *testing.T) {
	table := gappyTable(rand.New(rand.NewPCG(3, 4)), 40, 5000)
	for _, method := range []string{"mean", "median", "75pct", "std", "min", "max", "sum", "var", "count", "rate:mean"} {
		for _, text := range []string{"0", "null", "dropna", "ffill", "bfill", "full_ffill", "full_bfill"} {
			fill, ok := aggregates.ParseFill(text)
			if !ok {
				t.Fatal(text)
			}
			options := aggregates.Options{Fill: fill}
			across := columnOf(t, "(aggregate "+method+" (metric a mean))", table, options)
			derived := columnOf(t, "(aggregate "+method+" (* 1 (metric a mean)))", table, options)
			if !slices.EqualFunc(across, derived, sameBits) {
				t.Errorf("%s with fill=%s: on all cores other than on one", method, text)
			}
		}
	}
}

// BenchmarkAcross aggregates 10,000 metrics of a day of minutes.
func BenchmarkAcross(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	table := &aggregates.Table{Granularity: 60e9}
	var starts []carbonara.Timestamp
	for row := range 1440 {
		starts = append(starts, carbonara.Timestamp(row)*60e9)
	}
	for range 10_000 {
		s := aggregates.Series{Starts: starts, Values: make([]float64, len(starts))}
		for i := range s.Values {
			s.Values[i] = random.NormFloat64()
		}
		table.Series = append(table.Series, s)
	}
	for _, text := range []string{"median (metric a mean)", "mean (metric a mean)", "std (metric a mean)",
		"max (metric a mean)", "median (neg (metric a mean))", "max (resample 95pct 3600 (metric a mean))",
		"max (rolling mean 60 (metric a mean))", "max (rolling std 60 (metric a mean))",
		"max (rolling median 60 (metric a mean))"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				columnOf(b, "(aggregate "+text+")", table, aggregates.Options{})
			}
		})
	}
}
