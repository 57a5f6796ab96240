package correlate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gnocco-db/gnocco/correlate"
)

func TestSelection(t *testing.T) {
	nan := math.NaN()
	pairs := []correlate.Pair{{I: 0, J: 1, R: 0.5}, {I: 0, J: 2, R: -0.9}, {I: 0, J: 3, R: nan}, {I: 1, J: 2, R: 0.1},
		{I: 1, J: 3, R: 0.5}, {I: 2, J: 3, R: 0}}
	f := func(selection correlate.Selection, want string) {
		t.Helper()
		got := ""
		s := correlate.NewSelector(selection, 4, func(p correlate.Pair) error {
			got += fmt.Sprintf("%d%d ", p.I, p.J)
			return nil
		})
		for _, p := range pairs {
			if err := s.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Finish(); err != nil || got != want {
			t.Errorf("%+v gives %s, want %s (%v)", selection, got, want, err)
		}
	}
	f(correlate.Selection{}, "01 02 03 12 13 23 ")
	f(correlate.Selection{MinAbs: 0.5}, "01 02 13 ")
	f(correlate.Selection{Top: 2}, "02 01 ")
	f(correlate.Selection{Top: 10}, "02 01 13 12 23 ")
	f(correlate.Selection{TopPerColumn: 1}, "01 02 13 ")
	f(correlate.Selection{TopPerColumn: 1, Top: 1}, "02 ")
	f(correlate.Selection{TopPerColumn: 2, MinAbs: 0.2}, "01 02 13 ")
}

func BenchmarkSelector(b *testing.B) {
	const columns = 10_000
	random := rand.New(rand.NewPCG(1, 1))
	some := make([]float64, 1<<16)
	for i := range some {
		some[i] = random.NormFloat64() / 50
	}
	s := correlate.NewSelector(correlate.Selection{TopPerColumn: 100}, columns,
		func(correlate.Pair) error { return nil })
	i, j := 0, 0
	for n := 0; b.Loop(); n++ {
		if j++; j >= columns {
			i = (i + 1) % (columns - 1)
			j = i + 1
		}
		if err := s.Add(correlate.Pair{I: i, J: j, R: some[uint(n*40503)%(1<<16)]}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSelectorOfDevice takes the million pairs that a device finds among the strongest of 10,000 columns.
func BenchmarkSelectorOfDevice(b *testing.B) {
	const columns, each = 10_000, 100
	random := rand.New(rand.NewPCG(1, 1))
	var pairs []correlate.Pair
	for i := range columns - each {
		for j := i + 1; j < columns; j += 1 + random.IntN((columns-i)/each+1) {
			pairs = append(pairs, correlate.Pair{I: i, J: j, R: random.NormFloat64() / 50})
		}
	}
	for b.Loop() {
		s := correlate.NewSelector(correlate.Selection{TopPerColumn: each}, columns,
			func(correlate.Pair) error { return nil })
		for _, p := range pairs {
			if err := s.Add(p); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.Finish(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(pairs)), "pairs")
}
