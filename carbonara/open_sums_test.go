package carbonara_test

import (
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/compensated"
)

// minuteSums returns the groups of the minutes from from to to (exclusive), as a resampler leaves them: each has the
// measures 1e16, 1 and low, so that the sum of the last one has the low part 1 + low.
func minuteSums(t *testing.T, from, to int, low float64) *carbonara.Groups {
	t.Helper()
	batch := &carbonara.Batch{}
	for minute := from; minute < to; minute++ {
		for i, v := range []float64{1e16, 1, low} {
			batch.Timestamps = append(batch.Timestamps, carbonara.Timestamp(60*minute+i)*1e9)
			batch.Values = append(batch.Values, v)
		}
	}
	plan := carbonara.NewPlan([]time.Duration{time.Minute}, []carbonara.Method{carbonara.Sum})
	batch.Series = []carbonara.Series{{Plan: plan, To: len(batch.Values)}}
	var g carbonara.Groups
	g.Reset(time.Minute, plan.Columns)
	g.Append(resample(t, 1, batch).Groups(0, 0))
	return &g
}

// appendStored appends the rows of g to dst, as a reader of the archive does.
func appendStored(dst, g *carbonara.Groups) {
	dst.Starts = append(dst.Starts, g.Starts...)
	for c := range g.Values {
		dst.Values[c] = append(dst.Values[c], g.Values[c]...)
	}
}

func storedSums(t *testing.T, from, to int) *carbonara.Groups {
	t.Helper()
	computed := minuteSums(t, from, to, 0.25)
	var g carbonara.Groups
	g.Reset(computed.Granularity, computed.Columns)
	appendStored(&g, computed)
	return &g
}

// requireOpen compares the low part with which the last group of g continues; 0 if it must not be continued.
func requireOpen(t *testing.T, what string, g *carbonara.Groups, low float64) {
	t.Helper()
	if got := g.Continues(); got != (low != 0) {
		t.Errorf("%s: continues: %v", what, got)
	}
	if row := g.AppendOpen(nil); row[len(row)-1] != low {
		t.Errorf("%s: low part %v, want %v", what, row[len(row)-1], low)
	}
}

// A group continues with the sums of the resampler that computed its row, and of no other.
func TestOpenSumsGoWithTheLastGroup(t *testing.T) {
	computed := func(from, to int) *carbonara.Groups { return minuteSums(t, from, to, 0.25) }
	requireOpen(t, "computed", computed(0, 3), 1.25)
	requireOpen(t, "stored", storedSums(t, 0, 3), 0)
	part := computed(0, 3).Slice(0, 2)
	requireOpen(t, "without its last row", &part, 0)

	for _, c := range []struct {
		what     string
		g, newer *carbonara.Groups
		low      float64
	}{
		{"computed over stored", storedSums(t, 0, 3), computed(1, 4), 1.25},
		{"computed over the last stored", storedSums(t, 0, 3), computed(2, 3), 1.25},
		{"computed after stored", storedSums(t, 0, 3), computed(3, 4), 1.25},
		{"computed over computed", computed(0, 3), minuteSums(t, 2, 3, 0.5), 1.5},
		{"computed before the last computed", computed(0, 3), minuteSums(t, 0, 2, 0.5), 1.25},
		{"stored over computed", computed(0, 3), storedSums(t, 2, 3), 0},
		{"stored before the last computed", computed(0, 3), storedSums(t, 0, 2), 1.25},
		{"stored after computed", computed(0, 3), storedSums(t, 3, 4), 0},
		{"nothing over computed", computed(0, 3), storedSums(t, 0, 0), 1.25},
	} {
		var scratch carbonara.Groups
		c.g.Overlay(0, c.newer, &scratch)
		requireOpen(t, c.what, c.g, c.low)
	}

	g := computed(0, 3)
	g.Append(storedSums(t, 0, 0))
	requireOpen(t, "nothing appended", g, 1.25)
	g.Append(storedSums(t, 3, 4))
	requireOpen(t, "stored appended", g, 0)
	g.Append(computed(4, 5))
	requireOpen(t, "computed appended", g, 1.25)
}

// Memory that is used again keeps no sums of its earlier groups.
func TestOpenSumsAreForgottenWithTheirGroups(t *testing.T) {
	g := minuteSums(t, 0, 3, 0.25)
	g.Reset(g.Granularity, g.Columns)
	appendStored(g, storedSums(t, 0, 3))
	requireOpen(t, "groups that were reset", g, 0)

	plan := carbonara.NewPlan([]time.Duration{time.Minute}, []carbonara.Method{carbonara.Sum})
	batch := &carbonara.Batch{Series: []carbonara.Series{{Plan: plan}}}
	var result carbonara.Result
	for round, f := range []func(w *carbonara.ResultWriter) *carbonara.Groups{
		func(w *carbonara.ResultWriter) *carbonara.Groups { return w.Alloc(0, 0, 1) },
		func(w *carbonara.ResultWriter) *carbonara.Groups {
			g := w.Refer(0, 0)
			g.Starts, g.Values[0] = []carbonara.Timestamp{0}, []float64{0}
			return g
		},
	} {
		for _, low := range []float64{1.25, 0} {
			g := f(&result.Writers(nil, batch, 1)[0])
			g.Starts[0], g.Values[0][0] = 60e9, 1e16
			if low != 0 {
				g.SetOpenSums(compensated.Sum{High: 1e16, Low: low}, compensated.Sum{})
			}
			requireOpen(t, []string{"taken", "referred to"}[round], g, low)
		}
	}
}
