package promql

import (
	"context"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// findInner evaluates the node in the place of a selector. Its results are the pipeline's series.
func (c *computation) findInner(ctx context.Context, inner *node, e evaluation) (err error) {
	if c.Subquery != nil {
		e = e.subquery(c.Subquery)
	}
	if c.inner, err = c.source.evaluate(ctx, inner, e); err != nil {
		return err
	}
	c.n = len(c.inner.matrix)
	memory := make([]series, c.n)
	for i, s := range c.inner.matrix {
		memory[i] = series{ctx: ctx, labels: s.Metric, name: s.Metric.Get(model.LabelName), place: i}
		c.all = append(c.all, &memory[i])
	}
	return nil
}

// take computes the rows of some series from inner results.
func (c *computation) take(ctx context.Context, some []*series) error {
	return eachRun(ctx, some, func(ctx context.Context, memory *scratch, run []*series) error {
		defer memory.cover(ctx)()
		for _, s := range run {
			memory.it.reset()
			for _, p := range c.inner.matrix[s.place].Floats {
				memory.it.times, memory.it.values = append(memory.it.times, p.T), append(memory.it.values, p.F)
			}
			if c.Subquery != nil {
				if err := c.compute(ctx, s, memory); err != nil {
					return err
				}
				continue
			}
			samples := columns.Samples{Labels: s.labels, Times: memory.it.times, Values: memory.it.values}
			const ownTimesAlone = 1 // ms
			c.filled[s.place-c.first], _, _ = c.Row(&memory.row, &samples, c.at, ownTimesAlone, c.row(s))
		}
		return nil
	})
}
