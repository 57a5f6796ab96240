package text

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestAppendFloat(t *testing.T) {
	f := func(value float64, want string) {
		t.Helper()
		if got := string(AppendFloat(nil, value)); got != want {
			t.Errorf("%x: %s, want %s", value, got, want)
		}
	}
	// The output of Python's repr.
	f(0, "0.0")
	f(math.Copysign(0, -1), "-0.0")
	f(1, "1.0")
	f(-60, "-60.0")
	f(0.1, "0.1")
	f(43.1, "43.1")
	f(5.833333333333333, "5.833333333333333")
	f(999999999999999, "999999999999999.0")
	f(1e15, "1000000000000000.0")
	f(1234567890123456.7, "1234567890123456.8")
	f(9999999999999998, "9999999999999998.0")
	f(1e16, "1e+16")
	f(-1.5e22, "-1.5e+22")
	f(1e100, "1e+100")
	f(0.0001, "0.0001")
	f(0.00001, "1e-05")
	f(1.25e-7, "1.25e-07")
	f(5e-324, "5e-324")
	f(math.MaxFloat64, "1.7976931348623157e+308")
	f(math.NaN(), "NaN")
	f(math.Inf(1), "Infinity")
	f(math.Inf(-1), "-Infinity")
}

func TestAppendFloatReadsBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		value := math.Float64frombits(random.Uint64())
		text := string(AppendFloat(nil, value))
		got, err := strconv.ParseFloat(text, 64)
		if err != nil || math.Float64bits(got) != math.Float64bits(value) && !math.IsNaN(value) {
			t.Fatalf("%x: %s reads back as %x, %v", value, text, got, err)
		}
	}
}

// pythonFloat is AppendFloat by strconv alone.
func pythonFloat(f float64) string {
	size := math.Abs(f)
	if size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if f == math.Trunc(f) {
		text += ".0"
	}
	return text
}

// Floats are written as strconv writes them, to the byte.
func TestAppendFloatIsShortest(t *testing.T) {
	var got []byte
	f := func(v float64) {
		if got = AppendFloat(got[:0], v); string(got) != pythonFloat(v) {
			t.Fatalf("%x: %s, want %s", v, got, pythonFloat(v))
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	for exponent := -16; exponent < 56; exponent++ {
		// Around powers of two, and with mantissas of few bits, whose neighbours' middles are short decimals.
		for step := -40; step < 40; step++ {
			f(math.Float64frombits(math.Float64bits(math.Ldexp(1, exponent)) + uint64(step)))
			f(math.Ldexp(float64(1+random.IntN(1<<10)), exponent-random.IntN(12)))
		}
		for range 20_000 {
			f(math.Ldexp(1+random.Float64(), exponent))
		}
	}
	for digits := range 18 {
		scale := math.Pow10(digits)
		for range 20_000 {
			decimal := float64(random.Int64N(1 << (1 + random.IntN(55))))
			f(decimal / scale)
			f(-math.Nextafter(decimal/scale, 1e300))
			f(decimal / scale / float64(1+random.IntN(60))) // as means are
		}
	}
	// Two decimals of as many digits lie equally near.
	for range 100_000 {
		f(math.Ldexp(float64(1<<52+random.Int64N(1<<52)), -2-random.IntN(8)))
	}
}

func FuzzAppendFloat(f *testing.F) {
	f.Add(uint64(0x3ff3333333333333))
	f.Fuzz(func(t *testing.T, raw uint64) {
		v := math.Float64frombits(raw)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return
		}
		if got := string(AppendFloat(nil, v)); got != pythonFloat(v) {
			t.Fatalf("%x: %s, want %s", v, got, pythonFloat(v))
		}
		if got := string(appendWhole(nil, raw)); got != strconv.FormatUint(raw, 10) {
			t.Fatalf("%d: %s", raw, got)
		}
	})
}

func BenchmarkAppendFloat(b *testing.B) {
	random := rand.New(rand.NewPCG(5, 6))
	values := make([]float64, 1024)
	for _, c := range []struct {
		name string
		make func() float64
	}{
		{"integers", func() float64 { return float64(random.IntN(100_000)) }},
		{"decimals", func() float64 { return float64(random.IntN(100_000)) / 100 }},
		{"means", func() float64 { return float64(random.IntN(100_000)) / 600 }},
	} {
		for i := range values {
			values[i] = c.make()
		}
		for _, by := range []struct {
			name string
			f    func(dst []byte, v float64) []byte
		}{{"ours", AppendFloat}, {"strconv", func(dst []byte, v float64) []byte {
			return strconv.AppendFloat(dst, v, 'f', -1, 64)
		}}} {
			b.Run("values="+c.name+"/by="+by.name, func(b *testing.B) {
				var dst []byte
				i := 0
				for b.Loop() {
					dst = by.f(dst[:0], values[i%len(values)])
					i++
				}
			})
		}
	}
}
