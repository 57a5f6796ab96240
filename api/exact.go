package api

import (
	"context"
	"errors"
	"slices"
	"time"

	"gnocco/api/aggregates"
	"gnocco/carbonara"
	"gnocco/model"
)

// With exact=true, ours beyond Gnocchi, aggregates of many groups or metrics are computed from what is stored of each group,
// its moments, and are those of all their measures. Without it they are computed from aggregates, as Gnocchi does.

// inexact answers an *aggregates.InvalidError about what cannot be computed exactly.
func inexact(err error) error {
	var invalid *aggregates.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	reason := invalid.Reason
	if invalid.Detail != "" {
		reason = invalid.Detail
	}
	return badArgument("exact", reason)
}

// combinedAtOnce is how many metrics' groups are read, and merged, at a time by one goroutine.
const combinedAtOnce = 64

// readCombined reads the groups of all metrics and combines them: for each granularity one table. A combination that
// regroups reads whole groups.
func (a *api) readCombined(ctx context.Context, operation *aggregates.Operation, found []foundMetric, granularities []time.Duration,
	query *aggregatesQuery) ([]aggregates.Table, error) {
	tables := make([]aggregates.Table, len(granularities))
	for i, granularity := range granularities {
		tables[i] = aggregates.Table{Granularity: granularity, Combined: make([][]aggregates.Series, len(operation.Combinations))}
	}
	for c := range operation.Combinations {
		combination := &operation.Combinations[c]
		wanted := make([]bool, len(operation.References))
		for _, i := range combination.References {
			wanted[i] = true
		}
		var metrics []int // of found
		for i := range found {
			if wanted[found[i].reference] {
				metrics = append(metrics, i)
			}
		}
		atOnce := 1
		if combination.Across {
			atOnce = combinedAtOnce
		}
		batches := slices.Collect(slices.Chunk(metrics, atOnce))
		parts := make([][]*carbonara.Groups, len(granularities)) // by batch
		for i := range parts {
			parts[i] = make([]*carbonara.Groups, len(batches))
		}
		err := readAtOnce(ctx, len(batches), len(granularities), readsPerWorker/atOnce, func(ctx context.Context, _ *seriesReader, batch, i int) (err error) {
			from, to := combination.Span(query.from.Floor(granularities[i]), query.to)
			groups := make([]*carbonara.Groups, len(batches[batch]))
			for j, metric := range batches[batch] {
				groups[j] = new(carbonara.Groups)
				m := found[metric].metric
				read := model.Read{Metric: m, Granularity: granularities[i], Columns: combination.Columns(m.ArchivePolicy.Plan()), From: from, To: to}
				if err := a.Archives.Groups(ctx, read, groups[j]); err != nil {
					return err
				}
			}
			parts[i][batch], err = combination.Combine(groups)
			return err
		})
		if err != nil {
			return nil, err
		}
		for i := range granularities {
			if tables[i].Combined[c], err = combinedSeries(combination, parts[i], metrics); err != nil {
				return nil, err
			}
		}
	}
	return tables, nil
}

// combinedSeries returns the series of a combination: one of all parts, or one for each, which is of one metric.
func combinedSeries(combination *aggregates.Combination, parts []*carbonara.Groups, metrics []int) ([]aggregates.Series, error) {
	if combination.Across {
		series, err := combination.Series(parts)
		series.Found = -1
		return []aggregates.Series{series}, err
	}
	all := make([]aggregates.Series, len(parts))
	for i := range parts {
		var err error
		if all[i], err = combination.Series(parts[i : i+1]); err != nil {
			return nil, err
		}
		all[i].Found = metrics[i]
	}
	return all, nil
}

// resampleExactly appends the aggregates of one metric, regrouped, to s.
func (a *api) resampleExactly(ctx context.Context, s *outgoingScratch, metric *model.Metric, granularity time.Duration, query *measuresQuery) error {
	combination, err := aggregates.Resampled(query.method, resampleGrouping{query.resample})
	if err != nil {
		return inexact(err)
	}
	from, to := query.resample.span(query.from, query.to)
	read := model.Read{Metric: metric, Granularity: granularity, Columns: combination.Columns(metric.ArchivePolicy.Plan()), From: from, To: to}
	if err := a.Archives.Groups(ctx, read, &s.groups); err != nil {
		return err
	}
	combined, err := combination.Combine([]*carbonara.Groups{&s.groups})
	var unfit *aggregates.UnaggregableError
	if errors.As(err, &unfit) {
		return badArgument("exact", unfit.Reason)
	}
	if err != nil {
		return err
	}
	s.starts, s.values = combined.Aggregate(query.method, s.starts, s.values)
	return nil
}
