package heads

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/roster"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A read of a window of a head takes the measures of its groups, and computes the columns that it asks for.
func TestAWindowCostsWhatItAsksFor(t *testing.T) {
	hs := &Heads{options: Options{Bytes: 1 << 20}, heads: make(map[uuid.UUID]*Head),
		lists: roster.NewTable[*Head](100)}
	plan := carbonara.NewPlan([]time.Duration{time.Minute, time.Hour}, []carbonara.Method{carbonara.Mean, carbonara.Max,
		carbonara.Std, carbonara.PercentileMethod(95)})
	h := &Head{Judge: intake.NewJudge(plan, 0)}
	h.setMetric(&model.Metric{ID: uuid.UUID{1}, ArchivePolicy: &model.ArchivePolicy{}})
	hs.heads[h.metric.ID] = h
	start := carbonara.Timestamp(1_700_000_000e9).Floor(time.Hour)
	for i := range 360 {
		hs.add(h, 0, nil, []carbonara.Timestamp{start + carbonara.Timestamp(i*10e9)}, []float64{float64(i)})
	}
	f := func(columns []carbonara.Column, from, to time.Duration, measures, kept int) {
		t.Helper()
		var b Batch
		resampler := carbonara.NewCPUResampler(1)
		b.Reset(resampler)
		fatal.If(t, b.AddWindow(h, nil, Window{0, columns, start.Add(from), start.Add(to)}))
		fatal.If(t, b.Resample(context.Background(), resampler, resampler))
		groups, from0 := b.Groups()
		if n := b.batch.Measures(); n != measures || len(groups.Columns) != kept {
			t.Errorf("%v from %v to %v: %d measures in columns %v, want %d in %d", columns, from, to, n,
				groups.Columns, measures, kept)
		}
		if from0 > start.Add(from.Truncate(time.Minute)) {
			t.Errorf("%v from %v: groups lack measures before %v", columns, from, from0.Time())
		}
	}
	f([]carbonara.Column{carbonara.ColumnMax}, 30*time.Minute, 40*time.Minute, 60, 2)
	f([]carbonara.Column{carbonara.ColumnMax}, 30*time.Minute+time.Second, 40*time.Minute-time.Second, 60, 2)
	f([]carbonara.Column{carbonara.ColumnM2}, 0, time.Hour, 360, 3)
	f([]carbonara.Column{carbonara.ColumnCount}, 59*time.Minute, 2*time.Hour, 6, 1)
	f(nil, 59*time.Minute, time.Hour, 6, 5)
}
