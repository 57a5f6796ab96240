package api

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestAppendFloat(t *testing.T) {
	f := func(value float64, want string) {
		t.Helper()
		if got := string(appendFloat(nil, value)); got != want {
			t.Errorf("%x: %s, want %s", value, got, want)
		}
	}
	// What Python's repr gives.
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
		text := string(appendFloat(nil, value))
		got, err := strconv.ParseFloat(text, 64)
		if err != nil || math.Float64bits(got) != math.Float64bits(value) && !math.IsNaN(value) {
			t.Fatalf("%x: %s reads back as %x, %v", value, text, got, err)
		}
	}
}
