package carbonara_test

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// sealed makes a frame of payload: a fuzzer hardly ever finds the checksum.
func sealed(version byte, payload []byte) []byte {
	src := binary.AppendUvarint([]byte{version}, uint64(len(payload)))
	src = append(src, payload...)
	return binary.LittleEndian.AppendUint32(src, uint32(xxhash.Sum64(src)))
}

// payloadOf is the inverse of sealed.
func payloadOf(src []byte) []byte {
	_, n := binary.Uvarint(src[1:])
	return src[1+n : len(src)-4]
}

func FuzzDecodeSplit(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range splitPatterns {
		for _, positions := range positionSets(rng) {
			src := carbonara.AppendSplit(nil, testKey, splitGroups(p, testKey, columnsOf7, positions, 3))
			f.Add(src[0] == 2, payloadOf(src))
		}
	}
	f.Add(true, payloadOf(carbonara.AppendSplit(nil, testKey, resampledSplit(1, 12, 64))))
	for _, tail := range []int{0, 10, 50} {
		f.Add(true, payloadOf(carbonara.AppendSplit(nil, testKey, resampledGroups(12, 150, tailed(rng, 1, tail)))))
	}
	f.Fuzz(func(t *testing.T, vectors bool, payload []byte) {
		version := byte(1)
		if vectors {
			version = 2
		}
		g := new(carbonara.Groups)
		if err := carbonara.DecodeSplit(payload, testKey, columnsOf7, 0, carbonara.MaxTimestamp, g); err != nil &&
			!errors.Is(err, carbonara.ErrCorrupt) {
			t.Fatal(err)
		}
		src := sealed(version, payload)
		info, infoErr := carbonara.SplitInfo(src)
		var columns []carbonara.Column
		for _, c := range info.Columns {
			columns = append(columns, c.Column)
		}
		err := carbonara.DecodeSplit(src, testKey, columns, 0, carbonara.MaxTimestamp, g)
		if err != nil {
			if !errors.Is(err, carbonara.ErrCorrupt) || g.Len() > 0 {
				t.Fatalf("%d groups, %v", g.Len(), err)
			}
			return
		}
		if infoErr != nil || g.Len() != info.Groups {
			t.Fatalf("info: %v", infoErr)
		}
		// Decoded groups, encoded again, perhaps in another way, come back the same.
		wantGroups(t, mustDecodeSplit(t, carbonara.AppendSplit(nil, testKey, g), testKey, columns), g)
		for range min(4, g.Len()) {
			lo := rng.IntN(g.Len())
			hi := lo + 1 + rng.IntN(g.Len()-lo)
			part := new(carbonara.Groups)
			to := g.Starts[hi-1] + carbonara.Timestamp(time.Minute)
			fatal.If(t, carbonara.DecodeSplit(src, testKey, columns, g.Starts[lo], to, part))
			rows := g.Slice(lo, hi)
			wantGroups(t, part, &rows)
		}
	})
}

func FuzzDecodeRaw(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, kind := range rawKinds {
		for _, n := range []int{0, 1, 2, 10, 700} {
			timestamps, values := kind.make(rng, n)
			version := carbonara.AppendRaw(nil, 0, timestamps, values)[0] - 1
			f.Add(version, payloadOf(carbonara.AppendRaw(nil, 0, timestamps, values)), []byte(nil))
			f.Add(version, payloadOf(carbonara.AppendRaw(nil, kind.at(n/2), timestamps, values)),
				payloadOf(carbonara.AppendRaw(nil, 0, timestamps, values)))
		}
	}
	f.Fuzz(func(t *testing.T, version byte, first, second []byte) {
		version = 1 + version&1
		if _, _, err := carbonara.DecodeRaw(first, nil, nil); err != nil && !errors.Is(err, carbonara.ErrCorrupt) {
			t.Fatal(err)
		}
		src := slices.Concat(sealed(version, first), sealed(version, second))
		timestamps, values, err := carbonara.DecodeRaw(src, nil, nil)
		if err != nil {
			if !errors.Is(err, carbonara.ErrCorrupt) || len(timestamps)+len(values) > 0 {
				t.Fatalf("%d measures, %v", len(timestamps), err)
			}
			var p carbonara.Packed
			if err := p.Parse(src); err == nil {
				_, _, err = p.Append(nil, nil, 0, p.Len())
				if err != nil && !errors.Is(err, carbonara.ErrCorrupt) {
					t.Fatal(err)
				}
			}
			return
		}
		merged, err := carbonara.MergeRaw(nil, [][]byte{sealed(version, first), sealed(version, second)})
		fatal.If(t, err)
		gotTimestamps, gotValues, err := carbonara.DecodeRaw(merged, nil, nil)
		fatal.If(t, err)
		wantMeasures(t, gotTimestamps, gotValues, timestamps, values)
		wantPacked(t, src, timestamps, values)
		if end, err := carbonara.EndOfRaw(src); err != nil || end.Any != (len(timestamps) > 0) ||
			end.Any && end.Newest != timestamps[len(timestamps)-1] {
			t.Fatalf("end: %v, %v", end, err)
		}
		wantMeasuresSince(t, src, timestamps, values)
	})
}

func FuzzSplitRoundTrip(f *testing.F) {
	f.Add(uint64(1), uint16(5), uint8(0), []byte{1, 2, 3})
	f.Add(uint64(2), uint16(700), uint8(6), []byte("\x00\x00\x00\x00\x00\x00\xf8\x7f\x01\x00\x00\x00\x00\x00\xf8\x7f"))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, pattern uint8, odd []byte) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var positions []int
		stretch := 1 + rng.IntN(4)
		for i := 0; i < carbonara.GroupsPerSplit && len(positions) < int(n); i += 1 + rng.IntN(stretch) {
			positions = append(positions, i)
		}
		g := splitGroups(splitPatterns[int(pattern)%len(splitPatterns)], testKey, columnsOf7, positions, seed)
		// The fuzzer's own bytes as values of the sum column.
		for i := 0; len(odd) >= 8 && i < g.Len(); i, odd = i+1, odd[8:] {
			var bits uint64
			for b := range 8 {
				bits |= uint64(odd[b]) << (8 * b)
			}
			g.Values[1][i] = math.Float64frombits(bits)
		}
		src := carbonara.AppendSplit(nil, testKey, g)
		wantGroups(t, mustDecodeSplit(t, src, testKey, columnsOf7), g)
		if again := mustMergeSplits(t, [][]byte{src}); string(again) != string(src) {
			t.Fatal("a decoded split is encoded in another way")
		}
	})
}
