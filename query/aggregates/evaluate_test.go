package aggregates_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/query/aggregates"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// series starts at a number of seconds; then come timestamps and values by turns.
func series(reference int, points ...float64) aggregates.Series {
	s := aggregates.Series{Reference: reference}
	for i := 1; i+1 < len(points); i += 2 {
		s.Starts = append(s.Starts, carbonara.Timestamp((points[0]+points[i])*1e9))
		s.Values = append(s.Values, points[i+1])
	}
	return s
}

func evaluate(t testing.TB, text string, options aggregates.Options, all ...aggregates.Series) (string, error) {
	t.Helper()
	operation, err := aggregates.Parse(text)
	fatal.If(t, err)
	result, err := aggregates.Evaluate(t.Context(), operation,
		&aggregates.Table{Granularity: 60e9, Series: all}, &options)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for j := range result.Columns() {
		values, err := result.Column(j, nil)
		fatal.If(t, err)
		fmt.Fprintf(&b, "%d:", result.Series(j))
		for i, v := range values {
			if result.Shows(v) {
				fmt.Fprintf(&b, " %d=%v", result.Times[i]/1e9, v)
			}
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// Operations that Gnocchi answers with 500, and those that golden.json cannot express.
func TestEvaluate(t *testing.T) {
	a, b, c := series(0, 0, 60, 1, 120, 2, 180, 3), series(1, 0, 60, 10, 120, 20, 180, 30), series(2, 0, 60, 5)
	options := aggregates.Options{Fill: aggregates.DropNA}
	f := func(text, want string, all ...aggregates.Series) {
		t.Helper()
		got, err := evaluate(t, text, options, all...)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", text, got, want)
		}
	}
	// One name may stand for many series, or for none.
	wild := series(0, 0, 60, 100)
	f("(metric cpu.* mean)", "0: 60=1 120=2 180=3\n1: 60=100", a, wild)
	f("(aggregate sum (metric cpu.* mean))", "-1: 60=101 120=2 180=3", a, wild)
	f("(+ (metric a mean) (metric b mean))", "-1: 60=11 120=22 180=33", a, b)
	f("(+ (metric a mean) (metric b mean))", "", a)
	f("(+ (metric cpu.* mean) (metric b mean))", "-1: 60=11 120=22 180=33", a, wild, b)
	f("(aggregate mean (+ (metric cpu.* mean) (metric b mean)))", "-1: 60=60.5 120=22 180=33", a, wild, b)
	f("(aggregate max (+ (metric a mean) (metric b mean)))", "-1:", a)
	f("(+ (metric (a mean) (b mean)) (metric (c mean) (d mean) (e mean)))",
		"aggregates: Can't compute 2 timeseries with 3: (metric (a mean) (b mean)) <> (metric (c mean) (d mean) (e mean))",
		a, b, c, series(3, 0, 60, 1), series(4, 0, 60, 1))
	f("(+ (metric a mean) (aggregate mean 5))", "aggregates: 5 gives a number, not series", a)
	f("(rolling mean 4 (metric a mean))", "aggregates: Rolling window '4' is greater than serie length '3'", a)
	f("(+ (resample mean 120 (metric a mean)) (metric a mean))",
		"aggregates: Can't compute timeseries with different granularity (resample mean 2m0s (metric (a mean))) <> (metric (a mean))", a)
	f("(clip (metric a mean) (rateofchange (metric a mean)) 5)",
		"aggregates: Can't compute timeseries with different granularity (metric (a mean)) <> (rateofchange (metric (a mean)))", a)
	f("(sin (> (metric a mean) 9))", "0: 60=0 120=0 180=0", a)
	f("(neg (> (metric a mean) 1))", "0: 60=-0 120=-1 180=-1", a)
	f("(aggregate count (metric (a mean) (c mean)))", "-1: 60=2 120=1 180=1", a, series(1, 0, 60, 5))
	f("(+ (metric a mean) (max (> 2 1) (> 1 2)))", "0: 60=2 120=3 180=4", a)

	options = aggregates.Options{Fill: aggregates.Fill{}, NeededOverlap: 100}
	f("(metric (a mean) (b mean) (c mean))", "0: 60=1\n1: 60=10\n2: 60=5", a, b, c)
	options.HasTo = true
	f("(metric (a mean) (b mean) (c mean))",
		"aggregates: Less than 100.000000% of datapoints overlap in this timespan (33.33%)", a, b, c)
	f("(metric (a mean) (b mean))", "aggregates: No overlap", a, series(1))
}

// A long window is computed in another way than a short one: both give the same.
func TestLongWindow(t *testing.T) {
	const rows = 400
	random := rand.New(rand.NewPCG(1, 2))
	s := aggregates.Series{}
	for i := range rows {
		v := random.Float64()*200 - 100
		if i%7 == 0 || i > 250 && i < 330 {
			v = math.NaN()
		}
		s.Starts, s.Values = append(s.Starts, carbonara.Timestamp(i*60e9)), append(s.Values, v)
	}
	for _, method := range []string{"mean", "median", "std", "min", "max", "sum", "var", "count", "rate:mean"} {
		for _, window := range []int{64, 65, 79, 100, 133, 200, 399, 400} {
			rolled, err := aggregates.Parse(fmt.Sprintf("(rolling %s %d (metric a mean))", method, window))
			fatal.If(t, err)
			got := column(t, rolled, s)
			// The rows of one window, as series of one row each.
			across, err := aggregates.Parse("(aggregate " + strings.TrimPrefix(method, "rate:") + " (metric a mean))")
			fatal.If(t, err)
			var want []float64
			for i := range rows - window + 1 {
				var all []aggregates.Series
				for _, v := range s.Values[i : i+window] {
					all = append(all, aggregates.Series{Starts: s.Starts[:1], Values: []float64{v}})
				}
				want = append(want, column(t, across, all...)...)
			}
			if strings.HasPrefix(method, "rate:") {
				for i := range want[1:] {
					want[i] = want[i+1] - want[i]
				}
				want = want[:len(want)-1]
			}
			if len(got) != len(want) {
				t.Fatalf("%s over %d: %d rows, want %d", method, window, len(got), len(want))
			}
			for i := range want {
				if math.Abs(got[i]-want[i]) > 1e-9 || (got[i] != got[i]) != (want[i] != want[i]) {
					t.Fatalf("%s over %d, row %d: %v, want %v", method, window, i, got[i], want[i])
				}
			}
		}
	}
}

func column(t *testing.T, operation *aggregates.Operation, all ...aggregates.Series) []float64 {
	t.Helper()
	fill, _ := aggregates.ParseFill("null")
	result, err := aggregates.Evaluate(t.Context(), operation, &aggregates.Table{Granularity: 60e9, Series: all},
		&aggregates.Options{Fill: fill})
	fatal.If(t, err)
	values, err := result.Column(0, nil)
	fatal.If(t, err)
	return values
}

func TestEvaluateEndsWithItsContext(t *testing.T) {
	operation, err := aggregates.Parse("(aggregate mean (metric a mean))")
	fatal.If(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	table := aggregates.Table{Granularity: 60e9, Series: []aggregates.Series{series(0, 0, 60, 1)}}
	if _, err := aggregates.Evaluate(ctx, operation, &table, &aggregates.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func BenchmarkEvaluate(b *testing.B) {
	const metrics, groups = 1000, 1000
	table := aggregates.Table{Granularity: 60e9}
	for i := range metrics {
		s := aggregates.Series{Starts: make([]carbonara.Timestamp, groups), Values: make([]float64, groups)}
		for j := range groups {
			s.Starts[j], s.Values[j] = carbonara.Timestamp(j*60e9), float64((i*7919+j*31)%10007)
		}
		table.Series = append(table.Series, s)
	}
	for _, text := range []string{
		"(aggregate mean (metric * mean))", "(aggregate std (metric * mean))", "(aggregate median (metric * mean))",
		"(aggregate max (rateofchange (metric * mean)))", "(aggregate mean (resample max 3600 (metric * mean)))",
		"(aggregate mean (resample median 3600 (metric * mean)))",
		"(aggregate mean (rolling mean 5 (* 2 (metric * mean))))",
	} {
		b.Run("operation="+strings.ReplaceAll(strings.Trim(text, "()"), " ", "_"), func(b *testing.B) {
			operation, err := aggregates.Parse(text)
			fatal.If(b, err)
			b.ReportAllocs()
			b.SetBytes(metrics * groups * 8)
			for b.Loop() {
				result, err := aggregates.Evaluate(b.Context(), operation, &table,
					&aggregates.Options{Fill: aggregates.DropNA})
				if err != nil || result.Columns() != 1 || len(result.Times) == 0 {
					b.Fatal(err)
				}
			}
		})
	}
}
