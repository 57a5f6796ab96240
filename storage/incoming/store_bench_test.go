package incoming_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// BenchmarkAppend is clients that wait for their answers before they send again, encoding included; fs=memory shows
// what the processor has to do, fs=disk adds the syncs. cpu-ns/measure is of the whole process.
func BenchmarkAppend(b *testing.B) {
	for _, fs := range []string{"memory", "disk"} {
		for _, c := range []struct {
			name    string
			metrics int
			clients int
		}{
			{"metrics=1/clients=1", 1, 1},
			{"metrics=1/clients=128", 1, 128},
			{"metrics=10000/clients=1", 10_000, 1},
			{"metrics=10000/clients=8", 10_000, 8},
		} {
			b.Run("fs="+fs+"/"+c.name, func(b *testing.B) { benchmarkAppend(b, fs, c.metrics, c.clients) })
		}
	}
}

func benchmarkAppend(b *testing.B, fs string, metrics, clients int) {
	const sacks = 16
	var syncs atomic.Int64
	options := incoming.Options{Sacks: sacks, FS: vfs.Default}
	if fs == "memory" {
		options.FS = vfs.NewMem()
	}
	options.FS = slowSyncs(options.FS, &syncs, 0)
	s, err := incoming.Open(options.FS.PathJoin(b.TempDir(), "incoming"), options)
	fatal.If(b, err)
	defer closeStore(b, s)
	m := request(rand.New(rand.NewPCG(1, 1)), slices.Repeat([]int{1}, metrics)...)
	picks := make([][]int, sacks)
	for i, id := range m.Metrics {
		sack := model.Sack(id, sacks)
		picks[sack] = append(picks[sack], i)
	}
	syncs.Store(0)
	stop := drainAll(s, sacks)
	defer stop()

	b.ReportAllocs()
	b.SetParallelism(max(1, clients/runtime.GOMAXPROCS(0)))
	before := processorTime()
	b.ResetTimer()
	client := func(next func() bool) {
		var data []byte
		var blocks []incoming.Block
		for next() {
			data, blocks = data[:0], blocks[:0]
			for sack, pick := range picks {
				if len(pick) > 0 {
					from := len(data)
					data = incoming.AppendBlock(data, m, pick, accepted)
					blocks = append(blocks, incoming.Block{Sack: sack, Data: data[from:]})
				}
			}
			if err := s.Append(b.Context(), blocks); err != nil {
				b.Error(err)
			}
		}
	}
	if clients == 1 {
		left := b.N
		client(func() bool { left--; return left >= 0 })
	} else {
		b.RunParallel(func(pb *testing.PB) { client(pb.Next) })
	}
	b.StopTimer()
	perMeasure(b, metrics)
	b.ReportMetric(float64((processorTime()-before).Nanoseconds())/float64(b.N*metrics), "cpu-ns/measure")
	b.ReportMetric(float64(syncs.Load())/float64(b.N), "syncs/op")
	if n := s.Accepted(); n != b.N*metrics {
		b.Errorf("%d measures, want %d", n, b.N*metrics)
	}
}

// drainAll is a reader that keeps up, and acknowledges now and then.
func drainAll(s *incoming.Store, sacks int) (stop func()) {
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		after := make([]uint64, sacks)
		for tick := 0; ; tick++ {
			for sack := range sacks {
				records, _ := s.Drain(sack, after[sack], 16<<20)
				if len(records) > 0 {
					after[sack] = records[len(records)-1].Sequence
				}
				if tick%100 == 0 {
					s.Acknowledge(sack, after[sack])
				}
			}
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	return func() { close(done); <-ended }
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkDrain reads a backlog of a sack, from memory and from Pebble.
func BenchmarkDrain(b *testing.B) {
	for _, from := range []string{"memory", "store"} {
		b.Run("from="+from+"/records=100/metrics=625", func(b *testing.B) {
			options := incoming.Options{Sacks: 1}
			if from == "store" {
				options.RecentBytes = 1
			}
			s := open(b, options)
			defer closeStore(b, s)
			m := request(rand.New(rand.NewPCG(1, 1)), slices.Repeat([]int{1}, 625)...)
			block := []incoming.Block{{Sack: 0, Data: incoming.AppendBlock(nil, m, all(m), accepted)}}
			for range 100 {
				appendBlocks(b, s, block)
			}
			b.ReportAllocs()
			var got model.Measures
			for b.Loop() {
				records, err := s.Drain(0, 0, 1<<30)
				fatal.If(b, err)
				got.Reset()
				for _, r := range records {
					if _, err := incoming.DecodeBlock(r.Block, &got); err != nil {
						b.Fatal(err)
					}
				}
				if got.Len() != 62_500 {
					b.Fatalf("%d measures", got.Len())
				}
			}
			perMeasure(b, got.Len())
		})
	}
}
