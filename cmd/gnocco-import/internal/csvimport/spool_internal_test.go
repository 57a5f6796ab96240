package csvimport

import (
	"cmp"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Rows come back in order of time, of equal times as they were added, for any bound on memory.
func TestSpool(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	random := rand.New(rand.NewPCG(1, 2))
	orders := map[string]func(i, n int) int{
		"ascending":  func(i, n int) int { return i / 3 },
		"descending": func(i, n int) int { return (n - i) / 3 },
		"shuffled":   func(i, n int) int { return random.IntN(n) },
		"saw":        func(i, n int) int { return i % 17 },
	}
	for name, order := range orders {
		for _, n := range []int{0, 1, 99, 100, 101, 1000, 1234} {
			s := spool{runRows: 100}
			var want []row
			for i := range n {
				r := row{time: carbonara.Timestamp(order(i, n)), value: float64(i), metric: uint32(i % 5)}
				want = append(want, r)
				fatal.If(t, s.add(r.time, r.value, r.metric))
			}
			slices.SortStableFunc(want, func(a, b row) int { return cmp.Compare(a.time, b.time) })
			if len(s.rows) > 100 || name == "ascending" && len(s.runs) > 1 {
				t.Errorf("%s %d: %d rows in memory, %d runs", name, n, len(s.rows), len(s.runs))
			}
			for range 2 {
				var got []row
				fatal.If(t, s.each(func(r *row) error {
					got = append(got, row{r.time, r.value, r.metric, 0})
					return nil
				}))
				if !slices.Equal(got, want) {
					t.Fatalf("%s: %d rows differ from a stable sort of %d", name, len(got), n)
				}
			}
			fatal.If(t, s.close())
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("temporary files stay: %v, %v", left, err)
	}
}

// A file that was cut is an error, not an end.
func TestSpoolCut(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := spool{runRows: 10}
	for i := range 25 {
		fatal.If(t, s.add(carbonara.Timestamp(i), 0, 0))
	}
	defer s.close()
	fatal.If(t, s.each(func(*row) error { return nil }))
	fatal.If(t, s.file.Truncate(15*rowBytes+3))
	if err := s.each(func(*row) error { return nil }); err == nil {
		t.Error("the end of a cut file passed for that of its rows")
	}
}
