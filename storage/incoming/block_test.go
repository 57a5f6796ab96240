package incoming_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

var accepted = time.Unix(1_700_000_000, 123_456_789).UTC()

// request returns measures of as many metrics as there are counts, the i-th with counts[i] measures.
func request(rng *rand.Rand, counts ...int) *model.Measures {
	m := &model.Measures{Offsets: []int{0}}
	for _, n := range counts {
		m.Metrics = append(m.Metrics, randomID(rng))
		t := carbonara.FromTime(accepted).Add(-time.Duration(rng.IntN(1000)) * time.Second)
		for range n {
			m.Timestamps = append(m.Timestamps, t)
			m.Values = append(m.Values, rng.NormFloat64())
			t = t.Add(time.Minute + time.Duration(rng.IntN(3)))
		}
		m.Offsets = append(m.Offsets, len(m.Timestamps))
	}
	return m
}

func randomID(rng *rand.Rand) (id uuid.UUID) {
	binary.LittleEndian.PutUint64(id[:], rng.Uint64())
	binary.LittleEndian.PutUint64(id[8:], rng.Uint64())
	return id
}

func all(m *model.Measures) []int {
	pick := make([]int, len(m.Metrics))
	for i := range pick {
		pick[i] = i
	}
	return pick
}

// equal compares bit by bit, so that NaN equals itself.
func equal(a, b *model.Measures) bool {
	bits := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
	return slices.Equal(a.Metrics, b.Metrics) && slices.Equal(a.Offsets, b.Offsets) &&
		slices.Equal(a.Timestamps, b.Timestamps) && slices.EqualFunc(a.Values, b.Values, bits)
}

func TestBlock(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	f := func(m *model.Measures) {
		t.Helper()
		block := incoming.AppendBlock([]byte("before"), m, all(m), accepted)[len("before"):]
		if n, at, err := incoming.BlockMeasures(block); n != m.Len() || !at.Equal(accepted) || err != nil {
			t.Errorf("BlockMeasures: %d, %v, %v", n, at, err)
		}
		var got model.Measures
		if at, err := incoming.DecodeBlock(block, &got); err != nil || !at.Equal(accepted) {
			t.Fatalf("DecodeBlock: %v, %v", at, err)
		}
		if !equal(&got, m) {
			t.Errorf("decoded %v, want %v", got, *m)
		}
	}
	f(&model.Measures{Offsets: []int{0}})
	f(request(rng, 1))
	f(request(rng, 1, 1, 1, 1))
	f(request(rng, 300, 300))
	f(request(rng, 0, 5, 1, 200, 0))
	f(request(rng, 0, 0))
	extremes := request(rng, 5, 1)
	extremes.Timestamps = []carbonara.Timestamp{0, carbonara.MaxTimestamp, 0, 0, carbonara.MaxTimestamp, 7}
	extremes.Values = []float64{math.NaN(), math.Inf(1), math.Copysign(0, -1), math.MaxFloat64, 5e-324, 0}
	f(extremes)
}

func TestBlockPick(t *testing.T) {
	m := request(rand.New(rand.NewPCG(3, 4)), 2, 3, 4)
	var got model.Measures
	for _, i := range []int{2, 0} {
		if _, err := incoming.DecodeBlock(incoming.AppendBlock(nil, m, []int{i}, accepted), &got); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(got.Metrics, []uuid.UUID{m.Metrics[2], m.Metrics[0]}) ||
		!slices.Equal(got.Offsets, []int{0, 4, 6}) {
		t.Fatalf("metrics %v, offsets %v", got.Metrics, got.Offsets)
	}
	for i, j := range []int{2, 0} {
		gotT, gotV := got.Of(i)
		wantT, wantV := m.Of(j)
		if !slices.Equal(gotT, wantT) || !slices.Equal(gotV, wantV) {
			t.Errorf("metric %d: %v %v", j, gotT, gotV)
		}
	}
}

// Decimals take what their digits do, and all bits of every value are kept.
func TestBlockValues(t *testing.T) {
	f := func(most int, values ...float64) {
		t.Helper()
		m := request(rand.New(rand.NewPCG(1, 1)), len(values))
		copy(m.Values, values)
		for i := range m.Timestamps {
			m.Timestamps[i] = carbonara.FromTime(accepted).Add(time.Duration(i) * time.Second)
		}
		block := incoming.AppendBlock(nil, m, []int{0}, accepted)
		var got model.Measures
		if _, err := incoming.DecodeBlock(block, &got); err != nil || !equal(&got, m) {
			t.Errorf("%v became %v, %v", values, got.Values, err)
		}
		if size := len(block) - 40; size > most {
			t.Errorf("%v takes %d bytes", values, size)
		}
	}
	f(3, 0, 0, 0)
	f(8, 1000, 1001, 1003)
	f(8, 21.57, 21.6, 21.55)
	f(11, 1, 2, 0.1234567)
	f(9, 0.1+0.2)
	f(17, 1<<53, -(1 << 53))
	f(20, 1<<53+2, 1)
	f(20, math.Copysign(0, -1), 7)
	f(30, math.NaN(), math.Inf(-1), 1e300)
	f(20, -(1 << 63), 1e-11)
	f(20, 200_000.1, 9007199254740.993)
	for e := range 12 {
		f(30, 1/math.Pow10(e), -123/math.Pow10(e), 90071992547409.91/math.Pow10(e))
	}
}

// Metrics that report at the same time cost only id and value.
func TestBlockSize(t *testing.T) {
	m := request(rand.New(rand.NewPCG(5, 6)), slices.Repeat([]int{1}, 10_000)...)
	for i := range m.Timestamps {
		m.Timestamps[i] = carbonara.FromTime(accepted.Truncate(time.Second))
	}
	if size := len(incoming.AppendBlock(nil, m, all(m), accepted)); size > 10_000*(16+1+8)+40 {
		t.Errorf("%d bytes", size)
	}
}

// A block with any single bit flipped does not decode, and the measures decoded before it stay as they were.
func TestBlockCorrupt(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	m := request(rng, 3, 1)
	block := incoming.AppendBlock(nil, m, all(m), accepted)
	got := *request(rng, 2)
	want := model.Measures{Metrics: slices.Clone(got.Metrics), Offsets: slices.Clone(got.Offsets),
		Timestamps: slices.Clone(got.Timestamps), Values: slices.Clone(got.Values)}
	f := func(what string, at int, block []byte) {
		t.Helper()
		if _, err := incoming.DecodeBlock(block, &got); !errors.Is(err, storage.ErrCorrupt) {
			t.Fatalf("%s at %d: %v", what, at, err)
		}
		if !equal(&got, &want) {
			t.Fatalf("%s at %d: measures are %v", what, at, got)
		}
	}
	for bit := range 8 * len(block) {
		flipped := bytes.Clone(block)
		flipped[bit/8] ^= 1 << (bit % 8)
		f("bit flipped", bit, flipped)
	}
	for n := range block {
		f("cut", n, block[:n])
	}
	f("longer", 1, append(bytes.Clone(block), 0))
}

func FuzzDecodeBlock(f *testing.F) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, counts := range [][]int{{}, {1}, {1, 1, 1}, {5, 0, 2}} {
		m := request(rng, counts...)
		f.Add(byte(2), incoming.AppendBlock(nil, m, all(m), accepted)[5:])
		f.Add(byte(1), incoming.AppendBlock(nil, m, all(m), accepted)[5:])
	}
	f.Fuzz(func(t *testing.T, version byte, content []byte) {
		// The checksum is put right, so that the fuzzer gets at what it protects.
		block := append([]byte{version, 0, 0, 0, 0}, content...)
		incoming.SetChecksum(block)
		var m model.Measures
		at, err := incoming.DecodeBlock(block, &m)
		if err != nil {
			if !errors.Is(err, storage.ErrCorrupt) || len(m.Metrics)+len(m.Offsets)+m.Len()+len(m.Values) != 0 {
				t.Fatalf("%v left %v", err, m)
			}
			return
		}
		var again model.Measures
		if _, err := incoming.DecodeBlock(incoming.AppendBlock(nil, &m, all(&m), at), &again); err != nil ||
			!equal(&m, &again) {
			t.Fatalf("%v decodes again as %v, %v", m, again, err)
		}
	})
}
