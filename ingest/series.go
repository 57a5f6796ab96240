package ingest

import (
	"context"
	"errors"

	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/model"
)

// createSeries is create for rows whose names are labels: each set of labels is a metric of its own, without a
// resource. Rows that cannot be metrics are dropped. Too many new metrics are an error, and then none is created.
func (c *creation) createSeries(ctx context.Context, b *NamedBatch) error {
	policy, err := c.policyOfSeries(ctx)
	if err != nil {
		return err
	}
	byKey := map[string]*keyRows{}
	var keys []*keyRows
	var created []*model.Metric
	key := c.protocol.appendScope(nil, c.user)
	scope := len(key)
	for _, row := range b.missing {
		key = c.rows.AppendKey(key[:scope], row)
		if same := byKey[string(key)]; same != nil {
			same.rows = append(same.rows, row)
			continue
		}
		same := &keyRows{string(key), []int{row}}
		name, err := c.rows.Name(row)
		if err == nil {
			var metric *model.Metric
			metric, err = c.seriesOf(name, policy)
			if metric != nil {
				created = append(created, metric)
			}
		}
		if err != nil {
			c.protocol.Drop(row, err)
			continue
		}
		byKey[same.key], keys = same, append(keys, same)
	}
	if err := c.rights.CreateSeries(created); err != nil {
		return err
	}
	if err := unlessRaced(c.Index.CreateMetrics(ctx, created)); err != nil {
		return err
	}
	b.missing = b.missing[:0]
	for _, same := range keys {
		metric, err := c.Index.MetricOfLabels(c.user, model.Labels(same.key[scope:]))
		if err != nil && !errors.Is(err, model.ErrNotFound) {
			return err
		}
		if err != nil {
			b.missing = append(b.missing, same.rows...)
			continue
		}
		for _, row := range same.rows {
			b.metrics[row] = metric
		}
		c.known.add(keyhash.Of([]byte(same.key)), metric)
	}
	return nil
}

// seriesOf returns the metric to create for labels, nil if there is one.
func (c *creation) seriesOf(name *Name, policy *model.ArchivePolicy) (*model.Metric, error) {
	if _, err := c.Index.MetricOfLabels(c.user, name.Labels); !errors.Is(err, model.ErrNotFound) {
		return nil, err
	}
	metric := &model.Metric{Name: name.Metric, Creator: c.user, ArchivePolicy: policy, Labels: name.Labels}
	if err := metric.Validate(); err != nil {
		return nil, err
	}
	return metric, nil
}

// policyOfSeries returns the archive policy of new series, which is created if it is not there.
func (c *creation) policyOfSeries(ctx context.Context) (*model.ArchivePolicy, error) {
	p := model.SeriesArchivePolicy()
	found, err := c.Index.ArchivePolicy(p.Name)
	if !errors.Is(err, model.ErrNotFound) {
		return found, err
	}
	if err := c.Index.CreateArchivePolicy(ctx, p); err != nil && !errors.Is(err, model.ErrExists) {
		return nil, err
	}
	return c.Index.ArchivePolicy(p.Name)
}
