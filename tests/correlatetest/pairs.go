package correlatetest

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/correlate"
)

// Bound is how far a coefficient may lie from the true one, and an engine's from the CPU's.
const Bound = 1e-12

// Pairs runs an engine.
func Pairs(t testing.TB, e correlate.Engine, source correlate.Source, o correlate.Options, s correlate.Selection) (
	[]correlate.Pair, correlate.Result) {
	t.Helper()
	var pairs []correlate.Pair
	result, err := e.Correlate(t.Context(), source, o, s, func(p correlate.Pair) error {
		pairs = append(pairs, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pairs, result
}

// Same reports whether two lists of pairs are the same, to the bit.
func Same(a, b []correlate.Pair) bool {
	return slices.EqualFunc(a, b, func(p, q correlate.Pair) bool {
		bits := math.Float64bits(p.R) == math.Float64bits(q.R) || math.IsNaN(p.R) && math.IsNaN(q.R)
		p.R, q.R = 0, 0
		return bits && p == q
	})
}

// Check holds a pair to the reference.
func Check(t testing.TB, values correlate.Values, p correlate.Pair) {
	t.Helper()
	want, overlap := Reference(values[p.I], values[p.J], p.Lag)
	if p.Overlap != overlap || math.IsNaN(p.R) != math.IsNaN(want) || math.Abs(p.R-want) > Bound || math.Abs(p.R) > 1 {
		t.Errorf("columns %d and %d, lag %d: %v of %d rows, want %v of %d (%g off)",
			p.I, p.J, p.Lag, p.R, p.Overlap, want, overlap, p.R-want)
	}
}

// Compare holds an engine's pairs to the CPU's, and returns what it told beside them. Of lags that are as strong,
// within the bound, either may be chosen.
func Compare(t testing.TB, e correlate.Engine, values correlate.Values, o correlate.Options,
	s correlate.Selection) correlate.Result {
	t.Helper()
	want, cpu := Pairs(t, correlate.CPU{}, values, o, s)
	got, result := Pairs(t, e, values, o, s)
	alike := result.Rows == cpu.Rows && result.Eligible == cpu.Eligible && slices.Equal(result.Constant, cpu.Constant)
	if len(got) != len(want) || !alike {
		t.Fatalf("got %d pairs, %+v; want %d, %+v", len(got), result, len(want), cpu)
	}
	for k, p := range want {
		q := got[k]
		if p.I != q.I || p.J != q.J || math.IsNaN(p.R) != math.IsNaN(q.R) ||
			math.Abs(p.Strength()-q.Strength()) > Bound ||
			p.Lag == q.Lag && (math.Abs(p.R-q.R) > Bound || p.Overlap != q.Overlap) || math.Abs(q.R) > 1 {
			t.Fatalf("got %+v, want %+v (%g off)", q, p, q.R-p.R)
		}
		if p.Lag != q.Lag && p.Strength() >= 0 {
			t.Logf("another lag: got %+v, want %+v", q, p)
		}
	}
	return result
}

// Pieces is a source that hands out values in pieces of all sizes, up to Most rows.
type Pieces struct {
	correlate.Values
	Seed uint64
	Most int
}

// Read implements correlate.Source.
func (p Pieces) Read(ctx context.Context, add func([][]float64) error) error {
	random := rand.New(rand.NewPCG(p.Seed, 2))
	columns := make([][]float64, len(p.Values))
	for from := 0; from < len(p.Values[0]); {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		to := min(len(p.Values[0]), from+1+random.IntN(p.Most))
		for j := range columns {
			columns[j] = p.Values[j][from:to]
		}
		if err := add(columns); err != nil {
			return err
		}
		from = to
	}
	return nil
}
