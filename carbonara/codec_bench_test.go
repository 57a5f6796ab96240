package carbonara_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// splitBenchmarks calls f for the patterns, at the size of operands and of whole splits.
func splitBenchmarks(b *testing.B, f func(b *testing.B, g *carbonara.Groups)) {
	for _, p := range splitPatterns {
		for _, n := range []int{1, 30, carbonara.GroupsPerSplit} {
			if p.name == "anything" || p.name == "anybits" {
				continue
			}
			b.Run(fmt.Sprintf("pattern=%s/groups=%d", p.name, n), func(b *testing.B) {
				f(b, splitGroups(p, testKey, columnsOf7, consecutive(n), 3))
			})
		}
	}
}

// reportSplit reports the size of all columns (plainly stored, the 7 and a timestamp took 64 bytes a group) and the
// time that a value of those encoded or decoded took.
func reportSplit(b *testing.B, src []byte, groups, columns int) {
	b.SetBytes(int64(8 * groups * columns))
	b.ReportMetric(float64(len(src))/float64(groups), "bytes/group")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(groups*columns), "ns/value")
}

func BenchmarkAppendSplit(b *testing.B) {
	splitBenchmarks(b, func(b *testing.B, g *carbonara.Groups) {
		b.ReportAllocs()
		var src []byte
		for b.Loop() {
			src = carbonara.AppendSplit(src[:0], testKey, g)
		}
		reportSplit(b, src, g.Len(), len(columnsOf7))
		wantGroups(b, mustDecodeSplit(b, src, testKey, columnsOf7), g)
	})
}

func BenchmarkDecodeSplit(b *testing.B) {
	for _, columns := range [][]carbonara.Column{columnsOf7, {carbonara.ColumnCount, carbonara.ColumnSum}} {
		b.Run(fmt.Sprintf("columns=%d", len(columns)), func(b *testing.B) {
			splitBenchmarks(b, func(b *testing.B, g *carbonara.Groups) {
				b.ReportAllocs()
				src := carbonara.AppendSplit(nil, testKey, g)
				got := new(carbonara.Groups)
				for b.Loop() {
					got.Reset(testKey.Granularity, columns)
					fatal.If(b, carbonara.DecodeSplit(src, testKey, columns, 0, carbonara.MaxTimestamp, got))
				}
				reportSplit(b, src, g.Len(), len(columns))
				if got.Len() != g.Len() {
					b.Fatalf("%d groups, want %d", got.Len(), g.Len())
				}
			})
		})
	}
}

// BenchmarkMergeSplits folds operands of 30 groups: in order into a split of 30 times as many, and all of the same 30.
func BenchmarkMergeSplits(b *testing.B) {
	for _, p := range splitPatterns[:7] {
		for _, order := range []string{"following", "repeated"} {
			b.Run(fmt.Sprintf("pattern=%s/order=%s/operands=30", p.name, order), func(b *testing.B) {
				b.ReportAllocs()
				all := splitGroups(p, testKey, columnsOf7, consecutive(900), 3)
				var operands [][]byte
				groups := 0
				for i := range 30 {
					rows := all.Slice(0, 30)
					if order == "following" {
						rows = all.Slice(30*i, 30*i+30)
					}
					operands = append(operands, carbonara.AppendSplit(nil, testKey, &rows))
					groups += 30
				}
				var src []byte
				var err error
				for b.Loop() {
					if src, err = carbonara.MergeSplits(src[:0], testKey, operands); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(groups*7), "ns/value")
				want := all.Slice(0, 30)
				if order == "following" {
					want = all.Slice(0, 900)
				}
				wantGroups(b, mustDecodeSplit(b, src, testKey, columnsOf7), &want)
			})
		}
	}
}

func rawBenchmarks(b *testing.B, f func(b *testing.B, timestamps []carbonara.Timestamp, values []float64)) {
	for _, kind := range rawKinds {
		for _, n := range []int{1, 60, 3600} {
			b.Run(fmt.Sprintf("kind=%s/measures=%d", kind.name, n), func(b *testing.B) {
				b.ReportAllocs()
				timestamps, values := kind.make(rand.New(rand.NewPCG(1, 1)), n)
				f(b, timestamps, values)
			})
		}
	}
}

func BenchmarkAppendRaw(b *testing.B) {
	rawBenchmarks(b, func(b *testing.B, timestamps []carbonara.Timestamp, values []float64) {
		var src []byte
		for b.Loop() {
			src = carbonara.AppendRaw(src[:0], rawStart-carbonara.Timestamp(time.Hour), timestamps, values)
		}
		b.SetBytes(int64(16 * len(values)))
		b.ReportMetric(float64(len(src))/float64(len(values)), "bytes/measure")
		gotTimestamps, gotValues, err := carbonara.DecodeRaw(src, nil, nil)
		fatal.If(b, err)
		wantMeasures(b, gotTimestamps, gotValues, timestamps, values)
	})
}

func BenchmarkDecodeRaw(b *testing.B) {
	rawBenchmarks(b, func(b *testing.B, timestamps []carbonara.Timestamp, values []float64) {
		src := carbonara.AppendRaw(nil, 0, timestamps, values)
		var gotTimestamps []carbonara.Timestamp
		var gotValues []float64
		var err error
		for b.Loop() {
			if gotTimestamps, gotValues, err = carbonara.DecodeRaw(src, gotTimestamps[:0], gotValues[:0]); err != nil {
				b.Fatal(err)
			}
		}
		b.SetBytes(int64(16 * len(values)))
		wantMeasures(b, gotTimestamps, gotValues, timestamps, values)
	})
}
