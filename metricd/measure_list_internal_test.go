package metricd

import (
	"slices"
	"testing"

	"gnocco/carbonara"
)

// A list is what was added, whatever its chunks.
func TestMeasureList(t *testing.T) {
	var l measureList
	for _, n := range []int{3, measuresPerChunk, measuresPerChunk + 1, 3*measuresPerChunk - 1, 0} {
		l.empty()
		var want []carbonara.Measure
		for i := range n {
			m := carbonara.Measure{Timestamp: carbonara.Timestamp(i * 7919 % 1009), Value: float64(i)}
			l.add(m)
			want = append(want, m)
		}
		if l.len() != n || !slices.Equal(l.appendTo(nil), want) {
			t.Fatalf("%d measures: %d", n, l.len())
		}
		for _, from := range []int{0, 1, measuresPerChunk - 1, measuresPerChunk, measuresPerChunk + 1, n} {
			if from > n {
				continue
			}
			if !slices.Equal(slices.Collect(l.since(from)), want[from:]) {
				t.Errorf("%d measures since %d differ", n, from)
			}
			earliest := carbonara.MaxTimestamp
			for _, m := range want[from:] {
				earliest = min(earliest, m.Timestamp)
			}
			if l.earliest(from) != earliest {
				t.Errorf("%d measures since %d: earliest %d, want %d", n, from, l.earliest(from), earliest)
			}
		}
		if n > 0 && l.newest() != want[n-1] {
			t.Errorf("newest of %d: %v", n, l.newest())
		}
	}
}
