package query

import (
	"errors"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/query/aggregates"
)

// A read that is too large says at which times it can be divided: at all times that it has read if they are few, else
// at up to 4,096 of them, evenly.
func TestTooLargeReadCanBeDivided(t *testing.T) {
	f := func(series ...int) { // groups of each series, one series after the other in time
		t.Helper()
		var want []carbonara.Timestamp
		tables := make([]aggregates.Table, 2)
		for i, groups := range series {
			starts := make([]carbonara.Timestamp, groups)
			for j := range starts {
				starts[j] = carbonara.Timestamp(len(want))
				want = append(want, starts[j])
			}
			table := &tables[i%2]
			table.Series = append(table.Series, aggregates.Series{Starts: starts})
		}
		err := new(tablesRead).tooLarge(&budget.TooLargeError{Need: 5}, 7, tables)
		var tooLarge *tooLargeError
		if !errors.As(err, &tooLarge) || tooLarge.Need != 7 || !errors.As(err, new(*budget.TooLargeError)) {
			t.Fatalf("%v: %v", series, err)
		}
		got := tooLarge.starts
		if len(want) < 4096 && len(want) > 0 && !slices.Equal(got, want) ||
			len(got) > 4096 || len(want) >= 4096 && len(got) < 2048 || !slices.IsSorted(got) {
			t.Errorf("%v: %d times of %d", series, len(got), len(want))
		}
		for i := 1; i < len(got); i++ {
			// Tables are walked one after the other, so one step may be shorter where they meet.
			if step := int(got[i] - got[i-1]); step < 1 || step > 2*(len(want)/4096+1) {
				t.Errorf("%v: %d groups lie between two times", series, step)
				break
			}
		}
	}
	f()
	f(1)
	f(3, 0, 2)
	f(4096)
	f(4097)
	f(5000, 5000, 1, 2, 3, 7000)
	f(1_000_000)
	if err := errors.New("other"); new(tablesRead).tooLarge(err, 1, nil) != err {
		t.Error("an error of another kind is changed")
	}
}
