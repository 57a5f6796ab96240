package carbonara_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
)

// checkMeasureList appends measures to an empty list and expects to get them back, bit for bit, from each index on.
func checkMeasureList(t *testing.T, l *carbonara.MeasureList, measures []carbonara.Measure) {
	t.Helper()
	for _, m := range measures {
		l.Append(m)
		if l.LastTimestamp() != m.Timestamp {
			t.Fatalf("last timestamp is %d, want %d", l.LastTimestamp(), m.Timestamp)
		}
	}
	if l.Len() != len(measures) {
		t.Fatalf("length is %d, want %d", l.Len(), len(measures))
	}
	for from := range len(measures) + 1 {
		if len(measures) > 100 && from%37 != 0 && from != len(measures) {
			continue // that would take long
		}
		got := l.AppendTo(nil, from)
		if len(got) != len(measures)-from {
			t.Fatalf("from %d: %d measures, want %d", from, len(got), len(measures)-from)
		}
		for i, m := range got {
			want := measures[from+i]
			if m.Timestamp != want.Timestamp || math.Float64bits(m.Value) != math.Float64bits(want.Value) {
				t.Fatalf("from %d: measure %d is %v, want %v", from, i, m, want)
			}
		}
	}
}

// TestMeasureListBetween leaves out whole chunks before a time and from another on, and nothing between.
func TestMeasureListBetween(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	for _, n := range []int{0, 1, 50, 5000} {
		var l carbonara.MeasureList
		var measures []carbonara.Measure
		at := carbonara.Timestamp(1.7e18)
		for range n {
			measures = append(measures, carbonara.Measure{Timestamp: at, Value: float64(rng.IntN(1000)) / 8})
			l.Append(measures[len(measures)-1])
			at += 1 + carbonara.Timestamp(rng.IntN(20))*1e9
		}
		for i, m := range measures {
			if i%29 != 0 && i < n-3 {
				continue
			}
			for _, from := range []carbonara.Timestamp{m.Timestamp, m.Timestamp + 1} {
				got := l.AppendBetween([]carbonara.Measure{{Value: 1}}, from, carbonara.MaxTimestamp)[1:]
				if left := n - len(got); left > i || i-left > 700 || !slices.Equal(got, measures[left:]) {
					t.Fatalf("%d of %d measures since number %d", len(got), n, i)
				}
				j := i + rng.IntN(n-i)
				to := measures[j].Timestamp + carbonara.Timestamp(rng.IntN(2))
				some := l.AppendBetween([]carbonara.Measure{{Value: 1}}, from, to)[1:]
				if len(some) > j-i+1400 || !slices.Equal(some, got[:len(some)]) ||
					len(some) < len(got) && got[len(some)].Timestamp < to {
					t.Fatalf("%d of %d measures from number %d to %d", len(some), n, i, j)
				}
			}
		}
		if got := l.AppendBetween(nil, 0, carbonara.MaxTimestamp); !slices.Equal(got, measures) {
			t.Fatalf("%d of %d measures", len(got), n)
		}
	}
}

func TestMeasureList(t *testing.T) {
	var l carbonara.MeasureList
	f := func(measures ...carbonara.Measure) {
		t.Helper()
		l.Reset(64)
		checkMeasureList(t, &l, measures)
	}
	at := func(start, step carbonara.Timestamp, values ...float64) (measures []carbonara.Measure) {
		for i, v := range values {
			measures = append(measures, carbonara.Measure{Timestamp: start + carbonara.Timestamp(i)*step, Value: v})
		}
		return measures
	}
	negativeZero := math.Copysign(0, -1)
	f()
	f(at(0, 0, 1)...)
	f(at(1.7e18, 1e10, 1, 2, 3, 3, -4)...)
	f(at(1.7e18, 1e10, 1, 1.5, 1.25, 1e9+0.125, 0.001, 7)...)
	f(at(1.7e18, 1e10, 0.25, 1.0/3, 0.25, math.Pi, 2)...)
	f(at(1.7e18, -1e10, 0, negativeZero, math.NaN(), 0.5, math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324)...)
	f(at(0, 1, math.Float64frombits(0x7FF8000000000123), 1, math.NaN(), 2)...)
	f(at(math.MaxInt64-1, 0, 1<<61, -1<<61, 1<<61, 1<<62, -1<<62, 1<<53, 0.1, 1<<53)...)
	f(carbonara.Measure{Timestamp: math.MaxInt64}, carbonara.Measure{Timestamp: math.MinInt64},
		carbonara.Measure{Timestamp: 5})
}

// Chunks begin anew, and what is asked for may begin in any.
func TestMeasureListOfChunks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var l carbonara.MeasureList
	for _, n := range []int{200, 5000, 3, 1000} {
		var measures []carbonara.Measure
		for i := range n {
			v := float64(random.IntN(10_000)) / 100
			if i/300%2 == 1 {
				v = random.Float64()
			}
			measures = append(measures, carbonara.Measure{Timestamp: 1.7e18 + carbonara.Timestamp(i)*1e10, Value: v})
		}
		l.Reset(256)
		checkMeasureList(t, &l, measures)
	}
	if l.Reset(256); l.Bytes() > 256 {
		t.Errorf("%d bytes are kept", l.Bytes())
	}
}

// Measures of gauges and counters take a fraction of 16 bytes each, few as well as many, and no list takes much more.
func TestMeasureListIsSmall(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	regular := func(i int) carbonara.Timestamp { return 1.7e18 + carbonara.Timestamp(i)*1e10 }
	jitter := func(i int) carbonara.Timestamp { return regular(i) + carbonara.Timestamp(random.IntN(1e9)) }
	anyhow := func(int) carbonara.Timestamp { return 1.7e18 + carbonara.Timestamp(random.Int64N(3600e9)) }
	constant := func(int) float64 { return 42 }
	counter := func(i int) float64 { return float64(i) * 1000 }
	gauge := func(int) float64 { return float64(random.IntN(10_000)) / 100 }
	percentage := func(int) float64 { return 100 * random.Float64() }
	for _, test := range []struct {
		name  string
		time  func(i int) carbonara.Timestamp
		value func(i int) float64
		most  map[int]float64 // bytes a measure by their number, with room to grow
	}{
		{"regular constant", regular, constant, map[int]float64{1: 16, 6: 6, 30: 4.5, 180: 3, 10_000: 2.2}},
		{"regular counter", regular, counter, map[int]float64{1: 16, 6: 6, 30: 4.5, 180: 5, 10_000: 3.2}},
		{"regular gauge", regular, gauge, map[int]float64{1: 16, 6: 11, 30: 4.5, 180: 5, 10_000: 3.5}},
		{"jittery gauge", jitter, gauge, map[int]float64{1: 16, 6: 11, 30: 9, 180: 10, 10_000: 7.5}},
		{"full precision at any time", anyhow, percentage, map[int]float64{1: 32, 6: 22, 30: 18, 180: 20, 10_000: 16}},
	} {
		for n, most := range test.most {
			var l carbonara.MeasureList
			for i := range n {
				l.Append(carbonara.Measure{Timestamp: test.time(i), Value: test.value(i)})
			}
			if bytes := float64(l.Bytes()) / float64(n); bytes > most {
				t.Errorf("%s: %d measures take %.1f bytes each, more than %v", test.name, n, bytes, most)
			}
		}
	}
}

func FuzzMeasureList(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"))
	f.Fuzz(func(t *testing.T, src []byte) {
		var measures []carbonara.Measure
		for ; len(src) >= 10; src = src[10:] {
			m := carbonara.Measure{Timestamp: carbonara.Timestamp(binary.LittleEndian.Uint64(src))}
			switch v := binary.LittleEndian.Uint64(src[2:]); src[1] % 4 {
			case 0:
				m.Value = math.Float64frombits(v)
			case 1:
				m.Value = float64(int64(v))
			default:
				m.Value = float64(int64(v)>>24) / math.Pow10(int(src[0]%12))
			}
			measures = append(measures, m)
		}
		checkMeasureList(t, new(carbonara.MeasureList), measures)
	})
}

func BenchmarkMeasureList(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	f := func(name string, value func(i int) float64) {
		var measures []carbonara.Measure
		for i := range 30 {
			measures = append(measures, carbonara.Measure{Timestamp: 1.7e18 +
				carbonara.Timestamp(i)*1e10, Value: value(i)})
		}
		var l carbonara.MeasureList
		b.Run("append/pattern="+name, func(b *testing.B) {
			b.SetBytes(int64(len(measures)))
			for b.Loop() {
				l.Reset(math.MaxInt)
				for _, m := range measures {
					l.Append(m)
				}
			}
		})
		b.Run("read/pattern="+name, func(b *testing.B) {
			b.SetBytes(int64(len(measures)))
			var got []carbonara.Measure
			for b.Loop() {
				got = l.AppendTo(got[:0], 0)
			}
			if len(got) != len(measures) {
				b.Fatalf("%d measures, want %d", len(got), len(measures))
			}
		})
	}
	f("counter", func(i int) float64 { return float64(i) * 1000 })
	f("gauge", func(int) float64 { return float64(random.IntN(10_000)) / 100 })
	f("random", func(int) float64 { return random.Float64() })
}

// BenchmarkMeasureListBetween reads an hour of measures each ten seconds: of a day, as far as possible, and to its end.
func BenchmarkMeasureListBetween(b *testing.B) {
	const start, step = carbonara.Timestamp(1.7e18), carbonara.Timestamp(1e10)
	random := rand.New(rand.NewPCG(1, 1))
	var l carbonara.MeasureList
	for i := range carbonara.Timestamp(8640) {
		l.Append(carbonara.Measure{Timestamp: start + i*step, Value: float64(random.IntN(10_000)) / 100})
	}
	for name, to := range map[string]carbonara.Timestamp{"hour": start + 4680*step, "end": carbonara.MaxTimestamp} {
		b.Run("to="+name, func(b *testing.B) {
			var got []carbonara.Measure
			for b.Loop() {
				got = l.AppendBetween(got[:0], start+4320*step, to)
			}
		})
	}
}
