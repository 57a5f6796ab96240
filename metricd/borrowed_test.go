package metricd_test

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// allocator resamples as a device does: batches and groups lie in memory that it lends, and spoils once it has it back.
type allocator struct {
	cpu      *carbonara.CPUResampler
	borrowed atomic.Int64 // batches that lay there
	kept     atomic.Int64 // results out
	plans    atomic.Int64 // runs of series with one plan
	slow     atomic.Bool  // for any batch
}

// Accelerates implements carbonara.Accelerated.
func (l *allocator) Accelerates(*carbonara.Plan, int, int, int) bool { return !l.slow.Load() }

type loan struct {
	of         *atomic.Int64
	timestamps []carbonara.Timestamp
	values     []float64
}

func (l *loan) Release() {
	for i := range l.timestamps {
		l.timestamps[i] = -1
	}
	for i := range l.values {
		l.values[i] = math.Inf(-1)
	}
	l.of.Add(-1)
}

func (l *allocator) Allocate(measures int) carbonara.Columns {
	c := carbonara.Columns{Timestamps: make([]carbonara.Timestamp, 0, measures), Values: make([]float64, 0, measures)}
	c.Memory = &loan{of: new(atomic.Int64), timestamps: c.Timestamps[:measures], values: c.Values[:measures]}
	return c
}

func (l *allocator) Resample(ctx context.Context, batch *carbonara.Batch, result *carbonara.Result) error {
	var computed carbonara.Result
	if err := l.cpu.Resample(ctx, batch, &computed); err != nil {
		return err
	}
	if memory, ok := batch.Borrowed().(*loan); ok && len(batch.Values) > 0 && &memory.values[0] == &batch.Values[0] {
		l.borrowed.Add(1)
	}
	w := result.Writers(nil, batch, 1)[0]
	var last *carbonara.Plan
	for i := range batch.Series {
		if plan := batch.Series[i].Plan; plan != last {
			last = plan
			l.plans.Add(1)
		}
		for j := range batch.Series[i].Plan.Granularities {
			from, to := computed.Groups(i, j), w.Refer(i, j)
			n := from.Len()
			memory := &loan{of: &l.kept, timestamps: slices.Clone(from.Starts),
				values: make([]float64, n*len(from.Values))}
			to.Starts = memory.timestamps
			for c, values := range from.Values {
				to.Values[c] = memory.values[c*n : (c+1)*n : (c+1)*n]
				copy(to.Values[c], values)
			}
			l.kept.Add(1)
			w.Keep(memory)
		}
	}
	return nil
}

// Checkpoints take what the resampler lends, and give it back having kept no slice of it. A batch holds 16 Ki measures
// where more are no faster.
func TestCheckpointsInLentMemory(t *testing.T) {
	l := &allocator{cpu: carbonara.NewCPUResampler(1)}
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1, Resampler: l})
	defer n.Stop(context.Background())
	var ids []uuid.UUID
	policies := []*model.ArchivePolicy{
		newPolicy(t, "plain", 0, []time.Duration{time.Minute, time.Hour}, "mean", "rate:max"),
		newPolicy(t, "median", 0, []time.Duration{time.Minute, time.Hour}, "median"),
	}
	for i := range 10 {
		ids = append(ids, createMetric(t, n, policies[i%2]))
	}
	const each = 2000 // a measure a second
	want := make(map[int]float64)
	for round := range 4 {
		runs, batches := int64(2), int64(round+1)
		if round == 3 {
			l.slow.Store(true)
			runs, batches = 3, batches+1
		}
		for _, id := range ids {
			measures := make(map[int]float64)
			for i := range each {
				second := round*each + i
				measures[second] = float64(second / 60)
				want[second/60*60] = float64(second / 60)
			}
			post(t, n, id, measures)
		}
		before := l.plans.Load()
		checkpoint(t, n)
		if got := l.plans.Load() - before; got != runs {
			t.Errorf("metrics of two policies in %d runs, not %d", got, runs)
		}
		if l.borrowed.Load() != batches {
			t.Errorf("%d of %d batches in borrowed memory", l.borrowed.Load(), batches)
		}
		if l.kept.Load() != 0 {
			t.Errorf("%d results still out", l.kept.Load())
		}
		for i, id := range ids {
			requireValues(t, values(t, n, id, time.Minute, []carbonara.Method{carbonara.Mean, carbonara.Median}[i%2]),
				want)
		}
	}
}
