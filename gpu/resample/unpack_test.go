package resample_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/devicetest"
	"github.com/gnocco-db/gnocco/tests/fatal"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/gpu/resample"
	"github.com/gnocco-db/gnocco/tests/golden"
)

// addPacked adds a series of the measures from one number to another, packed in chunks of that many, to which it adds
// the one before.
func addPacked(t testing.TB, batch *carbonara.Batch, plan *carbonara.Plan, timestamps []carbonara.Timestamp,
	values []float64, chunk, from, to int) {
	t.Helper()
	var raw []byte
	for at := 0; at < len(values); at += chunk {
		end := min(at+chunk, len(values))
		raw = carbonara.AppendRaw(raw, 0, timestamps[at:end], values[at:end])
	}
	p := new(carbonara.Packed)
	fatal.If(t, p.Parse(raw))
	series := carbonara.Series{Plan: plan, From: from, To: to, Packed: p}
	if from > 0 {
		series.Previous, series.HasPrevious = carbonara.Measure{Timestamp: timestamps[from-1],
			Value: values[from-1]}, true
	}
	batch.Series = append(batch.Series, series)
}

// valuesOf are series of values that the archive tells in different ways.
var valuesOf = map[string]func(rng *rand.Rand, i int) float64{
	"constant":  func(*rand.Rand, int) float64 { return 42.5 },
	"counter":   func(_ *rand.Rand, i int) float64 { return 1e9 + float64(i)*1500 },
	"quadratic": func(_ *rand.Rand, i int) float64 { return float64(i * i * 64) },
	"gauge":     func(rng *rand.Rand, _ int) float64 { return float64(2000+rng.IntN(300)) / 100 },
	"small":     func(rng *rand.Rand, _ int) float64 { return float64(rng.IntN(7)) },
	"outliers": func(rng *rand.Rand, _ int) float64 {
		if rng.IntN(50) == 0 {
			return float64(rng.Int64N(1 << 50))
		}
		return float64(rng.IntN(100)) / 10
	},
	"sizes": func(rng *rand.Rand, _ int) float64 { return float64(rng.Int64N(1<<50) >> rng.IntN(50)) },
	"beside": func(rng *rand.Rand, _ int) float64 {
		return math.Nextafter(float64(rng.IntN(3000))/100, float64(rng.IntN(2)*100))
	},
	"random": func(rng *rand.Rand, _ int) float64 { return rng.NormFloat64() },
	"anybits": func(rng *rand.Rand, _ int) float64 {
		return math.Float64frombits(rng.Uint64())
	},
	"holes": func(rng *rand.Rand, i int) float64 {
		if rng.IntN(4) == 0 {
			return math.NaN()
		}
		return float64(i)
	},
	"odd": func(rng *rand.Rand, _ int) float64 {
		return []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.Float64frombits(0x7FF8000000000123),
			5e-324, math.MaxFloat64, 0.1}[rng.IntN(8)]
	},
}

var exactly = []carbonara.Method{carbonara.Mean, carbonara.Min, carbonara.Max, carbonara.First,
	carbonara.Last, carbonara.Std}

// note counts what the first stream of a column or of timestamps begins with: docs/format/split.md.
func note(seen map[string]int, stream []byte) {
	head := stream[0]
	seen[fmt.Sprintf("order %d", head&3)]++
	for bit, name := range map[byte]string{4: "constant", 8: "shifted", 16: "one width", 32: "patches", 64: "classes"} {
		if head&bit != 0 {
			seen[name]++
		}
	}
	if head&(4|64) == 0 {
		seen["numbers"]++
	}
}

// noteAll counts what the vectors of a batch have.
func noteAll(seen map[string]int, batch *carbonara.Batch) {
	for i := range batch.Series {
		for _, v := range batch.Series[i].Packed.Vectors {
			note(seen, v.Times)
			head, stream := v.Values[0], v.Values[6:]
			seen[fmt.Sprintf("kind %d", head&7)]++
			if head&8 != 0 {
				seen["residuals"]++
			}
			if head&16 != 0 {
				seen["exceptions"]++
			}
			if head&7 == 5 {
				stream = stream[1+2*int(stream[0]):]
			}
			note(seen, stream)
		}
	}
}

// Every kind of column, every kind of timestamps, sizes around vectors and mini-vectors.
func TestUnpack(t *testing.T) {
	r := newResampler(t, 0)
	seen := make(map[string]int)
	sizes := []int{1, 2, 3, 4, 127, 128, 129, 255, 256, 257, 1000, 1023, 1024, 1025, 1152, 2047, 2048, 2300, 3072}
	plan := carbonara.NewPlan([]time.Duration{time.Second, time.Hour}, withRates(withCounters(exactly)))
	for name, value := range valuesOf {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(21, 22))
			batch := &carbonara.Batch{}
			for k, n := range sizes {
				s := shape{n: n, step: 5 * time.Second, jitter: k%3 > 0, gaps: k%4 == 3,
					unit: []time.Duration{1, time.Millisecond, time.Second}[rng.IntN(3)]}
				timestamps, values := s.series(rng)
				for i := range values {
					values[i] = value(rng, i)
				}
				from := rng.IntN(2) * rng.IntN(n)
				addPacked(t, batch, plan, timestamps, values, 1<<16, from, n-rng.IntN(2)*rng.IntN(n-from))
			}
			noteAll(seen, batch)
			compare(t, r, batch)
			for i := range batch.Series { // all layouts of timestamps, each series for itself
				compare(t, r, &carbonara.Batch{Series: batch.Series[i : i+1]})
			}
		})
	}
	for _, feature := range []string{"order 0", "order 1", "order 2", "constant", "shifted", "one width", "numbers",
		"patches", "classes", "kind 0", "kind 3", "kind 5", "residuals", "exceptions"} {
		if seen[feature] == 0 {
			t.Errorf("%s does not occur", feature)
		}
	}
	t.Log(seen)
}

// Damaged bytes make the device and the CPU agree: on an error, or on what they mean.
func TestUnpackDamaged(t *testing.T) {
	devicetest.HostKernels(t)
	rounds := 400
	if testing.Short() {
		rounds = 120
	}
	registry := prometheus.NewRegistry()
	r := resample.New([]*device.Device{devicetest.Open(t, device.Options{})},
		resample.Options{Always: true, Workers: 1, Registerer: registry})
	r.FillGarbage()
	plan := carbonara.NewPlan([]time.Duration{1}, []carbonara.Method{carbonara.Last})
	var names []string
	for name := range valuesOf {
		names = append(names, name)
	}
	slices.Sort(names)
	wrong, right := 0, 0
	var want, got carbonara.Result
	defer got.Release()
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(25, uint64(seed)))
		n := 1 + rng.IntN(400)
		if rng.IntN(8) == 0 {
			n = 1024 + rng.IntN(300)
		}
		timestamps, values := shape{n: n, step: 5 * time.Second, jitter: seed%4 > 0, gaps: seed%4 == 3,
			unit: time.Millisecond}.series(rng)
		for i, value := 0, valuesOf[names[seed%len(names)]]; i < n; i++ {
			values[i] = value(rng, i)
		}
		batch := &carbonara.Batch{}
		addPacked(t, batch, plan, timestamps, values, 2000, 0, n)
		p := batch.Series[0].Packed
		p.Step = 0
		for i := range p.Vectors {
			v := &p.Vectors[i]
			for _, bytes := range []*[]byte{&v.Times, &v.Values} {
				damage(rng, bytes)
			}
		}
		wantErr := carbonara.NewCPUResampler(1).Resample(t.Context(), batch, &want)
		before := devicetest.Gather(t, registry)["gnocco_resampler_fallbacks_total"]
		err := r.Resample(t.Context(), batch, &got)
		fell := devicetest.Gather(t, registry)["gnocco_resampler_fallbacks_total"] > before
		switch {
		case wantErr != nil:
			wrong++
			if !errors.Is(wantErr, carbonara.ErrCorrupt) || !errors.Is(err, carbonara.ErrCorrupt) || !fell {
				t.Fatalf("seed %d: %v, the CPU says %v; it did the device's work: %v", seed, err, wantErr, fell)
			}
		case fell || err != nil:
			t.Fatalf("seed %d: the device found a fault where the CPU finds none; %v", seed, err)
		default:
			right++
			wantBits(t, got.Groups(0, 0), want.Groups(0, 0))
		}
		got.Release()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if wrong < rounds/10 || right < rounds/10 {
		t.Errorf("%d damaged series were refused, %d were not", wrong, right)
	}
}

// damage changes some bits, or cuts the end off, with a bias to where heads are.
func damage(rng *rand.Rand, bytes *[]byte) {
	*bytes = slices.Clone(*bytes)
	if rng.IntN(30) == 0 {
		*bytes = (*bytes)[:rng.IntN(len(*bytes))]
	}
	for range rng.IntN(3) {
		if n := len(*bytes); n > 0 {
			(*bytes)[min(rng.IntN(n), rng.IntN(40))] ^= 1 << rng.IntN(8)
		}
	}
}

// wantBits holds groups of one column to others.
func wantBits(t *testing.T, got, want *carbonara.Groups) {
	t.Helper()
	if !slices.Equal(got.Starts, want.Starts) || len(got.Values) != len(want.Values) {
		t.Fatal("the groups start elsewhere")
	}
	for c := range want.Values {
		for i, v := range want.Values[c] {
			if math.Float64bits(got.Values[c][i]) != math.Float64bits(v) {
				t.Fatalf("group %d: %v (%x), want %v (%x)", i, got.Values[c][i], math.Float64bits(got.Values[c][i]), v,
					math.Float64bits(v))
			}
		}
	}
}

// Timestamps of every layout on the device, in chunks of different units, side by side with series that are not packed.
func TestUnpackTimestamps(t *testing.T) {
	r := newResampler(t, 2500)
	plan := carbonara.NewPlan([]time.Duration{time.Minute, 10 * time.Minute}, withRates(slices.Clone(exactly)))
	other := carbonara.NewPlan([]time.Duration{7 * time.Second}, []carbonara.Method{carbonara.Median})
	for seed := range 12 {
		rng := rand.New(rand.NewPCG(23, uint64(seed)))
		batch := &carbonara.Batch{}
		for range 2 + rng.IntN(6) {
			s := shape{n: 1 + rng.IntN(3000), step: time.Duration(1+rng.IntN(9)) * time.Second, jitter: seed%3 > 0 &&
				rng.IntN(3) > 0, gaps: seed%4 == 3,
				unit: []time.Duration{time.Second, time.Microsecond, 1}[rng.IntN(1+seed%3)], wild: rng.IntN(3) == 0}
			timestamps, values := s.series(rng)
			if n := len(timestamps); seed > 6 && n > 1 { // from here on in another unit
				for i := n / 2; i < n; i++ {
					timestamps[i] += 1e8
				}
			}
			series, from := plan, rng.IntN(2)*rng.IntN(s.n)
			if rng.IntN(3) == 0 {
				series = other
			}
			if rng.IntN(4) == 0 {
				add(batch, series, timestamps, values)
				continue
			}
			addPacked(t, batch, series, timestamps, values, []int{1 << 16, max(1, s.n/2), 300}[rng.IntN(3)], from, s.n)
		}
		compare(t, r, batch)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestUnpackGolden(t *testing.T) {
	r := newResampler(t, 0)
	vectors, err := golden.Vectors()
	fatal.If(t, err)
	batch := &carbonara.Batch{}
	plan := carbonara.NewPlan([]time.Duration{time.Minute, time.Hour},
		withRates(withCounters(orderMethods)))
	for _, v := range vectors {
		if len(v.Values) > 0 {
			addPacked(t, batch, plan, v.Timestamps, v.Values, 1<<16, 0, len(v.Values))
		}
	}
	compare(t, r, batch)
}
