package anomaly

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
)

func TestScore(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(n int, mean float64) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = mean + random.NormFloat64()
		}
		return values
	}
	constant := func(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }
	f := func(name string, before, after []float64, least, most float64) {
		t.Helper()
		if got := NewWindows(before, after).Score(); !(got >= least && got <= most) {
			t.Errorf("%s: %v, want %v to %v", name, got, least, most)
		}
	}
	f("nothing moved", constant(20, 7), constant(20, 7), 0, 0)
	f("all zero", constant(20, 0), constant(20, 0), 0, 0)
	f("noise alone", noise(60, 100), noise(60, 100), 0, 0.5)
	f("three deviations", noise(600, 100), noise(600, 103), 2.7, 3.3)
	f("wider, around the same", noise(60, 0), append(constant(30, -5), constant(30, 5)...), 3, 7)
	f("a tenth off is not seen", constant(100, 1), append(constant(94, 1), constant(6, 1e9)...), 0, 0)
	f("a third off is", constant(99, 1), append(constant(66, 1), constant(33, 5)...), 10, 100)
	f("from nothing", constant(20, 0), constant(20, 1e-3), 100, 100)
	f("to nothing", constant(20, 5), constant(20, 0), 99.9, 100.1)
	f("a constant by a tenth", constant(20, 10), constant(20, 11), 9, 10)
	f("huge", constant(20, math.MaxFloat64/4), constant(20, math.MaxFloat64/2), 50, 51)
}

// Values of any kind and number are sorted.
func TestSortFinite(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	kinds := map[string]func(i int) float64{
		"noise":        func(int) float64 { return 100 + random.NormFloat64() },
		"far apart":    func(int) float64 { return math.Exp(300 * (random.Float64() - 0.5)) },
		"powers":       func(i int) float64 { return math.Ldexp(1, -i) },
		"constant":     func(int) float64 { return -7 },
		"few values":   func(int) float64 { return float64(random.IntN(3) - 1) },
		"signed zeros": func(int) float64 { return math.Copysign(0, random.NormFloat64()) },
		"tiny":         func(int) float64 { return float64(random.IntN(100)) * math.SmallestNonzeroFloat64 },
		"huge":         func(int) float64 { return math.MaxFloat64 * (2*random.Float64() - 1) },
		"infinite":     func(int) float64 { return 1 / float64(random.IntN(3)) },
		"falling":      func(i int) float64 { return float64(-i) },
		"outliers": func(i int) float64 {
			if i%50 == 7 {
				return 1e9
			}
			return random.NormFloat64()
		},
	}
	for name, value := range kinds {
		for n := 1; n <= mostSpread+10; n++ {
			values := make([]float64, n)
			for i := range values {
				values[i] = value(i)
			}
			want := slices.Sorted(slices.Values(values))
			if sortFinite(values, 3); !slices.Equal(values, want) {
				t.Fatalf("%d values, %s: %v, want %v", n, name, values, want)
			}
		}
	}
}

// A series that moves as every day did not move, also from another level; others did.
func TestSince(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	windows := func(before, after float64) *Windows {
		var all [2][]float64
		for i, level := range []float64{before, after} {
			for range 120 {
				all[i] = append(all[i], level+random.NormFloat64())
			}
		}
		return NewWindows(all[0], all[1])
	}
	f := func(name string, now, then *Windows, least, most float64) {
		t.Helper()
		if got := now.Since(then); !(got >= least && got <= most) {
			t.Errorf("%s: %v, want %v to %v", name, got, least, most)
		}
	}
	f("a ramp of every day", windows(10, 16), windows(10, 16), 0, 0.6)
	f("the same, after a deploy", windows(40, 46), windows(10, 16), 0, 0.6)
	f("an incident on the ramp", windows(10, 24), windows(10, 16), 7, 9.5)
	f("an incident, without a ramp", windows(10, 18), windows(10, 10), 7, 9)
	f("the ramp that did not come", windows(10, 10), windows(10, 16), 5, 7)
	f("to the level before a deploy", windows(20, 10), windows(10, 10), 9, 11)
}

// Earlier days say how a series usually moves. That it does not move is unusual where two days or more moved alike.
func TestUnusual(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	windows := func(rise float64) *Windows {
		var all [2][]float64
		level := 10 * random.Float64()
		for i := range all {
			for range 120 {
				all[i] = append(all[i], level+rise*float64(i)+random.NormFloat64())
			}
		}
		return NewWindows(all[0], all[1])
	}
	f := func(name string, now float64, days []float64, least, most, usual float64) {
		t.Helper()
		w, all := windows(now), make([]*Windows, len(days))
		for i, rise := range days {
			all[i] = windows(rise)
		}
		before, _ := w.Medians()
		got, median := w.Unusual(all)
		if !(got >= least && got <= most) || math.Abs(median-before-usual) > 0.6 {
			t.Errorf("%s: %v and %v, want %v to %v and %v", name, got, median-before, least, most, usual)
		}
	}
	f("no day is known", 6, nil, 5, 8, 0)
	f("as every day", 6, []float64{6, 6, 6}, 0, 0.7, 6)
	f("as a day of last week", 6, []float64{0, 0, 6}, 0, 0.7, 6)
	f("a Saturday", 0, []float64{6, 6, 0}, 0, 0.7, 0)
	f("as no day", 6, []float64{0, 0, 0}, 5, 8, 0)
	f("it stands still", 0, []float64{6, 6, 6}, 5, 8, 6)
	f("it falls as far as it rises else", -3, []float64{6, 6}, 8, 11, 6)
	f("one day says nothing", 0, []float64{6}, 0, 0.7, 0)
	f("days that do not agree say nothing", 0, []float64{6, -6}, 0, 0.7, 0)
	f("quiet", 0, []float64{0, 0}, 0, 0.7, 0)
	f("noise alone", 0, nil, 0, 0.7, 0)
	huge := func(after float64) *Windows {
		return NewWindows([]float64{0, 0}, []float64{after, after})
	}
	days := []*Windows{huge(-math.MaxFloat64), huge(-math.MaxFloat64)}
	if got, _ := huge(1e300).Unusual(days); !(got <= math.MaxFloat64) {
		t.Errorf("a distance that is no number: %v", got)
	}
}

// The onset is where the level changes. Outliers do not shift it.
func TestOnset(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, want := range []int{30, 60, 75, 100} {
		values := make([]float64, 120)
		for i := range values {
			values[i] = 100 + random.NormFloat64()
			if i >= want {
				values[i] += 6
			}
		}
		values[10] = 1e9
		w := NewWindows(slices.Clone(values[:60]), slices.Clone(values[60:]))
		if got := w.Onset(values); got < want-2 || got > want+2 {
			t.Errorf("onset at %d, want %d", got, want)
		}
	}
}

// Separate finds the pairs by which series were made to move, and none where chance did it.
func TestSeparate(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	const series = 300
	all := make([]labels.Labels, series)
	for i := range all {
		all[i] = labels.FromStrings("flavor", fmt.Sprintf("m1.%d", i%4), "host", fmt.Sprintf("h%d", i%13), "id", fmt.Sprint(i),
			"job", "node")
	}
	f := func(name string, moves func(i int) bool, want string) {
		t.Helper()
		moved := make([]bool, series)
		for i := range moved {
			moved[i] = moves(i)
		}
		got := ""
		isMoved, labelsOf := func(i int) bool { return moved[i] }, func(i int) labels.Labels { return all[i] }
		for _, p := range Separate(series, isMoved, labelsOf) {
			got += fmt.Sprintf("%s=%s %d/%d ", p.Label, p.Value, p.Moved, p.Of)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	f("a flavor", func(i int) bool { return i%4 == 1 }, "flavor=m1.1 75/75 ")
	f("a host", func(i int) bool { return i%13 == 12 }, "host=h12 23/23 ")
	f("a flavor on a host", func(i int) bool { return i%13 == 12 && i%4 == 1 }, "host=h12 6/23 flavor=m1.1 6/6 ")
	f("most of a flavor", func(i int) bool { return i%4 == 1 && i%20 > 0 }, "flavor=m1.1 75/75 ")
	f("one", func(i int) bool { return i == 17 }, "id=17 1/1 ")
	f("chance", func(int) bool { return random.IntN(4) == 0 }, "")
	f("all", func(int) bool { return true }, "")
	f("none", func(int) bool { return false }, "")
}
