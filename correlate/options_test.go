package correlate_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/tests/correlatetest"
)

func TestOptionsAreValidated(t *testing.T) {
	good := correlate.Options{Columns: 1, MinOverlap: 2, MemoryBytes: 1, Workers: 1}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for fault, change := range map[string]func(*correlate.Options){
		"Columns":     func(o *correlate.Options) { o.Columns = 0 },
		"MaxLag":      func(o *correlate.Options) { o.MaxLag = -1 },
		"MinOverlap":  func(o *correlate.Options) { o.MinOverlap = 1 },
		"MemoryBytes": func(o *correlate.Options) { o.MemoryBytes = -1 },
		"Workers":     func(o *correlate.Options) { o.Workers = -1 },
	} {
		o := good
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%+v: got %v", o, err)
		}
	}
}

// Ranks are told for as many shared rows as MinOverlap asks for, and not for one less.
func TestSpearmanNeedsMinOverlap(t *testing.T) {
	x := []float64{1, 2, 3, 4, math.NaN(), 6}
	y := []float64{2, 1, 4, 3, 5, math.NaN()}
	for minOverlap, want := range map[int]bool{3: true, 4: true, 5: false} {
		pairs, _ := correlatetest.Pairs(t, correlate.Spearman{}, correlate.Values{x, y},
			correlate.Options{MinOverlap: minOverlap}, correlate.Selection{})
		if got := !math.IsNaN(pairs[0].R); got != want || pairs[0].Overlap != 4 {
			t.Errorf("MinOverlap %d: got %+v", minOverlap, pairs[0])
		}
	}
}

// Of lags that fit equally well the shortest counts, and none before all.
func TestShortLagsComeFirst(t *testing.T) {
	x := []float64{1, 2, 1, 2, 1, 2, 1, 2}
	for _, e := range []correlate.Engine{correlate.CPU{}, correlate.Spearman{}} {
		pairs, _ := correlatetest.Pairs(t, e, correlate.Values{x, x}, correlate.Options{MaxLag: 3},
			correlate.Selection{})
		if p := pairs[0]; p.Lag != 0 || p.R != 1 {
			t.Errorf("%T: got %+v", e, p)
		}
	}
}

// The bound on memory holds for the ranks of rows as for the sums of pairs.
func TestSpearmanStaysWithinItsMemory(t *testing.T) {
	for _, c := range []struct{ columns, rows int }{{1, 100_000}, {100, 10}} {
		values := correlatetest.Shaped("random").Values(1, c.columns, c.rows)
		least, whole, _ := correlate.Options{Columns: c.columns}.Memory(false)
		memory := max(least, whole-1)
		fault := "pairs"
		if c.columns == 1 {
			memory, fault = int64(c.rows*correlate.RankBytes-1), "rows"
		}
		run := func(memory int64) error {
			_, err := correlate.RunSpearman(t.Context(), values, correlate.Options{MemoryBytes: memory},
				func(correlate.Pair) error { return nil })
			return err
		}
		if err := run(memory); err == nil || !strings.Contains(err.Error(), fault+" of ") {
			t.Errorf("%d columns of %d rows in %d bytes: %v", c.columns, c.rows, memory, err)
		}
		if err := run(memory + 1); err != nil {
			t.Errorf("%d columns of %d rows in %d bytes: %v", c.columns, c.rows, memory+1, err)
		}
	}
}
