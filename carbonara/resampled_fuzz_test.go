package carbonara_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
)

// tailed returns values of so many digits after the point, most of them small, some up to 2^tail times as large.
func tailed(rng *rand.Rand, digits, tail int) func(int) float64 {
	power := math.Pow10(digits)
	return func(int) float64 {
		v := rng.ExpFloat64() * 50
		if rng.IntN(20) == 0 {
			v *= math.Exp2(rng.Float64() * float64(tail))
		}
		return math.Round(v*power) / power
	}
}

// Groups made of measures of any size, some of them the fuzzer's own bits, come back from splits bit for bit, also from
// operands that fold; and their zones hold them.
func FuzzResampledSplits(f *testing.F) {
	f.Add(uint64(1), uint8(12), uint16(100), uint8(0), uint8(10), []byte{})
	f.Add(uint64(2), uint8(1), uint16(1100), uint8(2), uint8(3), []byte{})
	f.Add(uint64(3), uint8(2), uint16(300), uint8(1), uint8(40),
		[]byte("\x00\x00\x00\x00\x00\x00\xf0\x7f\x01\x00\x00\x00\x00\x00\xf8\x7f"))
	f.Add(uint64(4), uint8(7), uint16(200), uint8(10), uint8(25), []byte{1, 2, 3, 4, 5, 6, 7, 128})
	f.Add(uint64(5), uint8(3), uint16(700), uint8(15), uint8(60), []byte{})
	f.Add(uint64(1), uint8(54), uint16(100), uint8(5), uint8(36), []byte{}) // see TestBytesDependOnGroupsOnly
	f.Fuzz(func(t *testing.T, seed uint64, measures uint8, n uint16, digits, tail uint8, odd []byte) {
		groups := 1 + int(n)%1300
		perGroup := 1 + int(measures)%16
		rng := rand.New(rand.NewPCG(seed, 1))
		value := tailed(rng, int(digits%17), int(tail%64))
		all := resampledGroups(perGroup, groups, func(i int) float64 {
			if v := value(i); len(odd) < 8 || i%5 > 0 {
				return v
			}
			v := math.Float64frombits(binary.LittleEndian.Uint64(odd))
			odd = odd[8:]
			return v
		})
		src := carbonara.AppendSplit(nil, testKey, all)
		wantGroups(t, mustDecodeSplit(t, src, testKey, all.Columns), all)
		lo := rng.IntN(groups)
		hi := lo + rng.IntN(groups-lo)
		var operands [][]byte
		for _, cut := range [][2]int{{0, hi}, {lo, groups}} {
			rows := all.Slice(cut[0], cut[1])
			operands = append(operands, carbonara.AppendSplit(nil, testKey, &rows))
		}
		if merged := mustMergeSplits(t, operands); string(merged) != string(src) {
			t.Fatal("operands do not fold into the split of all groups")
		}
	})
}
