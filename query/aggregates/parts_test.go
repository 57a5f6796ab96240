package aggregates_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/query/aggregates"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// An operation that is divisible gives the same, or the same error, of all the time and of parts of it, wherever these
// begin.
func TestPartsJoin(t *testing.T) {
	const seed = 31
	random := rand.New(rand.NewPCG(seed, seed))
	operations := []string{
		"(aggregate median (metric m mean))", "(aggregate mean (metric m mean))", "(aggregate std (metric m mean))",
		"(aggregate count (metric m mean))", "(aggregate max (resample 95pct 600 (metric m mean)))",
		"(resample std 300 (metric m mean))", "(aggregate sum (resample mean 180 (resample max 120 (metric m mean))))",
		"(/ (aggregate sum (metric m mean)) (aggregate count (* 2 (metric m mean))))",
		"(> (aggregate min (abs (metric m mean))) 3)", "(clip (aggregate sum (metric m mean)) 2 8)",
	}
	fills := []string{"", "null", "dropna", "0"}
	joined, refused := 0, 0
	for round := range 600 {
		text, fill := operations[round%len(operations)], fills[random.IntN(len(fills))]
		operation, err := aggregates.Parse(text)
		fatal.If(t, err)
		options := aggregates.Options{HasFrom: random.IntN(2) == 0, HasTo: random.IntN(2) == 0,
			NeededOverlap: float64(random.IntN(3) * 40)}
		if fill != "" {
			options.Fill, _ = aggregates.ParseFill(fill)
		}
		if !operation.Divisible(&options) {
			refused++
			continue
		}
		all := make([]aggregates.Series, 1+random.IntN(6))
		dense := random.IntN(3)
		for i := range all {
			from, to := random.IntN(20), 40+random.IntN(20)
			for k := from; k < to; k++ {
				if random.IntN(10) >= 3*dense {
					v := float64(random.IntN(40)-10) / 4
					if random.IntN(50) == 0 {
						v = math.NaN()
					}
					all[i].Starts = append(all[i].Starts, carbonara.Timestamp(60e9*k))
					all[i].Values = append(all[i].Values, v)
				}
			}
		}
		whole, wholeErr := aggregates.Evaluate(t.Context(), operation,
			&aggregates.Table{Granularity: time.Minute, Series: all}, &options)
		var parts []*aggregates.Result
		part := options
		part.Part = true
		from := carbonara.Timestamp(0)
		for from < 60*60e9 {
			to := operation.PartStart(from+carbonara.Timestamp(60e9*(1+random.IntN(40))), time.Minute)
			if to <= from {
				to = 60 * 60e9
			}
			cut := make([]aggregates.Series, len(all))
			for i := range all {
				a, _ := slices.BinarySearch(all[i].Starts, from)
				b, _ := slices.BinarySearch(all[i].Starts, to)
				cut[i].Starts, cut[i].Values = slices.Clone(all[i].Starts[a:b]), slices.Clone(all[i].Values[a:b])
			}
			result, err := aggregates.Evaluate(t.Context(), operation,
				&aggregates.Table{Granularity: time.Minute, Series: cut}, &part)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			fatal.If(t, result.Detach())
			for i := range cut {
				for k := range cut[i].Values {
					cut[i].Starts[k], cut[i].Values[k] = -1, -1000 // the memory is used again
				}
			}
			parts, from = append(parts, result), to
		}
		got, gotErr := aggregates.Join(parts, &options)
		if fmt.Sprint(gotErr) != fmt.Sprint(wholeErr) {
			t.Fatalf("round %d, %s, %+v: %v, want %v", round, text, options, gotErr, wholeErr)
		}
		if wholeErr != nil {
			continue
		}
		if a, b := shown(t, got), shown(t, whole); a != b {
			t.Fatalf("round %d, %s, %+v, %d parts:\n%s\nwant\n%s", round, text, options, len(parts), a, b)
		}
		if len(parts) > 1 {
			joined++
		}
	}
	if joined < 200 || refused < 10 {
		t.Errorf("%d were joined, %d are not divisible", joined, refused)
	}
}

// shown is all that a result says.
func shown(t *testing.T, r *aggregates.Result) string {
	t.Helper()
	text := fmt.Sprintln(r.Granularity, r.Aggregated, r.Columns(), r.Times)
	for j := range r.Columns() {
		values, err := r.Column(j, nil)
		fatal.If(t, err)
		text += fmt.Sprintln(r.Series(j), values)
		for _, v := range values {
			text += fmt.Sprint(r.Shows(v), " ")
		}
	}
	return text
}

// Rows that others depend on cannot be divided from them, and what is no smaller than its series need not be.
func TestDivisible(t *testing.T) {
	f := func(text, fill string, want bool) {
		t.Helper()
		operation, err := aggregates.Parse(text)
		fatal.If(t, err)
		var options aggregates.Options
		if fill != "" {
			options.Fill, _ = aggregates.ParseFill(fill)
		}
		if got := operation.Divisible(&options); got != want {
			t.Errorf("%s, fill %q: %v", text, fill, got)
		}
	}
	f("(aggregate mean (metric m mean))", "", true)
	f("(aggregate mean (metric m mean))", "ffill", false)
	f("(aggregate mean (metric m mean))", "full_bfill", false)
	f("(aggregate rate:mean (metric m mean))", "null", false)
	f("(aggregate mean (metric m rate:mean))", "null", true)
	f("(aggregate mean (rolling mean 2 (metric m mean)))", "null", false)
	f("(aggregate mean (rateofchange (metric m mean)))", "null", false)
	f("(resample mean 60 (metric m mean))", "null", true)
	f("(resample mean 60 (metric m mean))", "", false)
	f("(resample rate:mean 60 (metric m mean))", "null", false)
	f("(metric m mean)", "null", false)
	f("(+ (metric m mean) (aggregate mean (metric m mean)))", "null", false)
	f("(+ 1 (aggregate mean (metric m mean)))", "null", true)
	exact, err := aggregates.Parse("(aggregate mean (metric m mean))")
	if err == nil {
		exact, err = exact.Exact()
	}
	if err != nil || exact.Divisible(&aggregates.Options{Fill: aggregates.DropNA}) {
		t.Errorf("an exact operation: %v", err)
	}
}

// A part begins where an aggregate and a group of each resample do; widths that seldom meet end the search.
func TestPartStart(t *testing.T) {
	f := func(text string, at, want carbonara.Timestamp) {
		t.Helper()
		operation, err := aggregates.Parse(text)
		fatal.If(t, err)
		if got := operation.PartStart(at, time.Minute); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
	f("(aggregate mean (metric m mean))", 119e9, 60e9)
	f("(resample mean 180 (metric m mean))", 719e9, 540e9)
	f("(aggregate mean (resample mean 180 (resample max 120 (metric m mean))))", 719e9, 360e9)
	f("(resample mean 1000003 (resample max 999983 (metric m mean)))", 1e18, 0)
}
