package carbonara_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func parseMethods(t testing.TB, names ...string) []carbonara.Method {
	t.Helper()
	methods, err := carbonara.ParseMethods(names)
	fatal.If(t, err)
	return methods
}

func TestParseThresholds(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		m, err := carbonara.ParseMethod(text)
		if err != nil || m.String() != want || !m.IsFold() || !m.HasThreshold() || !m.IsOurs() {
			t.Errorf("%s: %v, %v, want %s", text, m, err, want)
		}
	}
	f("share_above(90)", "share_above(90)")
	f("share_above(9.0e1)", "share_above(90)")
	f("share_above(+090.00)", "share_above(90)")
	f("share_below(.5)", "share_below(0.5)")
	f("count_above(-0)", "count_above(0)")
	f("count_below(-1e-16)", "count_below(-0.0000000000000001)")
	f("count_above(123456789012345)", "count_above(123456789012345)")
	f("count_above(0.1)", "count_above(0.1)")
	f("count_above(1e29)", "count_above(100000000000000000000000000000)")
	f("count_above(0.100000000000000005)", "count_above(0.1)") // the same float64
	refused := func(text, want string) {
		t.Helper()
		if m, err := carbonara.ParseMethod(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %s", text, m, err, want)
		}
	}
	refused("share_above", `aggregation method "share_above" needs a threshold`)
	refused("share_above(90", `aggregation method "share_above(90" needs a threshold`)
	refused("share_above()", `aggregation method "share_above()": threshold "" is not a decimal number`)
	refused("share_above(NaN)", "not a decimal number")
	refused("share_above(inf)", "not a decimal number")
	refused("share_above(1e999)", "not a decimal number")
	refused("share_above(0x10)", "not a decimal number")
	refused("share_above( 90)", "not a decimal number")
	refused("share_above(90))", "not a decimal number")
	refused("share_above(1234567890123456)", "more than 15 significant digits")
	refused("share_above(0.00123456789012345)", "or 16 decimals")
	refused("share_above(1e-17)", "16 decimals")
	refused("share_above(1e30)", "out of range")
	refused("share_over(90)", `unknown aggregation method "share_over(90)"`)
	refused("rate:share_above(90)", `unknown aggregation method "rate:share_above(90)"`)
	refused("sum(x)", `unknown aggregation method "sum(x)"`)
}

// A method that parses is the one of its name, and its columns come back from their bytes.
func FuzzParseMethod(f *testing.F) {
	for _, text := range []string{"share_above(90)", "count_below(-0.5)", "share_below(1e29)", "95pct", "sum(x*x)",
		"count_above(", "count_above(0)", "rate:mean", "share_above(123456789012345e15)", "share_above(1e-16)"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := carbonara.ParseMethod(text)
		if err != nil {
			return
		}
		again, err := carbonara.ParseMethod(m.String())
		if err != nil || again != m {
			t.Fatalf("%q is %v, and that is %v, %v", text, m, again, err)
		}
		for _, c := range m.Columns() {
			var read carbonara.Column
			rest, ok := read.Consume(append(c.Append(nil), 7))
			if !ok || read != c || len(rest) != 1 {
				t.Fatalf("%v: column %v is read as %v, %v, with %d bytes left", m, c, read, ok, len(rest))
			}
		}
	})
}

// FuzzConsumeColumn accepts only bytes that Append writes.
func FuzzConsumeColumn(f *testing.F) {
	for _, name := range []string{"count_above(90)", "count_below(-0.5)", "count_above(0)", "last"} {
		f.Add(parseMethods(f, name)[0].Columns()[0].Append(nil))
	}
	f.Add([]byte{113, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, src []byte) {
		var c carbonara.Column
		rest, ok := c.Consume(src)
		if written := c.Append(nil); ok && !slices.Equal(append(written, rest...), src) {
			t.Fatalf("%x is %v, which is %x", src, c, written)
		}
	})
}

// A column of bytes that no threshold makes is none: half of them, 15 digits and one more, zeros at the end, or a zero
// of another exponent or sign.
func TestThresholdsHaveOneSpelling(t *testing.T) {
	f := func(digits uint64, power int, sign uint64, want bool) {
		t.Helper()
		for _, kind := range []byte{113, 114} {
			bits := uint64(kind) | uint64(power+16)<<8 | digits<<13 | sign<<63
			src := binary.LittleEndian.AppendUint64(nil, bits)
			var c carbonara.Column
			rest, ok := c.Consume(append(src, 7))
			if ok != want || want && (len(rest) != 1 || !slices.Equal(c.Append(nil), src)) {
				t.Errorf("%d * 10^%d, sign %d: %v, %v with %d bytes left", digits, power, sign, c, ok, len(rest))
			}
			for short := 1; short < len(src); short++ {
				if _, ok := c.Consume(src[:short:short]); ok {
					t.Errorf("%d bytes of a column are one", short)
				}
			}
		}
	}
	f(9, 1, 0, true)
	f(5, -1, 1, true)
	f(999_999_999_999_999, 15, 0, true)
	f(100_000_000_000_000, 15, 1, true)
	f(1_000_000_000_000_001, 0, 0, false)
	f(1_000_000_000_000_000, 15, 0, false)
	f(90, 0, 0, false)
	f(90, 14, 0, false)
	f(0, 0, 0, true)
	f(0, 1, 0, false)
	f(0, 0, 1, false)
}

// A column is called what the method is that it counts for.
func TestNamesOfColumnsWithThresholds(t *testing.T) {
	for _, name := range []string{"count_above(90)", "count_below(90)", "count_below(-0.5)"} {
		if c := parseMethods(t, name)[0].Columns()[0]; c.String() != name {
			t.Errorf("%s: column %v", name, c)
		}
	}
}

var foldNames = []string{"count_above(90)", "count_above(0)", "count_below(0)", "count_below(-0.5)",
	"share_above(90)", "share_above(1e29)", "share_below(0.5)", "sum(x*x)", "difference"}

// foldOf is a fold over all measures of a group, by its definition.
func foldOf(name string, values []float64) float64 {
	limits := map[string]float64{"count_above(90)": 90, "share_above(90)": 90, "share_above(1e29)": 1e29,
		"share_below(0.5)": 0.5, "count_below(-0.5)": -0.5}
	count, squares := 0., 0.
	for _, v := range values {
		if strings.Contains(name, "above") && v > limits[name] || strings.Contains(name, "below") && v < limits[name] {
			count++
		}
		squares += v * v
	}
	switch {
	case strings.HasPrefix(name, "count"):
		return count
	case strings.HasPrefix(name, "share"):
		return count / float64(len(values))
	case name == "difference":
		return values[len(values)-1] - values[0]
	}
	return squares
}

// foldValue is often at a threshold, and sometimes no number.
func foldValue(r *rand.Rand) float64 {
	special := []float64{90, math.Nextafter(90, 91), 0, math.Copysign(0, -1), 0.5, -0.5, math.NaN(), math.Inf(1),
		math.Inf(-1), 1e29}
	if i := r.IntN(12 * len(special)); i < len(special) {
		return special[i]
	}
	return 60 * r.NormFloat64()
}

// requireFolds compares groups with the folds over all measures: sums of squares within 1e-12, all else to the bit.
func requireFolds(t *testing.T, what string, g *carbonara.Groups, timestamps []carbonara.Timestamp, values []float64) {
	t.Helper()
	for i, m := range parseMethods(t, foldNames...) {
		starts, got := g.Aggregate(m, nil, nil)
		row := 0
		for from := 0; from < len(timestamps); row++ {
			start, to := timestamps[from].Floor(g.Granularity), from
			for to < len(timestamps) && timestamps[to].Floor(g.Granularity) == start {
				to++
			}
			want := foldOf(foldNames[i], values[from:to])
			if row >= len(got) || starts[row] != start {
				t.Fatalf("%s, %v: no group at %d", what, m, start)
			}
			equal := math.Float64bits(got[row]) == math.Float64bits(want) || got[row] != got[row] && want != want ||
				foldNames[i] == "sum(x*x)" && math.Abs(got[row]-want) <= 1e-12*want
			if !equal {
				t.Fatalf("%s, %v at %d of %v: %v, want %v", what, m, start, values[from:to], got[row], want)
			}
			from = to
		}
		if row != len(got) {
			t.Fatalf("%s, %v: %d groups, want %d", what, m, len(got), row)
		}
	}
}

func foldSeries(r *rand.Rand, n int) (timestamps []carbonara.Timestamp, values []float64) {
	at := carbonara.Timestamp(1_700_000_000e9)
	for range n {
		if at += carbonara.Timestamp(1 + r.IntN(20e9)); r.IntN(60) == 0 {
			at += 300e9
		}
		timestamps, values = append(timestamps, at), append(values, foldValue(r))
	}
	return timestamps, values
}

// Folds are those of all measures of a group, whether it is continued from an open row, put together of narrower
// groups, or was in splits of either format.
func TestFoldsAreThoseOfAllMeasures(t *testing.T) {
	r := rand.New(rand.NewPCG(59, 8))
	plan := carbonara.NewPlan([]time.Duration{time.Minute, time.Hour, 24 * time.Hour}, parseMethods(t, foldNames...))
	for round := range 30 {
		timestamps, values := foldSeries(r, 1+r.IntN(4000))
		batch := &carbonara.Batch{Timestamps: timestamps, Values: values,
			Series: []carbonara.Series{{Plan: plan, To: len(values)}}}
		whole := resample(t, 1, batch)
		for j := range plan.Granularities {
			g := whole.Groups(0, j)
			requireFolds(t, "at once", g, timestamps, values)
			split := carbonara.SplitKeyOf(g.Starts[0], g.Granularity)
			first := g.Slice(0, g.Search(split.End()))
			var stored carbonara.Groups
			bytes := carbonara.AppendSplit(nil, split, &first)
			fatal.If(t, carbonara.DecodeSplit(bytes, split, plan.Columns, 0, carbonara.MaxTimestamp, &stored))
			upTo, _ := slices.BinarySearch(timestamps, split.End())
			requireFolds(t, "stored", &stored, timestamps[:upTo], values[:upTo])
			for _, wider := range plan.Granularities[j:] {
				var coarse carbonara.Groups
				fatal.If(t, carbonara.Coarsen(&coarse, g, wider))
				requireFolds(t, "coarsened", &coarse, timestamps, values)
			}
		}
		if cut := r.IntN(len(values)); cut > 0 {
			var open []float64
			part := resample(t, 1, &carbonara.Batch{Timestamps: timestamps, Values: values,
				Series: []carbonara.Series{{Plan: plan, To: cut}}})
			for j := range plan.Granularities {
				open = part.Groups(0, j).AppendOpen(open)
			}
			batch.Series[0] = carbonara.Series{Plan: plan, From: cut, To: len(values), Open: open, HasPrevious: true,
				Previous: carbonara.Measure{Timestamp: timestamps[cut-1], Value: values[cut-1]}}
			rest := resample(t, 1, batch)
			for j := range plan.Granularities {
				all, later := part.Groups(0, j), rest.Groups(0, j)
				all.Overlay(0, later, new(carbonara.Groups))
				requireFolds(t, "continued", all, timestamps, values)
			}
		}
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
}

// Groups of several metrics are merged as if all measures were one metric's.
func TestFoldsOfSeveralMetrics(t *testing.T) {
	r := rand.New(rand.NewPCG(59, 9))
	names := foldNames[:len(foldNames)-1]
	plan := carbonara.NewPlan([]time.Duration{time.Minute}, parseMethods(t, names...))
	batch := &carbonara.Batch{}
	byGroup := map[carbonara.Timestamp][]float64{}
	for range 5 {
		timestamps, values := foldSeries(r, 500)
		from := len(batch.Values)
		batch.Timestamps, batch.Values = append(batch.Timestamps, timestamps...), append(batch.Values, values...)
		batch.Series = append(batch.Series, carbonara.Series{Plan: plan, From: from, To: len(batch.Values)})
		for i, at := range timestamps {
			byGroup[at.Floor(time.Minute)] = append(byGroup[at.Floor(time.Minute)], values[i])
		}
	}
	result := resample(t, 1, batch)
	var sources []*carbonara.Groups
	for i := range batch.Series {
		sources = append(sources, result.Groups(i, 0))
	}
	var merged carbonara.Groups
	fatal.If(t, carbonara.Merge(&merged, sources))
	for i, m := range parseMethods(t, names...) {
		starts, got := merged.Aggregate(m, nil, nil)
		if len(starts) != len(byGroup) {
			t.Fatalf("%v: %d groups, want %d", m, len(starts), len(byGroup))
		}
		for row, start := range starts {
			want := foldOf(names[i], byGroup[start])
			near := names[i] == "sum(x*x)" && math.Abs(got[row]-want) <= 1e-12*want
			if got[row] != want && (got[row] == got[row] || want == want) && !near {
				t.Fatalf("%v at %d: %v, want %v", m, start, got[row], want)
			}
		}
	}
}

// Counts that a policy asks for later are inferred from extremes as the measures have them. All others stay unknown.
func TestInferCountsBeyondThresholds(t *testing.T) {
	r := rand.New(rand.NewPCG(59, 10))
	names := []string{"count_above(90)", "count_below(0)", "count_below(-0.5)", "count_above(0)"}
	plan := carbonara.NewPlan([]time.Duration{time.Minute},
		append(parseMethods(t, names...), carbonara.Min, carbonara.Max))
	timestamps, values := foldSeries(r, 5000)
	g := resample(t, 1, &carbonara.Batch{Timestamps: timestamps, Values: values,
		Series: []carbonara.Series{{Plan: plan, To: len(values)}}}).Groups(0, 0)
	known, unknown := 0, 0
	for _, m := range parseMethods(t, names...) {
		column := g.Column(m.Columns()[0])
		want := slices.Clone(column)
		for row := range column {
			column[row] = carbonara.Absent()
		}
		g.Infer()
		for row, v := range column {
			if carbonara.IsAbsent(v) {
				unknown++
				column[row] = want[row]
			} else if known++; v != want[row] {
				t.Fatalf("%v of group %d: inferred %v, want %v", m, row, v, want[row])
			}
		}
	}
	if known < unknown/4 || unknown == 0 {
		t.Errorf("%d inferred, %d not", known, unknown)
	}
}

// Without extremes, a group of one finite measure tells the counts. Others stay unknown.
func TestInferCountsOfSingleMeasures(t *testing.T) {
	names := []string{"count_above(90)", "count_below(0)", "count_below(-0.5)", "count_above(0)"}
	values := []float64{-0.5, 0, 90, 90.5, -1, math.Inf(1), math.NaN()}
	plan := carbonara.NewPlan([]time.Duration{time.Minute},
		append(parseMethods(t, names...), carbonara.Mean, carbonara.Last))
	batch := &carbonara.Batch{Values: values, Series: []carbonara.Series{{Plan: plan, To: len(values)}}}
	for i := range values {
		batch.Timestamps = append(batch.Timestamps, carbonara.Timestamp((1_700_000_000+60*i)*1e9))
	}
	g := resample(t, 1, batch).Groups(0, 0)
	for i, m := range parseMethods(t, names...) {
		column := g.Column(m.Columns()[0])
		for row := range column {
			column[row] = carbonara.Absent()
		}
		g.Infer()
		for row, v := range column {
			want := foldOf(names[i], values[row:row+1])
			if known := values[row]-values[row] == 0; known != (v == want) || !known && !carbonara.IsAbsent(v) {
				t.Errorf("%v of %v: inferred %v, want %v", m, values[row], v, want)
			}
		}
	}
}
