package carbonara_test

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Aggregates of all methods, and the bytes that they are stored as, have the same bits on every machine: the checksums
// are amd64's. make arm64 runs this for arm64.
func TestSameBitsOnEveryMachine(t *testing.T) {
	f := func(name string, want uint64, value func(rng *rand.Rand, i int) float64) {
		t.Helper()
		rng := rand.New(rand.NewPCG(16, 59))
		batch := &carbonara.Batch{}
		for i := range 5000 {
			batch.Timestamps = append(batch.Timestamps,
				carbonara.Timestamp(1_700_000_000e9+int64(i)*7e9+rng.Int64N(5e9)))
			batch.Values = append(batch.Values, value(rng, i))
		}
		methods := slices.DeleteFunc(carbonara.Methods(), func(m carbonara.Method) bool {
			return m == carbonara.SketchMethod // TestSketchBits
		})
		plan := carbonara.NewPlan([]time.Duration{time.Minute, time.Hour}, methods)
		batch.Series = []carbonara.Series{{Plan: plan, To: len(batch.Values)}}
		result := resample(t, 1, batch)
		sum := fnv.New64a()
		add := func(bits uint64) { _ = binary.Write(sum, binary.LittleEndian, bits) }
		for j := range 2 {
			groups := result.Groups(0, j)
			for i, at := range groups.Starts {
				add(uint64(at))
				for _, column := range groups.Values {
					if v := column[i]; v != v {
						add(math.Float64bits(math.NaN())) // machines have several NaNs
					} else {
						add(math.Float64bits(v))
					}
				}
			}
			key := carbonara.SplitKeyOf(groups.Starts[0], groups.Granularity)
			split := groups.Slice(0, groups.Search(key.End()))
			_, _ = sum.Write(carbonara.AppendSplit(nil, key, &split))
		}
		if got := sum.Sum64(); got != want {
			t.Errorf("%s: got %#x, want %#x", name, got, want)
		}
	}
	f("decimals", 0xd0907bae10be2eab, func(rng *rand.Rand, i int) float64 { return float64(rng.IntN(100_000)) / 100 })
	f("counter", 0xaf92aceeda33637f, func(rng *rand.Rand, i int) float64 {
		return float64(i*i) + float64(rng.IntN(10))
	})
	f("floats", 0xd258f6cacfb55a2a, func(rng *rand.Rand, i int) float64 {
		return (rng.Float64() - 0.5) * math.Sqrt(float64(i+1))
	})
	f("wide", 0xdf42df22ec1a002a, func(rng *rand.Rand, i int) float64 {
		return math.Ldexp(rng.Float64(), rng.IntN(200)-100)
	})
}
