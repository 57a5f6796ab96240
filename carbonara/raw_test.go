package carbonara_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A rawKind is a way in which measures follow each other.
type rawKind struct {
	name string
	step func(rng *rand.Rand) carbonara.Timestamp
}

const rawStart = carbonara.Timestamp(1_700_000_000_000_000_000)

var rawKinds = []rawKind{
	{"regular", func(*rand.Rand) carbonara.Timestamp { return carbonara.Timestamp(10 * time.Second) }},
	{"gaps", func(r *rand.Rand) carbonara.Timestamp {
		return carbonara.Timestamp(time.Minute) * carbonara.Timestamp(1+r.IntN(10)/9)
	}},
	{"milliseconds", func(r *rand.Rand) carbonara.Timestamp {
		return carbonara.Timestamp(time.Millisecond) * carbonara.Timestamp(9_990+r.IntN(20))
	}},
	{"nanoseconds", func(r *rand.Rand) carbonara.Timestamp { return 1 + carbonara.Timestamp(r.Int64N(20e9)) }},
}

// make returns n measures.
func (k rawKind) make(rng *rand.Rand, n int) (timestamps []carbonara.Timestamp, values []float64) {
	t := rawStart
	for range n {
		timestamps = append(timestamps, t)
		values = append(values, float64(rng.IntN(1000))/10)
		t += k.step(rng)
	}
	return timestamps, values
}

// at returns about when the i-th measure was.
func (k rawKind) at(i int) carbonara.Timestamp {
	return rawStart + carbonara.Timestamp(i)*carbonara.Timestamp(10*time.Second)
}

func wantMeasures(t testing.TB, gotTimestamps []carbonara.Timestamp, gotValues []float64,
	timestamps []carbonara.Timestamp, values []float64) {
	t.Helper()
	sameValue := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
	if !slices.Equal(gotTimestamps, timestamps) {
		t.Fatalf("timestamps: got %d, want %d", gotTimestamps, timestamps)
	}
	if !slices.EqualFunc(gotValues, values, sameValue) {
		t.Fatalf("values: got %v, want %v", gotValues, values)
	}
}

// decodeRawSince decodes the measures of a raw series since a time.
func decodeRawSince(src []byte, since carbonara.Timestamp, timestamps []carbonara.Timestamp, values []float64) (
	[]carbonara.Timestamp, []float64, error) {
	_, timestamps, values, err := carbonara.DecodeRawAfterEnd(src,
		func(carbonara.RawEnd) (carbonara.Timestamp, bool) { return since, true }, timestamps, values)
	return timestamps, values, err
}

// wantMeasuresSince expects of a raw series with these measures those since each of some times.
func wantMeasuresSince(t testing.TB, src []byte, timestamps []carbonara.Timestamp, values []float64) {
	t.Helper()
	n := len(timestamps)
	for _, i := range []int{0, 1, n / 3, n - 1025, n - 1024, n - 1023, n - 60, n - 2, n - 1} {
		if i < 0 || i >= n {
			continue
		}
		for _, since := range []carbonara.Timestamp{timestamps[i] - 1, timestamps[i], timestamps[i] + 1} {
			gotTimestamps, gotValues, err := decodeRawSince(src, since,
				[]carbonara.Timestamp{carbonara.MaxTimestamp}, []float64{3})
			fatal.If(t, err)
			at, _ := slices.BinarySearch(timestamps, since)
			wantMeasures(t, gotTimestamps[1:], gotValues[1:], timestamps[at:], values[at:])
		}
	}
	if gotTimestamps, gotValues, err := decodeRawSince(src, carbonara.MaxTimestamp, nil, nil); err != nil ||
		n > 0 && timestamps[n-1] < carbonara.MaxTimestamp && len(gotTimestamps)+len(gotValues) > 0 {
		t.Fatalf("%d measures at the end of time, %v", len(gotTimestamps), err)
	}
}

func TestRawRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, kind := range rawKinds {
		for _, n := range []int{0, 1, 2, 3, 100, 5000, 1<<16 + 5} {
			t.Run(fmt.Sprintf("kind=%s/measures=%d", kind.name, n), func(t *testing.T) {
				timestamps, values := kind.make(rng, n)
				src := carbonara.AppendRaw([]byte("before"), 0, timestamps, values)[len("before"):]
				// After measures that are there already, and later.
				gotTimestamps, gotValues, err := carbonara.DecodeRaw(src,
					[]carbonara.Timestamp{carbonara.MaxTimestamp}, []float64{3})
				fatal.If(t, err)
				wantMeasures(t, gotTimestamps, gotValues,
					append([]carbonara.Timestamp{carbonara.MaxTimestamp}, timestamps...),
					append([]float64{3}, values...))
				wantMeasuresSince(t, src[:len(src):len(src)], timestamps, values)
			})
		}
	}
}

func TestRawAtTheEndsOfTime(t *testing.T) {
	f := func(keepFrom carbonara.Timestamp, timestamps ...carbonara.Timestamp) {
		t.Helper()
		values := make([]float64, len(timestamps))
		for i := range values {
			values[i] = oddValues[i]
		}
		src := carbonara.AppendRaw(nil, keepFrom, timestamps, values)
		gotTimestamps, gotValues, err := carbonara.DecodeRaw(src, nil, nil)
		fatal.If(t, err)
		wantMeasures(t, gotTimestamps, gotValues, timestamps, values)
	}
	f(0, 0)
	f(-1, 0, 1)
	f(0, 0, carbonara.MaxTimestamp)
	f(0, carbonara.MaxTimestamp-1, carbonara.MaxTimestamp)
	f(carbonara.MaxTimestamp, 0)
	f(1, 0, 1, 3, carbonara.MaxTimestamp)
	f(1_000_000_000, 0, 2_000_000_000, 9_000_000_000, 9_223_372_036_000_000_000)
}

// TestMergeRaw compares with a map, for operands that overlap in any way.
func TestMergeRaw(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	sizes := []int{30, 30, 30, 30, 3000} // the last ones are also in vectors
	for round := range 300 {
		model := map[carbonara.Timestamp]float64{}
		var keepFrom carbonara.Timestamp
		var operands [][]byte
		for range 1 + rng.IntN(6) {
			timestamps, values := rawKinds[rng.IntN(len(rawKinds))].make(rng, rng.IntN(sizes[round%len(sizes)]))
			shift := carbonara.Timestamp(rng.IntN(20)) * carbonara.Timestamp(10*time.Second)
			for i := range timestamps {
				timestamps[i] += shift
				model[timestamps[i]] = values[i]
			}
			var keep carbonara.Timestamp
			if rng.IntN(2) == 0 {
				keep = rawStart + carbonara.Timestamp(rng.IntN(40)-5)*carbonara.Timestamp(10*time.Second)
			}
			keepFrom = max(keepFrom, keep)
			operands = append(operands, carbonara.AppendRaw(nil, keep, timestamps, values))
		}
		var timestamps []carbonara.Timestamp
		for at := range model {
			timestamps = append(timestamps, at)
		}
		slices.Sort(timestamps)
		for len(timestamps) > 1 && timestamps[1] < keepFrom {
			timestamps = timestamps[1:]
		}
		var values []float64
		for _, at := range timestamps {
			values = append(values, model[at])
		}

		gotTimestamps, gotValues, err := carbonara.DecodeRaw(slices.Concat(operands...), nil, nil)
		fatal.If(t, err)
		wantMeasures(t, gotTimestamps, gotValues, timestamps, values)
		wantMeasuresSince(t, slices.Concat(operands...), timestamps, values)
		merged := mustMergeRaw(t, operands)
		gotTimestamps, gotValues, err = carbonara.DecodeRaw(merged, nil, nil)
		fatal.If(t, err)
		wantMeasures(t, gotTimestamps, gotValues, timestamps, values)

		at := rng.IntN(len(operands))
		end := at + 1 + rng.IntN(len(operands)-at)
		gathered := slices.Concat(operands[:at], [][]byte{mustMergeRaw(t, operands[at:end])}, operands[end:])
		if got := mustMergeRaw(t, gathered); string(got) != string(merged) {
			t.Fatalf("round %d: folding %d to %d of %d first gives another series", round, at, end, len(operands))
		}
		if end, err := carbonara.EndOfRaw(slices.Concat(operands...)); err != nil || end.Any != (len(timestamps) > 0) ||
			end.Any && end.Newest != timestamps[len(timestamps)-1] {
			t.Fatalf("end: %v, %v", end, err)
		}
	}
}

func mustMergeRaw(t testing.TB, operands [][]byte) []byte {
	t.Helper()
	merged, err := carbonara.MergeRaw([]byte("before"), operands)
	fatal.If(t, err)
	return merged[len("before"):]
}

// TestKeepFromOfALaterOperand holds an anchor back until it is certain that none newer comes.
func TestKeepFromOfALaterOperand(t *testing.T) {
	second := carbonara.Timestamp(time.Second)
	src := carbonara.AppendRaw(nil, 0, []carbonara.Timestamp{1 * second, 2 * second, 7 * second}, []float64{1, 2, 7})
	src = carbonara.AppendRaw(src, 5*second, nil, nil)
	timestamps, values, err := carbonara.DecodeRaw(src, nil, nil)
	fatal.If(t, err)
	wantMeasures(t, timestamps, values, []carbonara.Timestamp{2 * second, 7 * second}, []float64{2, 7})
	src = carbonara.AppendRaw(src, 5*second, []carbonara.Timestamp{3 * second}, []float64{3})
	timestamps, values, err = carbonara.DecodeRaw(src, nil, nil)
	fatal.If(t, err)
	wantMeasures(t, timestamps, values, []carbonara.Timestamp{3 * second, 7 * second}, []float64{3, 7})
}

func TestDecodeRawOfDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	f := func(src []byte) {
		t.Helper()
		timestamps, values, err := carbonara.DecodeRaw(src, nil, nil)
		if !errors.Is(err, carbonara.ErrCorrupt) || len(timestamps)+len(values) > 0 {
			t.Fatalf("decode: %d measures, error %v", len(timestamps), err)
		}
		if out, err := carbonara.MergeRaw([]byte{1}, [][]byte{src}); !errors.Is(err, carbonara.ErrCorrupt) ||
			len(out) != 1 {
			t.Fatalf("merge: error %v", err)
		}
		if _, err := carbonara.EndOfRaw(src); !errors.Is(err, carbonara.ErrCorrupt) {
			t.Fatalf("end: error %v", err)
		}
	}
	for _, kind := range rawKinds {
		timestamps, values := kind.make(rng, 9)
		src := carbonara.AppendRaw(nil, kind.at(2), timestamps, values)
		for i := range src {
			for flip := 1; flip < 256; flip++ {
				damaged := slices.Clone(src)
				damaged[i] ^= byte(flip)
				f(damaged)
			}
			if i > 0 {
				f(src[:i])
			}
		}
		f(append(slices.Clone(src), 0))
	}
	timestamps, values := rawKinds[0].make(rng, 300)
	src := carbonara.AppendRaw(nil, rawKinds[0].at(2), timestamps, values)
	for i := range src {
		for _, flip := range []byte{1, 0x80, 0xff} {
			damaged := slices.Clone(src)
			damaged[i] ^= flip
			f(damaged)
		}
		if i > 0 {
			f(src[:i])
		}
	}
}

// An operand leaves out measures before keepFrom: it may stay alone forever, and is then never folded.
func TestAppendRawTrims(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, kind := range rawKinds {
		for _, n := range []int{1, 10, 5000, 1<<16 + 5} {
			timestamps, values := kind.make(rng, n)
			for _, kept := range []int{0, 1, 5, n} {
				from := max(0, n-kept)
				keepFrom := timestamps[n-1] + 1
				if from < n {
					keepFrom = timestamps[from]
				}
				last := max(0, from-1) // the newest before
				got := carbonara.AppendRaw(nil, keepFrom, timestamps, values)
				if want := carbonara.AppendRaw(nil, keepFrom, timestamps[last:],
					values[last:]); string(got) != string(want) {
					t.Errorf("%s: of %d measures %d are kept: %d bytes, want %d", kind.name, n, kept,
						len(got), len(want))
				}
				gotTimestamps, gotValues, err := carbonara.DecodeRaw(got, nil, nil)
				fatal.If(t, err)
				wantMeasures(t, gotTimestamps, gotValues, timestamps[last:], values[last:])
			}
		}
	}
}
