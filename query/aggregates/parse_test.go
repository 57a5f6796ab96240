package aggregates_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/query/aggregates"
)

// decode reads JSON as package api does.
func decode(text string) any {
	var value any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

func TestParse(t *testing.T) {
	valid := func(value any, references ...string) {
		t.Helper()
		o, err := aggregates.Parse(value)
		if err != nil {
			t.Errorf("%v: %v", value, err)
			return
		}
		var got []string
		for _, r := range o.References {
			got = append(got, r.Name+" "+r.Aggregation)
		}
		if !slices.Equal(got, references) {
			t.Errorf("%v: references %q, want %q", value, got, references)
		}
	}
	valid("(metric a mean)", "a mean")
	valid("  ( metric a\tmean ) rest (", "a mean")
	valid("(- (metric a mean) (metric b mean)))", "a mean", "b mean")
	valid(`(metric "a (b) \" c" 'mean')`, `a (b) " c mean`)
	valid("(metric (a mean) (b max) (a mean) (a max))", "a mean", "b max", "a max")
	valid("(≥ (× 2e3 (metric cpu.* mean)) -inf)", "cpu.* mean")
	valid("(clip (metric a mean) 1)", "a mean")
	valid("(clip (metric a mean) 1 (metric b mean))", "a mean", "b mean")
	valid("(aggregate mean (metric a mean) (metric b mean) (metric (c max) (a mean)))", "a mean", "b mean", "c max")
	valid("(rolling rate:std 3 (metric a mean))", "a mean")
	valid("(resample 95pct 1h (rateofchangesec (metric a mean)))", "a mean")
	valid(decode(`["+", ["metric", ["a","mean"]], true]`), "a mean")
	valid(decode(`["resample", "mean", 60, ["metric", "a", "mean"]]`), "a mean")
	valid(decode(`["rolling", "mean", 2.7, ["max", ["metric", "a", "mean"], "3"]]`), "a mean")

	invalid := func(value any, want string) {
		t.Helper()
		_, err := aggregates.Parse(value)
		var fault *aggregates.InvalidError
		if !errors.As(err, &fault) || !strings.Contains(fault.Error(), want) {
			t.Errorf("%v: %v, want %s", value, err, want)
		}
	}
	invalid(decode(`[]`), "Operation must not be empty")
	invalid(decode(`{"foo":"bar"}`), "Expected a tuple/list, got a")
	invalid(decode(`5`), "Expected a tuple/list, got a 5")
	invalid(decode(`["metric"]`), "Operation need at least one argument")
	invalid(decode(`[5, 5]`), "Operation must begin with its name")
	invalid("(rolling blah 2 (metric a mean))", "'rolling' operation invalid: no such aggregation method, got 'blah'")
	invalid("(rolling mean (metric a mean))", "'rolling' operation invalid: takes 3 arguments, not 2")
	invalid("(rolling mean 0 (metric a mean))", "'rolling' operation invalid: the window")
	invalid("(rolling mean 1.5 (metric a mean))", "'rolling' operation invalid: the window")
	invalid("(notexist (absolute (metric a mean)))", "'notexist' operation invalid")
	invalid("(+ 1 (notexist (metric a mean)))", "'notexist' operation invalid")
	invalid("(resample mean invalid (metric a mean))", "'resample' operation invalid: the timespan")
	invalid("(resample mean -5 (metric a mean))", "'resample' operation invalid: the timespan")
	invalid("(resample var 5 (metric a mean))", "'resample' operation invalid: no such aggregation method")
	invalid(decode(`["resample","mean",{},["metric","a","mean"]]`), "'resample' operation invalid: the timespan")
	invalid("(aggregate last (metric a mean))", "'aggregate' operation invalid")
	invalid("(aggregate mean)", "'aggregate' operation invalid: takes 2 arguments at least, not 1")
	invalid("(aggregate mean (metric a mean) (abs (metric b mean)))",
		"'aggregate' operation invalid: takes one operation, or several metrics")
	invalid("(aggregate mean (metric a mean) 1)",
		"'aggregate' operation invalid: takes one operation, or several metrics")
	invalid("(clip (metric a mean))", "'clip' operation invalid: takes 2 or 3 arguments, not 1")
	invalid("(metric a)", "'metric' operation invalid")
	invalid("(metric (a mean) b)", "'metric' operation invalid")
	invalid(decode(`["metric", 1, "mean"]`), "'metric' operation invalid")
	invalid(decode(`["+", ["metric", "a", "mean"], null]`), "expected an operation or a number: got null")
	invalid("(+ (metric a mean) b)", "got 'b'")
	invalid("(+ 1 2)", "At least one 'metric' is required")
	invalid(nested(100), "nested more than 100 deep")
	if _, err := aggregates.Parse(nested(99)); err != nil {
		t.Errorf("100 operations deep: %v", err)
	}
	// Beside each other, so that none is too deep.
	wide := func(metrics int) any { return decode(balanced(metrics)) }
	whole := []any{"abs", wide(250)} // with 249 sums
	if _, err := aggregates.Parse(whole); err != nil {
		t.Errorf("500 operations: %v", err)
	}
	invalid([]any{"abs", whole}, "More than 500 operations")
	invalid(wide(251), "More than 500 operations")
	invalid(wide(50000), "More than 500 operations")
	long := strings.Repeat("x", 51)
	invalid("("+long+" (metric a mean))", "'"+long[:50]+"…' operation invalid")
	invalid("(+ (metric a mean) "+long+")", "got '"+long[:50]+"…'")
	invalid("(+ "+strings.Repeat("(abs 1)", 3)+")", "'+' operation invalid: takes 2 arguments, not 3")

	unreadable := func(text, want string) {
		t.Helper()
		_, err := aggregates.Parse(text)
		var fault *aggregates.SyntaxError
		if !errors.As(err, &fault) || !strings.Contains(fault.Reason, want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	unreadable("", "Expected '('")
	unreadable("metric a mean", "Expected '('  (at char 0), (line:1, col:1)")
	unreadable("(metroc foo bar", "Expected ')', found end of text  (at char 15), (line:1, col:16)")
	unreadable("(≥ 1\n  (é", "(at char 9), (line:2, col:5)")
	unreadable("(metric 'foo bar)", "Expected a closing '")
	unreadable(strings.Repeat("(", 1000), "nested more than 100 deep")
}

// nested is an operation that many deep, as lists.
func nested(depth int) any {
	var value any = decode(`["metric", "a", "mean"]`)
	for range depth {
		value = []any{"abs", value}
	}
	return value
}

// balanced is the sum of so many metrics, as JSON.
func balanced(metrics int) string {
	if metrics == 1 {
		return `["metric", "a", "mean"]`
	}
	return `["+", ` + balanced(metrics/2) + `, ` + balanced(metrics-metrics/2) + `]`
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"(metric a mean)", `["metric",["a","mean"]]`, `(clip (metric "a b" mean) -1 nan)`,
		"(resample mean 1h (metric (a mean) (b mean)))",
		"(aggregate rate:mean (resample rate:mean 1h (metric (a rate:mean) (b rate:mean))))",
		"(* 2 (resample max 120 (metric a max)))",
		`["rolling","rate:std",3,["≥",["metric","a","mean"],"1e400"]]`, "((((", `(metric "`, `[[],[{}]]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, value := range []any{string(data), decode(string(bytes.ToValidUTF8(data, nil)))} {
			o, err := aggregates.Parse(value)
			if err != nil {
				if err.Error() == "" {
					t.Error("an error without text")
				}
				continue
			}
			evaluateExactly(t, o)
			table := aggregates.Table{Granularity: 60e9}
			for i := range min(3, len(o.References)) {
				table.Series = append(table.Series, series(i, 0, 60, 1, 60, 2, 180, 3))
			}
			options := aggregates.Options{Fill: aggregates.DropNA}
			result, err := aggregates.Evaluate(t.Context(), o, &table, &options)
			if err != nil {
				continue // a window that is too long, or operands that do not fit
			}
			for j := range result.Columns() {
				column, err := result.Column(j, nil)
				if err != nil || len(column) != len(result.Times) {
					t.Fatalf("%q: column %d: %v", fmt.Sprint(value), j, err)
				}
			}
		}
	})
}

// evaluateExactly evaluates the exact operation, if there is one, on a few groups of each metric.
func evaluateExactly(t *testing.T, o *aggregates.Operation) {
	exact, err := o.Exact()
	if err != nil {
		if err.Error() == "" {
			t.Error("an error without text")
		}
		return
	}
	groups := carbonara.Groups{Granularity: 60e9, Starts: []carbonara.Timestamp{0, 60e9, 180e9}}
	for _, c := range []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum, carbonara.ColumnMin,
		carbonara.ColumnMax, carbonara.ColumnM2} {
		groups.Columns, groups.Values = append(groups.Columns, c), append(groups.Values, []float64{2, 3, 1})
	}
	table := aggregates.Table{Granularity: 60e9}
	for i := range exact.Combinations {
		c := &exact.Combinations[i]
		if from, to := c.Span(60e9, 120e9); from > 60e9 || to < 120e9 {
			t.Errorf("span from %v to %v", from, to)
		}
		part, err := c.Combine([]*carbonara.Groups{&groups})
		if err != nil {
			return // groups that do not fit
		}
		series, err := c.Series([]*carbonara.Groups{part, part})
		if err != nil {
			t.Error(err)
		}
		table.Combined = append(table.Combined, []aggregates.Series{series})
	}
	result, err := aggregates.Evaluate(t.Context(), exact, &table, &aggregates.Options{Fill: aggregates.DropNA})
	if err != nil {
		return
	}
	for j := range result.Columns() {
		if _, err := result.Column(j, nil); err != nil {
			t.Error(err)
		}
	}
}
