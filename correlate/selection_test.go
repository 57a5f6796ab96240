package correlate_test

import (
	"fmt"
	"math"
	"testing"

	"gnocco/correlate"
)

func TestSelection(t *testing.T) {
	nan := math.NaN()
	pairs := []correlate.Pair{{I: 0, J: 1, R: 0.5}, {I: 0, J: 2, R: -0.9}, {I: 0, J: 3, R: nan}, {I: 1, J: 2, R: 0.1}, {I: 1, J: 3, R: 0.5}, {I: 2, J: 3, R: 0}}
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
