package rebuild

import (
	"context"
	"errors"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage"
)

// Batch holds the rebuilds of several metrics of a sack. Their raw series are resampled together, packed as the archive
// has them, on a device where that is faster. Its memory is reused for the next metrics.
type Batch struct {
	all    []*archiveRebuild // behind its length: earlier ones, to be reused
	batch  carbonara.Batch
	result carbonara.Result
	memory memory
}

func (b *Batch) reset() { b.all, b.batch.Series = b.all[:0], b.batch.Series[:0] }

// next returns a rebuild to be loaded, and then added.
func (b *Batch) next() *archiveRebuild {
	if n := len(b.all); n < cap(b.all) {
		if v := b.all[:n+1][n]; v != nil {
			return v
		}
	}
	return new(archiveRebuild)
}

// add appends a loaded rebuild.
func (b *Batch) add(v *archiveRebuild) error {
	s, err := v.series(v.plan, v.known, carbonara.MaxTimestamp, nil)
	if err != nil {
		return err
	}
	i := len(b.all)
	v.whole = func(j int) *carbonara.Groups { return b.result.Groups(i, j) }
	b.all, b.batch.Series = append(b.all, v), append(b.batch.Series, s)
	return nil
}

// resample computes the groups of all raw series. Corrupt ones are left out and marked with a fault.
func (b *Batch) resample(ctx context.Context, resampler carbonara.Resampler) error {
	if len(b.all) == 0 {
		return nil
	}
	err := resampler.Resample(ctx, &b.batch, &b.result)
	if !errors.Is(err, storage.ErrCorrupt) {
		return err
	}
	for i, v := range b.all {
		s := &b.batch.Series[i]
		if _, _, v.fault = v.raw.Append(nil, nil, s.From, s.To); v.fault != nil {
			s.To = s.From
		}
	}
	return resampler.Resample(ctx, &b.batch, &b.result)
}
