package rebuild

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// Options of a rebuild. All are needed.
type Options struct {
	Store          *archive.Store
	KeepsUnsettled bool                    // a metric of the store has, or had, unsettled measures
	Resampler      carbonara.Resampler     // for the raw series of many archives
	Plain          *carbonara.CPUResampler // for few measures
	Logger         *slog.Logger
	Unchanged      func(*model.Metric) // called for archives that have the schema already
}

// How much is done at a time: until then a sack's measures wait.
const (
	MostMetrics  = 100
	mostTime     = 100 * time.Millisecond
	mostBytes    = 8 << 20
	mostMeasures = 4 << 20 // resampled together: 40 ms of a core, or more
)

// Archives adds the rebuilds of the first metrics' archives to c, as many as it returns outcomes. A nil metric is gone.
func (b *Batch) Archives(ctx context.Context, metrics []*model.Metric, c *archive.Checkpoint,
	o *Options) (changed []uuid.UUID, outcomes []model.RebuildCounts, err error) {
	started := time.Now()
	defer b.result.Release() // borrowed memory
	b.reset()
	var places []int // of the rebuilds among the metrics
	measures := 0
	for i, m := range metrics {
		if i > 0 && (time.Since(started) > mostTime/2 || measures > mostMeasures) {
			break
		}
		v, err := b.load(o, m)
		switch {
		case errors.Is(err, storage.ErrCorrupt):
			outcomes = append(outcomes, o.failed(m, err))
		case err != nil:
			return nil, nil, err
		case v == nil:
			outcomes = append(outcomes, model.RebuildCounts{Unchanged: 1})
		default:
			outcomes = append(outcomes, model.RebuildCounts{Changed: 1})
			places = append(places, i)
			measures += v.raw.Len()
		}
	}
	if err := b.resample(ctx, o.Resampler); err != nil {
		return nil, nil, err
	}
	for k, v := range b.all {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if k > 0 && (time.Since(started) > mostTime || c.Bytes() > mostBytes) {
			return changed, outcomes[:places[k]], nil
		}
		change, err := v.checkpoint(ctx, &b.memory)
		switch {
		case errors.Is(err, storage.ErrCorrupt):
			outcomes[places[k]] = o.failed(v.metric, err)
		case err != nil:
			return nil, nil, err
		default:
			outcomes[places[k]].Unknown = v.unknown
			changed = append(changed, v.metric.ID)
			c.Add(change)
		}
	}
	return changed, outcomes, nil
}

func (o *Options) failed(m *model.Metric, err error) model.RebuildCounts {
	o.Logger.Error("archive not rebuilt; it keeps its schema", "metric", m.ID, "error", err)
	return model.RebuildCounts{Failed: 1, Fault: fmt.Sprintf("metric %s: %v", m.ID, err)}
}

// load returns the rebuild of a metric's archive and adds it to the batch. It returns nil if the archive matches the
// policy, or if the metric is gone (nil).
func (b *Batch) load(o *Options, metric *model.Metric) (*archiveRebuild, error) {
	if metric == nil {
		return nil, nil
	}
	end, err := o.Store.RawEnd(metric.ID)
	if err != nil {
		return nil, err
	}
	schema, err := o.Store.Schema(metric.ID)
	if err != nil {
		return nil, err
	}
	if !end.Any || len(schema) == 0 || schema.Matches(metric.ArchivePolicy.Plan()) {
		o.Unchanged(metric)
		return nil, nil
	}
	v := b.next()
	if err := v.load(o, metric, schema, end); err != nil {
		return nil, err
	}
	return v, b.add(v)
}
