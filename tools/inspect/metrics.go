package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/cmd/shared/offline"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/storage/index"
)

// stored is what a sack's store holds of a metric.
type stored struct{ splits, splitBytes, rawBytes int }

// listMetrics lists the metrics in the index, and those that only have archives, with their stored aggregates and
// measures.
func listMetrics(ctx context.Context, d *offline.Data, out io.Writer) error {
	known, err := d.Index()
	if err != nil {
		return err
	}
	held := make(map[uuid.UUID]*stored)
	for sack := range d.Cluster.Sacks {
		err := d.InSack(sack, func(store *archive.Store) error {
			return engine.Each(store.DB(), nil, nil, func(key, value []byte) error {
				metric, kind, _, ok := archive.ParseKey(key)
				if !ok {
					return nil
				}
				s := held[metric]
				if s == nil {
					s = new(stored)
					held[metric] = s
				}
				switch kind {
				case archive.KindSplit:
					s.splits++
					s.splitBytes += len(value)
				case archive.KindRaw:
					s.rawBytes += len(value)
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "metric\tname\tarchive policy\tsplits\tbytes\traw bytes\t")
	for _, deleted := range []bool{false, true} {
		metrics, err := known.ListMetrics(ctx, index.MetricQuery{Deleted: deleted})
		if err != nil {
			return err
		}
		for _, m := range metrics {
			s := held[m.ID]
			if s == nil {
				s = new(stored)
			}
			delete(held, m.ID)
			name := m.Name
			if deleted {
				name += " (deleted)"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%d\t\n",
				m.ID, name, m.ArchivePolicy.Name, s.splits, s.splitBytes, s.rawBytes)
		}
	}
	for metric, s := range held {
		fmt.Fprintf(table, "%s\t(not in the index)\t\t%d\t%d\t%d\t\n", metric, s.splits, s.splitBytes, s.rawBytes)
	}
	return table.Flush()
}

// find returns a metric of the index by its ID, also if it is marked deleted; nil if there is none.
func find(ctx context.Context, d *offline.Data, id uuid.UUID) (*model.Metric, error) {
	known, err := d.Index()
	if err != nil {
		return nil, err
	}
	for _, deleted := range []bool{false, true} {
		metrics, err := known.ListMetrics(ctx, index.MetricQuery{ID: &id, Deleted: deleted})
		if err != nil && !errors.Is(err, model.ErrNotFound) {
			return nil, err
		}
		if len(metrics) > 0 {
			return metrics[0], nil
		}
	}
	return nil, nil
}

// inMetricSack calls f with the store of a metric's sack, if it has one.
func inMetricSack(d *offline.Data, metric uuid.UUID, f func(*archive.Store) error) error {
	return d.InSack(model.Sack(metric, d.Cluster.Sacks), f)
}
