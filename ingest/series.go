package ingest

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
)

// createSeries is create for rows whose names are labels: each set of labels is a metric of its own, without a
// resource. Rows that cannot be metrics are dropped. Too many new metrics are an error, and then none is created.
func (c *creation) createSeries(ctx context.Context, b *NamedBatch) error {
	var names []*Name // of one set of labels each, also if senders order them in different ways
	places := make(map[model.Labels]int, len(b.missing))
	placeOf := make([]int, 0, len(b.missing)) // of the names of b.missing
	named := b.missing[:0]
	for _, row := range b.missing {
		name, err := c.rows.Name(row)
		if err != nil {
			c.protocol.Drop(row, err)
			continue
		}
		if c.protocol.Replica != nil {
			name.Labels, b.replicas[row] = c.protocol.Replica(name.Labels)
		}
		place, ok := places[name.Labels]
		if !ok {
			place = len(names)
			places[name.Labels], names = place, append(names, name)
		}
		names[place].replicas = names[place].replicas || b.replicas[row] != 0
		placeOf, named = append(placeOf, place), append(named, row)
	}
	b.missing = named
	labels := make([]model.Labels, len(names))
	for i, name := range names {
		labels[i] = name.Labels
	}
	metrics, faults, err := c.Index.MetricsOfLabels(ctx, c.user, labels)
	if err != nil {
		return err
	}
	err = errors.Join(c.noteReplicas(ctx, names, metrics), c.createUnknown(ctx, names, metrics, faults))
	if err != nil {
		return err
	}
	key := c.protocol.appendScope(nil, c.user)
	scope := len(key)
	missing := b.missing[:0]
	for i, row := range b.missing {
		place := placeOf[i]
		switch {
		case faults[place] != nil:
			c.protocol.Drop(row, faults[place])
		case metrics[place] == nil:
			missing = append(missing, row)
		default:
			b.metrics[row] = metrics[place]
			key = c.rows.AppendKey(key[:scope], row)
			b.found = append(b.found, foundName{keyhash.Of(key), sender{metrics[place], b.replicas[row]}})
		}
	}
	b.missing = missing
	return nil
}

// tryWhole tells which rows would be dropped or replaced. It creates no metric.
func (c *creation) tryWhole(ctx context.Context, b *NamedBatch) error {
	missing, found := slices.Clone(b.missing), len(b.found)
	c.trying = true
	err := c.createSeries(ctx, b)
	c.trying = false
	b.gather(c.rows, nil)
	b.findReplaced(c.rows, c.protocol.Replaced)
	for _, row := range missing {
		b.metrics[row] = nil
	}
	b.missing, b.found = missing, b.found[:found]
	return err
}

// noteReplicas notes in the index which of the metrics of names have replicas.
func (c *creation) noteReplicas(ctx context.Context, names []*Name, metrics []*model.Metric) error {
	var ids []uuid.UUID
	for i, name := range names {
		if m := metrics[i]; m != nil && name.replicas && !m.Replicas {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) == 0 || c.trying {
		return nil
	}
	if err := c.Index.UpdateMetrics(ctx, ids, func(m *model.Metric) { m.Replicas = true }); err != nil {
		return err
	}
	for i, m := range metrics {
		if m != nil {
			metrics[i] = c.Index.Lookup(m.ID)
		}
	}
	return nil
}

// createUnknown creates a metric of each name that has none in metrics, and sets it there, unless somebody else is
// faster. The fault of a place says why it has no metric.
func (c *creation) createUnknown(ctx context.Context, names []*Name, metrics []*model.Metric, faults []error) error {
	policies := map[bool]*model.ArchivePolicy{} // by whether values grow
	var created []*model.Metric
	var places []int
	for i, name := range names {
		if metrics[i] != nil || faults[i] != nil {
			continue
		}
		t := model.TypeOfLabels(name.Labels, c.protocol.Kind)
		policy, ok := policies[t.Grows()]
		if !ok {
			var err error
			if policy, err = c.PolicyOfSeries(ctx, t); err != nil {
				return err
			}
			policies[t.Grows()] = policy
		}
		metric := &model.Metric{Name: name.Metric, Creator: c.user, ArchivePolicy: policy, Labels: name.Labels,
			Replicas: name.replicas}
		if faults[i] = metric.Validate(); faults[i] == nil {
			created, places = append(created, metric), append(places, i)
		}
	}
	if c.trying {
		for i, metric := range created {
			metric.ID, metrics[places[i]] = model.NewMetricID(), metric
		}
		return nil
	}
	if err := c.rights.CreateSeries(created); err != nil || len(created) == 0 {
		return err
	}
	if err := c.Index.CreateMetrics(ctx, created); err != nil {
		return unlessRaced(err)
	}
	for i, metric := range created {
		metrics[places[i]] = c.Index.Lookup(metric.ID)
		if policies[model.TypeOfLabels(metric.Labels, c.protocol.Kind).Grows()] != metric.ArchivePolicy { // meanwhile
			c.Index.Retype(index.SeriesName{Project: model.ProjectOf(c.user), Name: metric.Name})
		}
	}
	return nil
}

// PolicyOfSeries returns the archive policy of new series of a type, the same for all protocols and imports. It creates
// a missing one, for counters from the policy of other series, which may be an operator's own.
func (i *Ingester) PolicyOfSeries(ctx context.Context, t model.SeriesType) (*model.ArchivePolicy, error) {
	p, err := i.policyOrNew(ctx, model.SeriesArchivePolicy())
	if err != nil || !t.Grows() {
		return p, err
	}
	return i.policyOrNew(ctx, model.CounterArchivePolicy(p))
}

// PolicyNamed returns an archive policy by its name. It creates a missing one of PolicyOfSeries.
func (i *Ingester) PolicyNamed(ctx context.Context, name string) (*model.ArchivePolicy, error) {
	p, err := i.Index.ArchivePolicy(name)
	series := model.SeriesArchivePolicy()
	switch {
	case !errors.Is(err, model.ErrNotFound):
		return p, err
	case name == series.Name:
		return i.PolicyOfSeries(ctx, model.UnknownType)
	case name == model.CounterArchivePolicy(series).Name:
		return i.PolicyOfSeries(ctx, model.CounterType)
	}
	return p, err
}

// policyOrNew returns the archive policy called as p, which is created if it is not there.
func (i *Ingester) policyOrNew(ctx context.Context, p *model.ArchivePolicy) (*model.ArchivePolicy, error) {
	found, err := i.Index.ArchivePolicy(p.Name)
	if !errors.Is(err, model.ErrNotFound) {
		return found, err
	}
	if err := i.Index.CreateArchivePolicy(ctx, p); err != nil && !errors.Is(err, model.ErrExists) {
		return nil, err
	}
	return i.Index.ArchivePolicy(p.Name)
}
