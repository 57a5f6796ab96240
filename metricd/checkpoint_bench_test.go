package metricd_test

import (
	"context"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// BenchmarkCheckpoint processes one measure each of many metrics, of six methods at two granularities, and writes what
// the heads gained.
func BenchmarkCheckpoint(b *testing.B) { benchmarkCheckpoint(b) }

// BenchmarkCheckpointOfThresholds is BenchmarkCheckpoint with methods that have a threshold beside the six.
func BenchmarkCheckpointOfThresholds(b *testing.B) {
	b.Run("thresholds=1", func(b *testing.B) { benchmarkCheckpoint(b, "share_above(90)") })
	b.Run("thresholds=3", func(b *testing.B) {
		benchmarkCheckpoint(b, "share_above(90)", "share_above(99)", "count_below(0.5)")
	})
}

func benchmarkCheckpoint(b *testing.B, more ...string) {
	metrics := 2000
	if testing.Short() {
		metrics = 10
	}
	ctx := context.Background()
	n := testnode.Start(b, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(ctx)
	policy := newPolicy(b, "p", 0, []time.Duration{time.Minute, time.Hour},
		append(more, "mean", "min", "max", "sum", "std", "count")...)
	fatal.If(b, n.Index.CreateArchivePolicy(ctx, policy))
	m := &model.Measures{Offsets: []int{0}}
	for i := range metrics {
		id := uuid.New()
		fatal.If(b, n.Index.CreateMetric(ctx, &model.Metric{ID: id, ArchivePolicy: policy,
			Creator: "admin"}))
		m.Metrics = append(m.Metrics, id)
		m.Timestamps, m.Values = append(m.Timestamps, start), append(m.Values, float64(i%100))
		m.Offsets = append(m.Offsets, len(m.Values))
	}
	tick := 0
	b.ReportAllocs()
	for b.Loop() {
		tick++
		for i := range m.Timestamps {
			m.Timestamps[i] = start + carbonara.Timestamp(tick)*carbonara.Timestamp(10*time.Second)
		}
		fatal.If(b, n.Post(m))
		fatal.If(b, n.Metricd.Checkpoint(ctx))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*metrics), "ns/measure")
	if rows := n.Read(m.Metrics[0], time.Minute).Len(); rows != 1+tick/6 {
		b.Errorf("%d groups after %d ticks", rows, tick)
	}
}
