package correlatetest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gnocco-db/gnocco/correlate"
)

// Value makes a value of row t and column j from the signal of all columns and the noise of its own, both normally
// distributed.
type Value func(random *rand.Rand, t, j int, signal, noise float64) float64

// Table makes columns that are in part copies of one another.
func Table(seed uint64, columns, rows int, value Value) correlate.Values {
	random := rand.New(rand.NewPCG(seed, 1))
	common := make([]float64, rows)
	for t := range common {
		common[t] = random.NormFloat64()
	}
	values := make(correlate.Values, columns)
	for j := range values {
		values[j] = make([]float64, rows)
		share := random.Float64()
		for t := range values[j] {
			values[j][t] = value(random, t, j, share*common[t], random.NormFloat64())
		}
	}
	return values
}

// Shape is data that an engine has to get right.
type Shape struct {
	Name  string
	Wide  bool // squares leave the range of float64: an engine may leave it to the CPU
	value Value
}

// Values makes so many columns and rows of the shape.
func (s Shape) Values(seed uint64, columns, rows int) correlate.Values {
	return Table(seed, columns, rows, s.value)
}

// Shaped returns the shape of that name.
func Shaped(name string) Shape {
	for _, s := range Shapes {
		if s.Name == name {
			return s
		}
	}
	panic(fmt.Sprintf("correlatetest: there is no shape %q", name))
}

// Shapes are all of them. Names of groups of rows refer to chunks of the CPU (1,024 rows) and segments of a device
// (2,048).
var Shapes = []Shape{
	{"random", false, func(_ *rand.Rand, _, _ int, signal, noise float64) float64 { return signal + noise }},
	{"mean of 1e8 deviations", false, func(_ *rand.Rand, _, _ int, signal, noise float64) float64 {
		return 1e8 + signal + noise
	}},
	{"mean of 3e11, deviation of 3000", false, func(_ *rand.Rand, _, j int, signal, noise float64) float64 {
		return -3e11 + 3000*(signal+noise)*float64(j+1)
	}},
	{"constants among", false, func(_ *rand.Rand, _, j int, signal, noise float64) float64 {
		if j%3 == 1 {
			return 0.1 * float64(j)
		}
		return signal + noise
	}},
	{"equal columns", false, func(_ *rand.Rand, t, j int, _, _ float64) float64 {
		return float64(j%2*2-1) * (0.1 + float64(t*t%997))
	}},
	{"nearly constant", false, func(random *rand.Rand, _, _ int, signal, noise float64) float64 {
		if random.IntN(200) == 0 {
			return 7 + 1e-9*(signal+noise)
		}
		return 7
	}},
	{"constant for long", false, func(_ *rand.Rand, t, _ int, signal, noise float64) float64 {
		if t < 2100 {
			return 0.1
		}
		return 0.1 + signal + noise
	}},
	{"steps", false, func(_ *rand.Rand, t, j int, signal, noise float64) float64 {
		return float64(t/1000*(j%3))*1e6 + signal + noise
	}},
	{"peaks where centres are looked for", false, func(_ *rand.Rand, t, j int, signal, noise float64) float64 {
		if t%128 < 4 && j%2 == 0 {
			return 1e9 + signal
		}
		return signal + noise
	}},
	{"heavy tails", false, func(_ *rand.Rand, _, _ int, signal, noise float64) float64 {
		return signal + noise*noise*noise*math.Exp(2*noise*noise)
	}},
	{"gaps", false, func(random *rand.Rand, _, j int, signal, noise float64) float64 {
		if j%3 != 0 && random.IntN(5) == 0 {
			return math.NaN()
		}
		return 1e8 + signal + noise
	}},
	{"early gaps", false, func(random *rand.Rand, t, j int, signal, noise float64) float64 {
		if j == 1 && t < 100 && random.IntN(2) == 0 {
			return math.NaN()
		}
		return 50 + signal + noise
	}},
	{"late gaps", false, func(random *rand.Rand, t, j int, signal, noise float64) float64 {
		if j == 2 && t > 2500 && random.IntN(2) == 0 {
			return math.Inf(1)
		}
		return 50 + signal + noise
	}},
	{"shared rows far from the rest", false, func(_ *rand.Rand, t, j int, signal, noise float64) float64 {
		switch {
		case j%2 == 0 && t%4 < 2:
			return 3e8 + signal + noise
		case j%2 == 0:
			return 0.1
		case t%4 < 2 || t%4 == 2 && j == 3:
			return signal + noise
		}
		return math.NaN()
	}},
	{"constant where shared", false, func(_ *rand.Rand, t, j int, signal, noise float64) float64 {
		switch {
		case j == 0 && t%2 == 0:
			return 0.1
		case j == 0:
			return signal
		case t%2 == 0:
			return signal + noise
		}
		return math.NaN()
	}},
	{"few rows", false, func(_ *rand.Rand, t, j int, signal, noise float64) float64 {
		if t > 40+j {
			return math.NaN()
		}
		return signal + noise
	}},
	{"1e80", false, func(_ *rand.Rand, _, _ int, signal, noise float64) float64 { return 1e80 * (signal + noise) }},
	{"1e-90", false, func(_ *rand.Rand, _, _ int, signal, noise float64) float64 { return 1e-90 * (signal + noise) }},
	{"1e80, 1e-90 and 1", false, func(_ *rand.Rand, _, j int, signal, noise float64) float64 {
		return []float64{1e80, 1e-90, 1}[j%3] * (signal + noise)
	}},
	{"small where shared", false, func(_ *rand.Rand, t, j int, signal, noise float64) float64 {
		switch t % 4 {
		case 0:
			return 1e-85 * (signal + noise)
		case 1 + j%3:
			return noise
		}
		return math.NaN()
	}},
	{"tiny", true, func(_ *rand.Rand, _, _ int, signal, noise float64) float64 { return 1e-290 * (signal + noise) }},
	{"huge", true, func(_ *rand.Rand, _, _ int, signal, noise float64) float64 { return 1e300 * (signal + noise) }},
	{"tiny, then huge", true, func(_ *rand.Rand, t, j int, signal, noise float64) float64 {
		if t > 1500 && j%2 == 0 {
			return 1e250 * (signal + noise)
		}
		return 1e-250 * (signal + noise)
	}},
}
