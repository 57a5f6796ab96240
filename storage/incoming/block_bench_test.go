package incoming_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

func benchRequests() map[string]*model.Measures {
	rng := rand.New(rand.NewPCG(1, 1))
	same := request(rng, slices.Repeat([]int{1}, 10_000)...)
	for i := range same.Timestamps {
		same.Timestamps[i] = carbonara.FromTime(accepted)
	}
	return map[string]*model.Measures{
		"pattern=same-time/metrics=10000/measures=1": same,
		"pattern=random/metrics=10000/measures=1":    request(rng, slices.Repeat([]int{1}, 10_000)...),
		"pattern=regular/metrics=100/measures=100":   request(rng, slices.Repeat([]int{100}, 100)...),
		"pattern=uneven/metrics=2/measures=5000":     request(rng, 4_999, 5_001),
	}
}

func BenchmarkAppendBlock(b *testing.B) {
	for name, m := range benchRequests() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			pick, block := all(m), []byte(nil)
			for b.Loop() {
				block = incoming.AppendBlock(block[:0], m, pick, accepted)
			}
			perMeasure(b, m.Len())
			b.ReportMetric(float64(len(block))/float64(m.Len()), "B/measure")
			check(b, block, m)
		})
	}
}

func BenchmarkDecodeBlock(b *testing.B) {
	for name, m := range benchRequests() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			block := incoming.AppendBlock(nil, m, all(m), accepted)
			var got model.Measures
			for b.Loop() {
				got.Reset()
				if _, err := incoming.DecodeBlock(block, &got); err != nil {
					b.Fatal(err)
				}
			}
			perMeasure(b, m.Len())
			check(b, block, &got)
		})
	}
}

func perMeasure(b *testing.B, measures int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(measures), "ns/measure")
}

func check(b *testing.B, block []byte, want *model.Measures) {
	b.Helper()
	var got model.Measures
	if _, err := incoming.DecodeBlock(block, &got); err != nil || !equal(&got, want) {
		b.Fatalf("block does not decode to what it was made of: %v", err)
	}
}
