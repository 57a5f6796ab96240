package sketch_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/carbonara/ranked"
	"github.com/gnocco-db/gnocco/carbonara/sketch"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// valuesOf are measures of many kinds: latencies, both signs, zeros, counters, few distinct values, and extremes.
var sketchValues = map[string]func(r *rand.Rand) float64{
	"latency":     func(r *rand.Rand) float64 { return 0.02 * math.Exp(0.5*r.NormFloat64()) },
	"long tail":   func(r *rand.Rand) float64 { return 0.005 * math.Pow(1-r.Float64(), -1/1.2) },
	"two modes":   func(r *rand.Rand) float64 { return math.Exp(0.2*r.NormFloat64()) * []float64{0.001, 0.2}[r.IntN(2)] },
	"both signs":  func(r *rand.Rand) float64 { return 10 * r.NormFloat64() },
	"small count": func(r *rand.Rand) float64 { return float64(r.IntN(4)) },
	"percent":     func(r *rand.Rand) float64 { return math.Round(1000*r.Float64()) / 10 },
	"any":         func(r *rand.Rand) float64 { return anyNormal(r) },
	"powers":      func(r *rand.Rand) float64 { return math.Ldexp(1, r.IntN(60)-30) },
}

func anyNormal(r *rand.Rand) float64 {
	for {
		if v := math.Float64frombits(r.Uint64()); v-v == 0 && math.Abs(v) >= 0x1p-1022 {
			return v
		}
	}
}

// exactly returns the percentile of values by a resampler.
func exactly(values []float64, p int) float64 {
	timestamps := make([]carbonara.Timestamp, len(values))
	for i := range timestamps {
		timestamps[i] = carbonara.Timestamp(i)
	}
	plan := carbonara.NewPlan([]time.Duration{time.Hour}, []carbonara.Method{carbonara.PercentileMethod(p)})
	var result carbonara.Result
	batch := carbonara.Batch{Timestamps: timestamps, Values: values,
		Series: []carbonara.Series{{Plan: plan, To: len(values)}}}
	if err := carbonara.NewCPUResampler(1).Resample(context.Background(), &batch, &result); err != nil {
		panic(err)
	}
	return result.Groups(0, 0).Column(carbonara.PercentileColumn(p))[0]
}

// TestSketchError compares percentiles of merged sketches with those of all measures.
func TestSketchError(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for name, value := range sketchValues {
		worst := 0.0
		for range 20 {
			var all []float64
			var d, whole sketch.Distribution
			for range 1 + r.IntN(8) {
				values := make([]float64, 1+r.IntN(100))
				for i := range values {
					values[i] = value(r)
				}
				all = append(all, values...)
				fatal.If(t, d.Add(sketch.Of(values)))
			}
			fatal.If(t, whole.Add(sketch.Of(all)))
			if a, b := d.Sketch(), sketch.Of(all); a != b {
				t.Fatalf("seed %d, %s: merged %x, of all %x", seed, name, a, b)
			}
			for _, p := range []int{1, 5, 25, 50, 75, 90, 95, 99} {
				want, got := exactly(all, p), d.Percentile(float64(p))
				// Between two ranks the error is relative to the greater of the two.
				scale := math.Max(math.Abs(exactly(all, p)), neighbours(all, p))
				if want == got {
					continue
				}
				worst = max(worst, math.Abs(got-want)/scale)
			}
		}
		if worst > sketch.RelativeError*(1+1e-9) || worst > 0.011 {
			t.Errorf("seed %d, %s: relative error %v", seed, name, worst)
		}
		t.Logf("%s: greatest relative error %.3f %%", name, 100*worst)
	}
}

// neighbours returns the greater magnitude of the two measures that a percentile lies between.
func neighbours(values []float64, p int) float64 {
	var sorted ranked.Values
	sorted.Set(append([]float64(nil), values...))
	sorted.Sort()
	rank := float64(len(values)-1) * (float64(p) / 100)
	return math.Max(math.Abs(sorted.At(int(math.Floor(rank)))), math.Abs(sorted.At(int(math.Ceil(rank)))))
}

func TestSketchOfSpecialValues(t *testing.T) {
	inf := math.Inf(1)
	f := func(p int, want float64, values ...float64) {
		t.Helper()
		var d sketch.Distribution
		fatal.If(t, d.Add(sketch.Of(values)))
		got := d.Percentile(float64(p))
		if got != want && !(got != got && want != want) && !(math.Abs(got-want) <= 0.011*math.Abs(want)) {
			t.Errorf("%dpct of %v: %v, want %v", p, values, got, want)
		}
		if d.Count() != uint64(len(values)) {
			t.Errorf("count of %v: %d", values, d.Count())
		}
	}
	f(50, math.NaN())
	f(50, 0, 0)
	f(50, 0, math.Copysign(0, -1), 5e-324, -5e-324)
	f(50, math.MaxFloat64, math.MaxFloat64)
	f(50, -math.MaxFloat64, -math.MaxFloat64)
	f(50, 0x1p-1022, 0x1p-1022)
	f(50, inf, inf)
	f(50, -inf, -inf)
	f(50, 2, -inf, 2, inf)
	f(99, math.NaN(), 1, math.NaN())
	f(50, 2, 1, 2, math.NaN())
	f(50, 1, 1, 1, 1)
	f(50, -8, -1, -8, -1024)
}

// TestBucketBounds compares bounds with powers of two of 300 bits.
func TestBucketBounds(t *testing.T) {
	root := big.NewFloat(2).SetPrec(300)
	for range 5 {
		root = new(big.Float).SetPrec(300).Sqrt(root)
	}
	bound := big.NewFloat(1).SetPrec(300)
	for i := range 32 {
		v, _ := bound.Float64()
		for _, scale := range []float64{1, 0x1p-1022, 0x1p1023} {
			at := sketch.Of([]float64{v * scale})
			above := sketch.Of([]float64{math.Nextafter(v*scale, math.Inf(1))})
			below := sketch.Of([]float64{math.Nextafter(v*scale, 0)})
			if at == above || at != below && v*scale != 0x1p-1022 {
				t.Errorf("bound %d, %v: buckets %x, %x, %x", i, v*scale, below, at, above)
			}
		}
		bound.Mul(bound, root)
	}
}

// TestSketchBits: sketches have the same bits on every machine.
func TestSketchBits(t *testing.T) {
	sum := fnv.New64a()
	r := rand.New(rand.NewPCG(16, 59))
	for _, name := range []string{"percent", "any", "powers", "small count"} {
		for range 50 {
			values := make([]float64, 1+r.IntN(200))
			for i := range values {
				values[i] = sketchValues[name](r)
			}
			_, _ = sum.Write([]byte(sketch.Of(values)))
		}
	}
	if got, want := sum.Sum64(), uint64(0x95571f52aab9c1bf); got != want {
		t.Errorf("got %#x, want %#x", got, want)
	}
}

func FuzzSketch(f *testing.F) {
	f.Add([]byte(sketch.Of([]float64{1, 2, -3, 0, math.NaN(), math.Inf(1)})))
	f.Fuzz(func(t *testing.T, src []byte) {
		var d sketch.Distribution
		if d.Add(sketch.Sketch(src)) != nil {
			return
		}
		again := d.Sketch()
		var e sketch.Distribution
		if err := e.Add(again); err != nil {
			t.Fatalf("%x became %x: %v", src, again, err)
		}
		if e.Sketch() != again || e.Count() != d.Count() {
			t.Fatalf("%x became %x", src, again)
		}
	})
}

// TestBytesOfSketches prints bytes and CPU a group, for docs/decisions/0099.
func TestBytesOfSketches(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	series := map[string][]float64{}
	for name, value := range sketchValues {
		for range 1440 * 30 {
			series["generated: "+name] = append(series["generated: "+name], value(r))
		}
	}
	files, _ := filepath.Glob(os.Getenv("GNOCCO_NAB") + "/*/*.csv")
	if os.Getenv("GNOCCO_NAB") == "" {
		files = nil
	}
	for _, file := range files {
		name := "NAB: " + filepath.Base(filepath.Dir(file))
		series[name] = append(series[name], readNAB(t, file)...)
	}
	for name, values := range series {
		line := fmt.Sprintf("%-32s", name)
		for _, n := range []int{60, 1440} {
			bytes, groups := 0, 0
			var of, merge time.Duration
			var d sketch.Distribution
			for rest := values; len(rest) >= n; rest = rest[n:] {
				start := time.Now()
				s := sketch.Of(rest[:n])
				of += time.Since(start)
				bytes, groups = bytes+len(s), groups+1
				start = time.Now()
				fatal.If(t, d.Add(s))
				merge += time.Since(start)
			}
			if groups == 0 {
				continue
			}
			line += fmt.Sprintf(" | %4d: %6.1f bytes, %5.1f ns a measure, merged %4d ns a group", n, float64(bytes)/float64(groups),
				float64(of.Nanoseconds())/float64(groups*n), merge.Nanoseconds()/int64(groups))
			if n == 60 && bytes > 40*groups && (name == "generated: latency" || name == "generated: long tail") {
				t.Errorf("%s: %d bytes in %d groups of 60", name, bytes, groups)
			}
		}
		t.Log(line)
	}
}

func readNAB(t *testing.T, file string) (values []float64) {
	f, err := os.Open(file)
	fatal.If(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	fatal.If(t, err)
	for _, row := range rows[1:] {
		v, err := strconv.ParseFloat(row[1], 64)
		fatal.If(t, err)
		values = append(values, v)
	}
	return values
}
