package csvimport

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/internal/requests"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/internal/counted"
)

// Send sends the measures of all files, in order of time, and asks the server which ones it dropped. It creates the
// resources, and metrics that are missing and have measures, and removes those that stayed empty.
func (i *Importer) Send(ctx context.Context) (Result, error) {
	err := i.send(ctx)
	err = errors.Join(err, i.removeEmpty(context.WithoutCancel(ctx)))
	return i.Result(), err
}

// removeEmpty deletes the metrics that the import created and that have no measures.
func (i *Importer) removeEmpty(ctx context.Context) (err error) {
	for _, m := range i.metrics {
		if m.created && !m.offered {
			err = errors.Join(err, i.options.Client.DeleteMetric(ctx, m.id))
		}
	}
	return err
}

func (i *Importer) send(ctx context.Context) error {
	var used, series []*metric
	missing := make(map[string][]*metric) // by resource
	for _, m := range i.metrics {
		switch {
		case !m.isUsed():
			continue
		case m.labels != "":
			series = append(series, m)
		case m.id == "":
			missing[m.resource] = append(missing[m.resource], m)
		}
		m.before = -1
		used = append(used, m)
	}
	if i.create != nil {
		if err := i.options.Client.EnsureArchivePolicy(ctx, i.create.Name, i.create); err != nil {
			return fmt.Errorf("csvimport: archive policy %s: %w", i.create.Name, err)
		}
	}
	existing, err := i.ensureSeries(ctx, series)
	if err != nil {
		return fmt.Errorf("csvimport: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		resource, err := i.options.Client.EnsureResource(ctx, name)
		if err != nil {
			return fmt.Errorf("csvimport: resource %s: %w", name, err)
		}
		if err := i.createMetrics(ctx, resource, missing[name]); err != nil {
			return fmt.Errorf("csvimport: metrics of %s: %w", name, err)
		}
	}
	i.result.Metrics = len(used)
	for _, m := range used {
		if !m.counted {
			m.archive.metrics++
		}
	}
	i.noteOthers(existing)
	err = i.eachArchive(ctx, existing, func(m *metric, a *requests.Archive) error { return m.foundArchive(a) })
	if err == nil {
		err = i.sendRows(ctx, used, func(m *metric, t carbonara.Timestamp) bool {
			m.see(t)
			if t < m.keptFrom {
				m.older++
			}
			return t >= m.keptFrom
		})
	}
	if err == nil {
		err = i.sendHistory(ctx, used)
	}
	if err != nil {
		return err
	}
	var mu sync.Mutex
	known := true
	err = i.eachArchive(ctx, used, func(m *metric, a *requests.Archive) error {
		mu.Lock()
		defer mu.Unlock()
		if a == nil {
			known = false
		} else if dropped := a.Dropped - m.droppedBefore; dropped > 0 {
			i.result.Dropped += dropped
			i.options.Note(fmt.Sprintf("metric %s: the server dropped %s, older than its back window", m,
				counted.Of(dropped, "measure")))
		}
		return nil
	})
	if !known {
		i.options.Note("the server does not say which measures it dropped")
	}
	if err == nil {
		err = i.sendAggregates(ctx, used)
	}
	return err
}

// createMetrics creates metrics that the resource does not have.
func (i *Importer) createMetrics(ctx context.Context, resource string, missing []*metric) error {
	for part := range slices.Chunk(missing, metricsAtOnce) {
		create := make(map[string]client.NewMetric, len(part))
		for _, m := range part {
			create[m.name] = m.newMetric()
		}
		metrics, err := i.options.Client.CreateMetrics(ctx, resource, create)
		if err != nil {
			return err
		}
		for _, m := range part {
			found := metrics[m.name]
			if found == nil {
				return fmt.Errorf("the server did not create metric %s", m.name)
			}
			m.created = true
			if err := i.found(m, found); err != nil {
				return err
			}
		}
	}
	return nil
}

// metricsAtOnce is how many metrics a request creates: a server takes bodies of a mebibyte.
const metricsAtOnce = 1000

// found notes which metric of the server m is.
func (i *Importer) found(m *metric, found *client.Metric) (err error) {
	m.id = found.ID
	m.archive, err = i.policy(&found.ArchivePolicy)
	return err
}

// ensureSeries finds the series with labels, and creates those that are missing. It returns the others.
func (i *Importer) ensureSeries(ctx context.Context, used []*metric) (existing []*metric, err error) {
	var mu sync.Mutex
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(i.options.Requests)
	for _, m := range used {
		all.Go(func() error {
			labels, err := m.labelMap()
			if err != nil {
				return err
			}
			found, created, err := i.options.Client.EnsureSeries(ctx, labels, m.newMetric())
			if created {
				m.id, m.created = found.ID, true
			}
			if err != nil {
				return fmt.Errorf("series %s: %w", m, err)
			}
			if !created {
				mu.Lock()
				defer mu.Unlock()
				existing = append(existing, m)
			}
			return i.found(m, found)
		})
	}
	return existing, all.Wait()
}

// eachArchive calls use with the server's description of each metric's archive, from several goroutines; nil if the
// server has no archives.
func (i *Importer) eachArchive(ctx context.Context, metrics []*metric,
	use func(*metric, *requests.Archive) error) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(i.options.Requests)
	for _, m := range metrics {
		all.Go(func() error {
			a, err := i.options.Client.Archive(ctx, m.id)
			if err == nil {
				err = use(m, a)
			}
			if err != nil {
				return fmt.Errorf("csvimport: archive of metric %s: %w", m, err)
			}
			return nil
		})
	}
	return all.Wait()
}

// sendRows sends the rows of metrics that wanted reports, and returns once the server accepted them.
func (i *Importer) sendRows(ctx context.Context, metrics []*metric,
	wanted func(*metric, carbonara.Timestamp) bool) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var work sync.WaitGroup
	senders := make([]*sender, i.options.Requests)
	for j := range senders {
		l := newSender(i.options.Batch)
		senders[j] = l
		work.Go(func() { l.send(ctx, i.options.Client.SendMeasures, stop) })
	}
	for j, m := range metrics {
		m.sender = senders[j%len(senders)]
	}
	err := i.eachRow(func(r *row) error {
		if m := i.metrics[r.metric]; wanted(m, r.time) {
			m.add(r.time, r.value)
			i.result.Measures++
		}
		return context.Cause(ctx)
	})
	for _, l := range senders {
		l.flush()
		close(l.requests)
	}
	work.Wait()
	if err == nil {
		err = context.Cause(ctx)
	}
	return err
}
