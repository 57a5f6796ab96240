package carbonara_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// wantPacked holds what a raw series has packed to its measures.
func wantPacked(t testing.TB, src []byte, timestamps []carbonara.Timestamp, values []float64) {
	t.Helper()
	var p carbonara.Packed
	fatal.If(t, p.Parse(src))
	if p.Len() != len(values) {
		t.Fatalf("%d measures, want %d", p.Len(), len(values))
	}
	gotTimestamps, gotValues, err := p.Append(nil, nil, 0, p.Len())
	fatal.If(t, err)
	wantMeasures(t, gotTimestamps, gotValues, timestamps, values)
	n := len(values)
	for _, i := range []int{0, n / 3, n / 2, n - 2, n - 1} {
		if i < 0 || i >= n {
			continue
		}
		at, err := p.Timestamp(i)
		if err != nil || at != timestamps[i] {
			t.Fatalf("measure %d is at %d, %v; want %d", i, at, err, timestamps[i])
		}
		for _, before := range []carbonara.Timestamp{0, 1} {
			want, _ := slices.BinarySearch(timestamps, at-before)
			if got, err := p.Search(at - before); err != nil || got != want {
				t.Fatalf("measures from %d on begin at %d, %v; want %d", at-before, got, err, want)
			}
		}
		m, err := p.Measure(i)
		fatal.If(t, err)
		wantMeasures(t, []carbonara.Timestamp{m.Timestamp}, []float64{m.Value}, timestamps[i:i+1], values[i:i+1])
		if gotTimestamps, gotValues, err = p.Append(gotTimestamps[:0], gotValues[:0], i, n); err != nil {
			t.Fatal(err)
		}
		wantMeasures(t, gotTimestamps, gotValues, timestamps[i:], values[i:])
	}
	for i := 2; i < n && p.Step > 0; i++ {
		if timestamps[i]-timestamps[i-1] != p.Step {
			t.Fatalf("step is %d, but measure %d is %d after the one before", p.Step, i, timestamps[i]-timestamps[i-1])
		}
	}
}

func TestPacked(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for _, kind := range rawKinds {
		for _, n := range []int{0, 1, 2, 3, 4, 255, 256, 1023, 1024, 1025, 1026, 1027, 1028, 3000,
			1<<16 + 1, 1<<16 + 700} {
			t.Run(fmt.Sprintf("kind=%s/measures=%d", kind.name, n), func(t *testing.T) {
				timestamps, values := kind.make(rng, n)
				for i := range values {
					if rng.IntN(50) == 0 {
						values[i] = oddValues[rng.IntN(len(oddValues))]
					}
				}
				src := carbonara.AppendRaw(nil, 0, timestamps, values)
				wantPacked(t, src, timestamps, values)
				var p carbonara.Packed
				if err := p.Parse(src); err != nil || (p.Step > 0) != (kind.name == "regular" && n > 1 || n == 2) {
					t.Errorf("step %d, %v", p.Step, err)
				}
				// In several chunks, of both formats, side by side; the newest of those before a time is the first that
				// counts.
				var chunks []byte
				for from := 0; from < n; {
					to := min(n, from+1+rng.IntN(2500))
					keepFrom := carbonara.Timestamp(0)
					if rng.IntN(3) == 0 {
						keepFrom = timestamps[from/2] + 1
					}
					chunks = carbonara.AppendRaw(chunks, keepFrom, timestamps[from:to], values[from:to])
					from = to
				}
				wantTimestamps, wantValues, err := carbonara.DecodeRaw(chunks, nil, nil)
				fatal.If(t, err)
				wantPacked(t, chunks, wantTimestamps, wantValues)
				if n < 2 {
					return
				}
				// A late chunk, over the others.
				chunks = carbonara.AppendRaw(chunks, 0, timestamps[n/2:n/2+1], []float64{77})
				if wantTimestamps, wantValues, err = carbonara.DecodeRaw(chunks, nil, nil); err != nil {
					t.Fatal(err)
				}
				wantPacked(t, chunks, wantTimestamps, wantValues)
			})
		}
	}
}

// A batch of packed series, of some of their measures, gives the groups that it gives unpacked, with any number of
// workers.
func TestPackedResample(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	plan := carbonara.NewPlan([]time.Duration{time.Minute, time.Hour},
		[]carbonara.Method{carbonara.Mean, carbonara.Std, carbonara.Last.Rate()})
	var plain, packed carbonara.Batch
	for i := range 40 {
		timestamps, values := rawKinds[i%len(rawKinds)].make(rng, rng.IntN(4000))
		p := new(carbonara.Packed)
		fatal.If(t, p.Parse(carbonara.AppendRaw(nil, 0, timestamps, values)))
		from := rng.IntN(len(values) + 1)
		to := from + rng.IntN(len(values)-from+1)
		plain.Series = append(plain.Series, carbonara.Series{Plan: plan, From: len(plain.Values) + from,
			To: len(plain.Values) + to})
		plain.Timestamps, plain.Values = append(plain.Timestamps, timestamps...), append(plain.Values, values...)
		packed.Series = append(packed.Series, carbonara.Series{Plan: plan, From: from, To: to, Packed: p})
	}
	if plain.Measures() != packed.Measures() {
		t.Errorf("%d measures, want %d", packed.Measures(), plain.Measures())
	}
	for _, workers := range []int{1, 3} {
		r := carbonara.NewCPUResampler(workers)
		var want, got carbonara.Result
		fatal.If(t, errors.Join(r.Resample(context.Background(), &plain, &want),
			r.Resample(context.Background(), &packed, &got)))
		for i := range plain.Series {
			for j := range plan.Granularities {
				wantGroups(t, got.Groups(i, j), want.Groups(i, j))
			}
		}
	}
}

// A series of which only what is decoded late is corrupt makes the resampler say so.
func TestPackedCorrupt(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	timestamps, values := rawKinds[2].make(rng, 1000)
	src := carbonara.AppendRaw(nil, 0, timestamps, values)
	version, payload := src[0], payloadOf(src)
	found := 0
	for i := range payload {
		damaged := slices.Clone(payload)
		damaged[i] ^= 1 << rng.IntN(8)
		src := sealed(version, damaged)
		var p carbonara.Packed
		if err := p.Parse(src); err != nil {
			if !errors.Is(err, carbonara.ErrCorrupt) || p.Len() != 0 {
				t.Fatal(err)
			}
			continue
		}
		batch := carbonara.Batch{Series: []carbonara.Series{{Plan: carbonara.NewPlan([]time.Duration{time.Minute},
			[]carbonara.Method{carbonara.Sum}),
			To: p.Len(), Packed: &p}}}
		err := carbonara.NewCPUResampler(1).Resample(context.Background(), &batch, new(carbonara.Result))
		if _, _, wrong := carbonara.DecodeRaw(src, nil, nil); (err != nil) != (wrong != nil) ||
			err != nil && !errors.Is(err, carbonara.ErrCorrupt) {
			t.Fatalf("byte %d: %v, want %v", i, err, wrong)
		}
		if err != nil {
			found++
		}
	}
	if found == 0 {
		t.Error("nothing was found when decoding")
	}
}
