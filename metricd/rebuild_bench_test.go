package metricd_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// BenchmarkRebuild changes the policy of metrics with a week of minutes, a hundred in one sack.
func BenchmarkRebuild(b *testing.B) {
	metrics, minutes := 100, 7*24*60
	if testing.Short() {
		metrics, minutes = 3, 100
	}
	policy := func(methods []string, granularities ...time.Duration) *model.ArchivePolicy {
		return newPolicy(b, "p", 0, granularities, methods...)
	}
	hour, minute := time.Hour, time.Minute
	six := []string{"mean", "min", "max", "sum", "std", "count"}
	for _, change := range []struct {
		name   string
		from   *model.ArchivePolicy
		change *model.ArchivePolicy
	}{
		{"add=hour", policy(six, minute), policy(six, minute, hour)},
		{"add=95pct", policy(six, minute, hour), policy(append([]string{"95pct"}, six...), minute, hour)},
		{"drop=std", policy(six, minute, hour), policy([]string{"mean", "min", "max", "sum", "count"}, minute, hour)},
		{"nothing", policy(six, minute, hour), policy(six, minute, hour)},
	} {
		b.Run(change.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				n, ids := weekOfMinutes(b, change.from, metrics, minutes)
				changePolicy(b, n, change.change)
				b.StartTimer()
				done, err := n.Rebuild(context.Background(), ids...)
				b.StopTimer()
				if err != nil || done.Changed+done.Unchanged != metrics ||
					done.Changed > 0 == (change.name == "nothing") {
					b.Fatal(done, err)
				}
				n.Stop(context.Background())
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*metrics), "µs/metric")
		})
	}
}

// weekOfMinutes starts a node with metrics of a policy that have a measure each minute.
func weekOfMinutes(b *testing.B, policy *model.ArchivePolicy, metrics, minutes int) (*testnode.Node, []uuid.UUID) {
	n := testnode.Start(b, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	fatal.If(b, n.Index.CreateArchivePolicy(context.Background(), policy))
	m := &model.Measures{Offsets: []int{0}}
	for i := range metrics {
		id := uuid.New()
		fatal.If(b, n.Index.CreateMetric(context.Background(), &model.Metric{ID: id, ArchivePolicy: policy,
			Creator: "admin", Name: fmt.Sprint(i)}))
		m.Metrics = append(m.Metrics, id)
		for minute := range minutes {
			m.Timestamps = append(m.Timestamps, start+carbonara.Timestamp(minute)*carbonara.Timestamp(time.Minute))
			m.Values = append(m.Values, float64((minute*7+i)%100))
		}
		m.Offsets = append(m.Offsets, len(m.Values))
	}
	fatal.If(b, n.Post(m))
	fatal.If(b, n.Metricd.Checkpoint(context.Background()))
	return n, m.Metrics
}
