package metricd_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// meeting resamples once two callers have come.
type meeting struct {
	carbonara.Resampler
	both sync.WaitGroup
}

func (m *meeting) Resample(ctx context.Context, batch *carbonara.Batch, result *carbonara.Result) error {
	m.both.Done()
	met := make(chan struct{})
	go func() { m.both.Wait(); close(met) }()
	select {
	case <-met:
	case <-time.After(2 * time.Minute):
		return errors.New("nobody else came")
	}
	return m.Resampler.Resample(ctx, batch, result)
}

// A stop writes down as many sacks at a time as there are workers.
func TestCheckpointsOfSeveralSacks(t *testing.T) {
	m := &meeting{Resampler: carbonara.NewCPUResampler(1)}
	m.both.Add(2)
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 2, Workers: 2, Resampler: m})
	defer n.Stop(context.Background())
	policy := newPolicy(t, "p", 0, []time.Duration{time.Minute}, "count")
	fatal.If(t, n.Index.CreateArchivePolicy(t.Context(), policy))
	for sack := range 2 {
		id := uuid.New()
		for n.Metricd.Sack(id) != sack {
			id = uuid.New()
		}
		fatal.If(t, n.Index.CreateMetric(t.Context(), &model.Metric{ID: id, ArchivePolicy: policy,
			Creator: "admin"}))
		post(t, n, id, map[int]float64{1: 1})
	}
	fatal.If(t, n.Metricd.Checkpoint(t.Context()))
}
