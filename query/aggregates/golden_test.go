package aggregates_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/query/aggregates"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// number is a float as tools/golden/aggregates.py writes it.
type number float64

func (n *number) UnmarshalJSON(text []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	*n = number(f)
	return err
}

type goldenFile struct {
	Origin int64
	Tables map[string]map[string][][2]number
	Cases  []goldenCase
}

type goldenCase struct {
	Table, Operations string
	Fill              any
	Overlap           *float64
	Start, Stop       *int64
	Granularity       *int64
	Error             string
	Columns           []struct {
		Name   string
		Starts []int64
		Values []number
	}
}

func readGolden(t *testing.T) *goldenFile {
	t.Helper()
	text, err := os.ReadFile("testdata/golden.json")
	fatal.If(t, err)
	var file goldenFile
	fatal.If(t, json.Unmarshal(text, &file))
	if len(file.Cases) < 1000 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	return &file
}

// The answers are those of Gnocchi's own code.
func TestGolden(t *testing.T) {
	file := readGolden(t)
	t.Run("columns apart", func(t *testing.T) { file.check(t, nil, func(*goldenCase) bool { return true }) })
	t.Run("columns together", func(t *testing.T) { file.check(t, newTogether(), (*goldenCase).regroups) })
}

// regroups reports whether a resampler has a part in the answer.
func (c *goldenCase) regroups() bool {
	return strings.Contains(c.Operations, "median") || strings.Contains(c.Operations, "resample")
}

// check holds some of the cases to their answers.
func (file *goldenFile) check(t *testing.T, resampler carbonara.Resampler, which func(*goldenCase) bool) {
	t.Helper()
	for i := range file.Cases {
		c := &file.Cases[i]
		if !which(c) {
			continue
		}
		if fault := c.check(t, file, resampler); fault != "" {
			t.Errorf("%s, %s, fill %v, overlap %v, start %v, stop %v: %s", c.Table, c.Operations, c.Fill,
				value(c.Overlap), value(c.Start), value(c.Stop), fault)
		}
	}
}

func value[T any](p *T) any {
	if p == nil {
		return "none"
	}
	return *p
}

func (c *goldenCase) check(t *testing.T, file *goldenFile, resampler carbonara.Resampler) string {
	operation, err := aggregates.Parse(c.Operations)
	if err != nil {
		return err.Error()
	}
	options := aggregates.Options{Resampler: resampler, HasFrom: c.Start != nil, HasTo: c.Stop != nil}
	switch fill := c.Fill.(type) {
	case string:
		options.Fill, _ = aggregates.ParseFill(fill)
	case float64:
		options.Fill, _ = aggregates.ParseFill(strconv.FormatFloat(fill, 'g', -1, 64))
	default:
		options.NeededOverlap = *c.Overlap
	}
	table := aggregates.Table{Granularity: time.Minute}
	for i, reference := range operation.References {
		s := aggregates.Series{Reference: i}
		for _, point := range file.Tables[c.Table][reference.Name] {
			at := int64(point[0])
			if (c.Start == nil || at >= *c.Start/60*60) && (c.Stop == nil || at < *c.Stop) {
				s.Starts = append(s.Starts, carbonara.Timestamp((file.Origin+at)*1e9))
				s.Values = append(s.Values, float64(point[1]))
			}
		}
		table.Series = append(table.Series, s)
	}
	result, err := aggregates.Evaluate(t.Context(), operation, &table, &options)
	var unaggregable *aggregates.UnaggregableError
	switch {
	case errors.As(err, &unaggregable):
		if c.Error == "" || !strings.HasPrefix(unaggregable.Reason, c.Error) {
			return "error " + unaggregable.Reason + ", want " + c.Error
		}
		return ""
	case err != nil:
		return err.Error()
	case c.Error != "":
		return "no error, want " + c.Error
	case result.Columns() != len(c.Columns):
		return strconv.Itoa(result.Columns()) + " columns, want " + strconv.Itoa(len(c.Columns))
	}
	var values []float64
	for j, want := range c.Columns {
		if values, err = result.Column(j, values); err != nil {
			return err.Error()
		}
		if want.Name != "" && operation.References[table.Series[result.Series(j)].Reference].Name != want.Name ||
			result.Aggregated != (want.Name == "") {
			return "column " + strconv.Itoa(j) + " is not of " + want.Name
		}
		row := 0
		for i, v := range values {
			if !result.Shows(v) {
				continue
			}
			at := (int64(result.Times[i]) - file.Origin*1e9) / 1e9
			if row == len(want.Starts) || at != want.Starts[row] || !c.near(v, float64(want.Values[row])) {
				return "column " + strconv.Itoa(j) + ", row " + strconv.Itoa(row) + ": " +
					strconv.FormatFloat(v, 'g', -1, 64) + " at " + strconv.FormatInt(at, 10) +
					describe(want.Starts, want.Values, row)
			}
			row++
		}
		if row != len(want.Starts) {
			return "column " + strconv.Itoa(j) + " ends after " + strconv.Itoa(row) + " rows"
		}
		if row > 0 && result.Granularity != time.Duration(*c.Granularity)*time.Second {
			return "granularity " + result.Granularity.String()
		}
	}
	return ""
}

func describe(starts []int64, values []number, row int) string {
	if row == len(starts) {
		return ", want the end"
	}
	return ", want " + strconv.FormatFloat(float64(values[row]), 'g', -1, 64) + " at " +
		strconv.FormatInt(starts[row], 10)
}

// inexact are the operations whose last bits may differ from numpy's: see doc.go. The std and the percentiles of a
// resample are package carbonara's.
var inexact = []string{"rolling", "sin", "cos", "tan", "pow", "^", "**", "resample std",
	"resample 95pct", "resample 7pct"}

// near allows inexact operations a few units in the last place of sums up to some thousands, and no other any.
func (c *goldenCase) near(got, want float64) bool {
	if got == want || got != got && want != want {
		return true
	}
	return slices.ContainsFunc(inexact, func(name string) bool { return strings.Contains(c.Operations, "("+name) }) &&
		math.Abs(got-want) <= 1e-12+4e-15*math.Abs(want)
}
