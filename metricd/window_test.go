package metricd_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// A read of some columns of a window gives what a read of everything has there, wherever the measures are.
func TestWindowsAreLikeTheWhole(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, methods := range [][]string{{"mean", "max", "std", "first", "last"}, {"sum", "95pct", "min"},
		{"mean", "rate:mean", "rate:max", "count"}} {
		n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
		policy := newPolicy(t, "p", 2, []time.Duration{time.Minute, 7 * time.Minute}, methods...)
		fatal.If(t, n.Index.CreateArchivePolicy(ctx, policy))
		for round := range 150 { // a metric that is read again may have recent groups
			id := uuid.UUID{14: byte(round), 15: 1}
			fatal.If(t, n.Index.CreateMetric(ctx, &model.Metric{ID: id, ArchivePolicy: policy,
				Creator: "admin"}))
			end := fill(t, n, rng, id, rng.IntN(3) == 0)
			metric, columns := metricsOf(t, n, id)[0], policy.Plan().Columns
			granularity := policy.Granularities()[rng.IntN(2)]
			from := start + carbonara.Timestamp(rng.Int64N(int64(end-start)+1))
			read := model.Read{Metric: metric, Granularity: granularity, From: from.Floor(granularity),
				To: from + carbonara.Timestamp(rng.IntN(1800)*1e9)}
			for _, c := range columns {
				if rng.IntN(2) == 0 {
					read.Columns = append(read.Columns, c)
				}
			}
			all := model.Read{Metric: metric, Granularity: granularity, Columns: columns, To: carbonara.MaxTimestamp}
			var want, got carbonara.Groups
			fatal.If(t, n.Metricd.Groups(ctx, read, &got))
			fatal.If(t, n.Metricd.Groups(ctx, all, &want))
			first := want.Search(read.From)
			part := want.Slice(first, max(first, want.Search(read.To)))
			if !sameBits(&got, &part) {
				t.Fatalf("%v, columns %v of [%d, %d): %v %v, want %v %v", methods, read.Columns, read.From, read.To,
					got.Starts, got.Values, part.Starts, part.Values)
			}
		}
		n.Stop(ctx)
	}
}

// fill sends a metric measures in some batches, with checkpoints between them, and returns the time of the newest.
func fill(t *testing.T, n *testnode.Node, rng *rand.Rand, id uuid.UUID, late bool) (at carbonara.Timestamp) {
	t.Helper()
	at = start
	for range 1 + rng.IntN(8) {
		m := &model.Measures{Metrics: []uuid.UUID{id}, Offsets: []int{0}}
		for range 1 + rng.IntN(20) {
			at += carbonara.Timestamp(rng.IntN(40) * 1e9)
			m.Timestamps, m.Values = append(m.Timestamps, at), append(m.Values, rng.Float64())
			if late && rng.IntN(5) == 0 {
				m.Timestamps[len(m.Timestamps)-1] = max(start, at-carbonara.Timestamp(rng.IntN(900)*1e9))
			}
		}
		m.Offsets = append(m.Offsets, len(m.Values))
		fatal.If(t, n.Post(m))
		fatal.If(t, n.Metricd.Refresh(context.Background(), []uuid.UUID{id}))
		if rng.IntN(3) == 0 {
			checkpoint(t, n)
		}
	}
	return at
}

// sameBits reports whether got has the groups of want, and those of its columns that it has.
func sameBits(got, want *carbonara.Groups) bool {
	if got.Len() != want.Len() {
		return false
	}
	for i, at := range got.Starts {
		if at != want.Starts[i] {
			return false
		}
		for c, column := range got.Columns {
			a, b := got.Values[c][i], want.Column(column)[i]
			if a != b && (a == a || b == b) {
				return false
			}
		}
	}
	return true
}
