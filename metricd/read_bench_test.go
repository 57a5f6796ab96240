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

// BenchmarkRead reads the mean of a metric's last groups in the states that a server is in: everything compacted, as
// after a restart; in many operands, as after many checkpoints; half of the measures in heads, as after a load; and the
// same while a measure of every metric comes in between two reads, which is not counted.
func BenchmarkRead(b *testing.B) {
	metrics, days := 10, 5
	if testing.Short() {
		metrics, days = 2, 1
	}
	for _, state := range []string{"compacted", "operands", "heads", "fed"} {
		f := func(granularity time.Duration, groups int) {
			b.Run(fmt.Sprintf("state=%s/granularity=%v/groups=%d", state, granularity.Seconds(), groups),
				func(b *testing.B) {
					n, m, end, next := loaded(b, state, metrics, days)
					defer n.Stop(context.Background())
					benchmarkRead(b, n, m, end, next, state, granularity, groups)
				})
		}
		f(time.Minute, 60)
		f(time.Minute, 1440)
		f(time.Hour, 720)
	}
}

func benchmarkRead(b *testing.B, n *testnode.Node, m []uuid.UUID, end carbonara.Timestamp,
	next func() carbonara.Timestamp, state string, granularity time.Duration, groups int) {
	ctx := context.Background()
	mean, err := carbonara.ParseMethod("mean")
	fatal.If(b, err)
	all := metricsOf(b, n, m...)
	if state == "fed" {
		end = next()
	}
	end = end.Floor(granularity).Add(granularity)
	var got carbonara.Groups
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if state == "fed" && i%len(m) == 0 {
			b.StopTimer()
			end = next().Floor(granularity).Add(granularity)
			b.StartTimer()
		}
		read := model.Read{Metric: all[i%len(all)], Granularity: granularity, Columns: mean.Columns(),
			From: end - carbonara.Timestamp(groups)*carbonara.Timestamp(granularity), To: carbonara.MaxTimestamp}
		fatal.If(b, n.Metricd.Groups(ctx, read, &got))
		if got.Len() == 0 || got.Len() > groups || got.Starts[got.Len()-1].Add(granularity) != end {
			b.Fatalf("%d groups", got.Len())
		}
	}
}

// loaded returns a node in a state, its metrics, the time of the newest measures, and what sends one more of each and
// returns its time.
func loaded(b *testing.B, state string, metrics, days int) (
	*testnode.Node, []uuid.UUID, carbonara.Timestamp, func() carbonara.Timestamp) {
	ctx := context.Background()
	n := testnode.Start(b, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	policy := newPolicy(b, "p", 0, []time.Duration{time.Minute, time.Hour, 24 * time.Hour}, "mean", "min", "max",
		"sum", "std", "count")
	fatal.If(b, n.Index.CreateArchivePolicy(ctx, policy))
	var ids []uuid.UUID
	for i := range metrics {
		ids = append(ids, uuid.UUID{15: byte(i + 1)})
		fatal.If(b, n.Index.CreateMetric(ctx, &model.Metric{ID: ids[i], ArchivePolicy: policy,
			Creator: "admin"}))
	}
	at := start
	send := func(measures int) carbonara.Timestamp {
		m := &model.Measures{Offsets: []int{0}}
		for i, id := range ids {
			m.Metrics = append(m.Metrics, id)
			for j := range measures {
				m.Timestamps = append(m.Timestamps, at+carbonara.Timestamp(j)*carbonara.Timestamp(10*time.Second))
				m.Values = append(m.Values, float64((j*7+i)%1000)/100)
			}
			m.Offsets = append(m.Offsets, len(m.Values))
		}
		fatal.If(b, n.Post(m))
		fatal.If(b, n.Metricd.Refresh(ctx, ids))
		at += carbonara.Timestamp(measures) * carbonara.Timestamp(10*time.Second)
		return at - carbonara.Timestamp(10*time.Second)
	}
	const parts = 40
	for part := range parts {
		send(days * 8640 / parts)
		if state == "operands" || part+1 == parts/2 || state == "compacted" && part+1 == parts {
			fatal.If(b, n.Metricd.Checkpoint(ctx))
		}
	}
	if state == "compacted" {
		fatal.If(b, n.Metricd.Compact(ctx))
		n.Restart(true)
	}
	return n, ids, at - carbonara.Timestamp(10*time.Second), func() carbonara.Timestamp { return send(1) }
}
