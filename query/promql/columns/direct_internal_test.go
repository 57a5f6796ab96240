package columns

import (
	"math"
	"math/rand/v2"
	"testing"

	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

// Rates of raw measures, of samples and of the engine have the same bits: with resets, ranges of no, one or all
// measures, and several measures in a ms. A NaN leaves the row to samples.
func TestRatesOfMeasures(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	direct := 0
	for range 2000 {
		name := []string{"rate", "increase", "delta"}[random.IntN(3)]
		expr, err := parser.NewParser(parser.Options{}).ParseExpr(name + "(x[20s])")
		if err != nil {
			t.Fatal(err)
		}
		call := expr.(*parser.Call)
		p := Compile(call, func(parser.Expr, bool) bool { return false })
		if p == nil || !p.Direct() {
			t.Fatalf("%s is not direct", name)
		}
		m := Measures[int64]{Late: int64(random.IntN(2)), StaleAfter: math.MaxInt64}
		now, v := int64(1e12), 0.0
		for range random.IntN(60) {
			now += 1 + random.Int64N([]int64{5e5, 9e9}[random.IntN(2)])
			if v += random.Float64(); random.IntN(9) == 0 {
				v = random.Float64() - 0.1
			}
			m.Times, m.Values = append(m.Times, now), append(m.Values, v)
		}
		withNaN := len(m.Values) > 0 && random.IntN(8) == 0
		if withNaN {
			m.Values[random.IntN(len(m.Values))] = math.NaN()
		}
		samples, points := Samples{}, []upstream.FPoint{}
		for i, at := range m.Times {
			ms := at/1e6 + m.Late
			samples.Times, samples.Values = append(samples.Times, ms), append(samples.Values, m.Values[i])
			points = append(points, upstream.FPoint{T: ms, F: m.Values[i]})
		}
		at := Times{Start: 1e6 - 30_000 + random.Int64N(30_000), Step: 1 + random.Int64N(20_000), N: 30}
		got, want := make([]float64, at.N), make([]float64, at.N)
		_, called, used, ok := RowOfMeasures(p, &m, at, 300_000, got)
		if ok == withNaN {
			t.Fatalf("NaN %t, answered %t", withNaN, ok)
		}
		_, wantCalled, wantUsed := p.Row(&Scratch{}, &samples, at, 300_000, want)
		if ok && (called != wantCalled || used != wantUsed) {
			t.Fatalf("called %t, %d samples; want %t, %d", called, used, wantCalled, wantUsed)
		}
		for i, w := range want {
			from, to := 0, 0
			for to < len(points) && points[to].T <= at.At(i) {
				if to++; points[to-1].T <= at.At(i)-p.Range {
					from = to
				}
			}
			enh := upstream.EvalNodeHelper{Ts: at.At(i)}
			ofEngine := absent
			if from < to {
				matrix := upstream.Matrix{{Floats: points[from:to]}}
				if vector, _ := upstream.FunctionCalls[name](nil, matrix, call.Args, &enh); len(vector) > 0 {
					ofEngine = vector[0].F
				}
			}
			bothNaN := math.IsNaN(w) && math.IsNaN(ofEngine)
			same := math.Float64bits(w) == math.Float64bits(ofEngine) || bothNaN && withNaN
			if !same || ok && math.Float64bits(w) != math.Float64bits(got[i]) {
				t.Fatalf("%s at %d: %v directly (%t), %v of samples, %v of the engine", name, at.At(i), got[i], ok, w,
					ofEngine)
			}
		}
		if ok && called {
			direct++
		}
	}
	if direct < 1000 {
		t.Errorf("%d rows are direct", direct)
	}
}
