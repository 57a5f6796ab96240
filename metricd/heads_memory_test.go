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

// TestHeadsKeepToTheirMemory sends measures to many more metrics than there is memory for heads, in turn. Heads of more
// metrics than one request names above the bound must never be there, and every measure counts.
func TestHeadsKeepToTheirMemory(t *testing.T) {
	const metrics, perRequest, rounds = 1_000, 100, 4
	const heads = 200 // that there is memory for
	ctx := context.Background()
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1, HeadBytes: heads * 400})
	defer n.Stop(ctx)
	policy := newPolicy(t, "p", 0, []time.Duration{time.Minute}, "mean", "count")
	fatal.If(t, n.Index.CreateArchivePolicy(ctx, policy))
	all := make([]*model.Metric, metrics)
	for i := range all {
		all[i] = &model.Metric{ID: uuid.New(), ArchivePolicy: policy, Creator: "admin"}
	}
	fatal.If(t, n.Index.CreateMetrics(ctx, all))
	for round := range rounds {
		for from := 0; from < metrics; from += perRequest {
			m := &model.Measures{Offsets: []int{0}}
			for _, metric := range all[from : from+perRequest] {
				m.Metrics = append(m.Metrics, metric.ID)
				m.Timestamps, m.Values = append(m.Timestamps, start+carbonara.Timestamp(round)*1e9), append(m.Values,
					float64(round))
				m.Offsets = append(m.Offsets, len(m.Values))
			}
			fatal.If(t, n.Post(m))
			fatal.If(t, n.Metricd.Refresh(ctx, m.Metrics[:1]))
			if held := n.Value("gnocco_metricd_heads"); held > heads+perRequest {
				t.Fatalf("round %d: %v heads where there is memory for %d", round, held, heads)
			}
		}
	}
	for _, metric := range all {
		requireValues(t, values(t, n, metric.ID, time.Minute, carbonara.Count), map[int]float64{0: rounds})
	}
}
