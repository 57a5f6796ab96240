package metricd

import (
	"context"
	"errors"

	"gnocco/carbonara"
)

// conversions are those of some metrics of a sack, whose raw series are resampled together, packed as the archive has them: on a
// device, where that is faster. They are used again for the next metrics.
type conversions struct {
	all    []*conversion // and, behind its length, those of before
	batch  carbonara.Batch
	result carbonara.Result
	memory conversionMemory
}

func (c *conversions) reset() { c.all, c.batch.Series = c.all[:0], c.batch.Series[:0] }

// next returns a conversion to be loaded, and then added.
func (c *conversions) next() *conversion {
	if n := len(c.all); n < cap(c.all) {
		if v := c.all[:n+1][n]; v != nil {
			return v
		}
	}
	return new(conversion)
}

// add appends a conversion that was loaded.
func (c *conversions) add(v *conversion) error {
	s, err := v.series(v.plan, v.known, carbonara.MaxTimestamp, nil)
	if err != nil {
		return err
	}
	i := len(c.all)
	v.whole = func(j int) *carbonara.Groups { return c.result.Groups(i, j) }
	c.all, c.batch.Series = append(c.all, v), append(c.batch.Series, s)
	return nil
}

// resample computes the groups of all raw series. Those that are corrupt are left out, with a fault.
func (c *conversions) resample(ctx context.Context, resampler carbonara.Resampler) error {
	if len(c.all) == 0 {
		return nil
	}
	err := resampler.Resample(ctx, &c.batch, &c.result)
	if !errors.Is(err, carbonara.ErrCorrupt) {
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
