package carbonara_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Splits are the same bytes whether they are encoded eight numbers at a time or one by one, and are decoded in either
// way.
func TestSplitsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 21))
	f := func(name string, g *carbonara.Groups) {
		t.Helper()
		src := carbonara.AppendSplit(nil, testKey, g)
		carbonara.WithoutAVX512(func() {
			if plain := carbonara.AppendSplit(nil, testKey, g); !bytes.Equal(plain, src) {
				t.Errorf("%s: %d bytes, and one by one %d others", name, len(src), len(plain))
			}
			wantGroups(t, mustDecodeSplit(t, src, testKey, g.Columns), g)
		})
		wantGroups(t, mustDecodeSplit(t, src, testKey, g.Columns), g)
	}
	for _, p := range splitPatterns {
		f(p.name, splitGroups(p, testKey, columnsOf7, consecutive(1500), 3))
	}
	for _, measures := range []int{1, 2, 12, 61} {
		f("gauge", resampledSplit(1, measures, 1100))
		f("tailed", resampledGroups(measures, 1100, tailed(rng, 1, 12)))
		f("random", resampledGroups(measures, 300, func(int) float64 { return rng.NormFloat64() }))
	}
}
