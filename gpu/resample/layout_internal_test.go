package resample

import (
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
)

const second, millisecond = carbonara.Timestamp(1e9), carbonara.Timestamp(1e6)

// stepsOf are timestamps that far apart.
func stepsOf(steps ...carbonara.Timestamp) []carbonara.Timestamp {
	all := []carbonara.Timestamp{1_700_000_000 * second}
	for _, step := range steps {
		all = append(all, all[len(all)-1]+step)
	}
	return all
}

// Fooling are timestamps of which the few that are looked at are multiples of a unit, or regular, and the others are
// not.
var Fooling = [][]carbonara.Timestamp{
	stepsOf(second, second+1, second-1, second, second, second),
	stepsOf(second, 2*second+millisecond, second-millisecond, second, second, second),
	stepsOf(3*millisecond, 7, 5*millisecond-7, millisecond, 1, 2*millisecond-1),
	stepsOf(3*millisecond, 7, 5*second-7, millisecond, 1, second-1),
}

func TestLayoutOf(t *testing.T) {
	f := func(timestamps []carbonara.Timestamp, guessed, want fixed) {
		t.Helper()
		if got := guess(timestamps); got != guessed {
			t.Errorf("guessed %v, want %v", got, guessed)
		}
		got := layoutOf(timestamps)
		if got != want {
			t.Errorf("%v, want %v", got, want)
		}
		offset := make([]uint32, len(timestamps))
		if got.layout == layoutOffsets {
			if !offsets(offset, timestamps, got.unit) {
				t.Error("no offsets in that unit")
			}
		} else if got.layout == layoutRegular && !places(offset, timestamps, got.unit) {
			t.Error("not regular")
		}
		for i, n := range offset {
			if got.layout != layoutTimestamps && timestamps[0]+carbonara.Timestamp(n)*got.unit != timestamps[i] {
				t.Errorf("timestamp %d is not %d units from the first", i, n)
			}
		}
	}
	same := func(timestamps []carbonara.Timestamp, want fixed) { t.Helper(); f(timestamps, want, want) }
	same(stepsOf(), fixed{layoutRegular, 1})
	same(stepsOf(7), fixed{layoutRegular, 7})
	same(stepsOf(7, 7, 7), fixed{layoutRegular, 7})
	same(stepsOf(60*second, 61*second), fixed{layoutOffsets, second})
	same(stepsOf(60*second, 60*second+millisecond, 1000*second), fixed{layoutOffsets, millisecond})
	same(stepsOf(1000, 2000, 3000), fixed{layoutOffsets, 1000})
	same(stepsOf(1, 2, 1), fixed{layoutOffsets, 1})
	same(stepsOf(1, 5*second, 1), fixed{layoutTimestamps, 1})
	same(stepsOf(second, 1<<32*second), fixed{layoutTimestamps, 1})
	same([]carbonara.Timestamp{0, carbonara.MaxTimestamp}, fixed{layoutRegular, carbonara.MaxTimestamp})
	same([]carbonara.Timestamp{0, 1, carbonara.MaxTimestamp}, fixed{layoutTimestamps, 1})

	f(Fooling[0], fixed{layoutRegular, second}, fixed{layoutTimestamps, 1})
	f(Fooling[1], fixed{layoutOffsets, second}, fixed{layoutOffsets, millisecond})
	f(Fooling[2], fixed{layoutOffsets, millisecond}, fixed{layoutOffsets, 1})
	f(Fooling[3], fixed{layoutOffsets, millisecond}, fixed{layoutTimestamps, 1})
	for _, timestamps := range Fooling {
		if !slices.IsSorted(timestamps) {
			t.Error(timestamps)
		}
	}
}
