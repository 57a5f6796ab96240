package metricd

import (
	"context"
	"errors"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage"
)

// rebuildBatch holds the rebuilds of several metrics of a sack. Their raw series are resampled together, packed as the
// archive has them, on a device where that is faster. Its memory is reused for the next metrics.
type rebuildBatch struct {
	all    []*archiveRebuild // behind its length: earlier ones, to be reused
	batch  carbonara.Batch
	result carbonara.Result
	memory rebuildMemory
}

func (c *rebuildBatch) reset() { c.all, c.batch.Series = c.all[:0], c.batch.Series[:0] }

// next returns a rebuild to be loaded, and then added.
func (c *rebuildBatch) next() *archiveRebuild {
	if n := len(c.all); n < cap(c.all) {
		if v := c.all[:n+1][n]; v != nil {
			return v
		}
	}
	return new(archiveRebuild)
}

// add appends a loaded rebuild.
func (c *rebuildBatch) add(v *archiveRebuild) error {
	s, err := v.series(v.plan, v.known, carbonara.MaxTimestamp, nil)
	if err != nil {
		return err
	}
	i := len(c.all)
	v.whole = func(j int) *carbonara.Groups { return c.result.Groups(i, j) }
	c.all, c.batch.Series = append(c.all, v), append(c.batch.Series, s)
	return nil
}

// resample computes the groups of all raw series. Corrupt ones are left out and marked with a fault.
func (c *rebuildBatch) resample(ctx context.Context, resampler carbonara.Resampler) error {
	if len(c.all) == 0 {
		return nil
	}
	err := resampler.Resample(ctx, &c.batch, &c.result)
	if !errors.Is(err, storage.ErrCorrupt) {
		return err
	}
	for i, v := range c.all {
		s := &c.batch.Series[i]
		if _, _, v.fault = v.raw.Append(nil, nil, s.From, s.To); v.fault != nil {
			s.To = s.From
		}
	}
	return resampler.Resample(ctx, &c.batch, &c.result)
}
