package api

import (
	"context"
	"errors"
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
		groups := make([][]*carbonara.Groups, len(granularities))
		for i := range groups {
			groups[i] = make([]*carbonara.Groups, len(metrics))
		}
		err := readAtOnce(ctx, len(metrics), len(granularities), func(ctx context.Context, _ *seriesReader, metric, i int) error {
			of := found[metrics[metric]].metric
			from, to := combination.Span(query.from.Floor(granularities[i]), query.to)
			groups[i][metric] = new(carbonara.Groups)
			return a.Archives.Groups(ctx, of, granularities[i], combination.Columns(of.ArchivePolicy.Plan()), from, to, groups[i][metric])
		})
		if err != nil {
			return nil, err
		}
		for i := range granularities {
			if tables[i].Combined[c], err = combine(combination, groups[i], metrics); err != nil {
				return nil, err
			}
		}
	}
	return tables, nil
}

// combine returns the series of a combination of these metrics' groups.
func combine(combination *aggregates.Combination, groups []*carbonara.Groups, metrics []int) ([]aggregates.Series, error) {
	if len(groups) == 0 {
		return nil, nil
	}
	if combination.Across {
		series, err := combination.Combine(groups)
		series.Found = -1
		return []aggregates.Series{series}, err
	}
	all := make([]aggregates.Series, len(groups))
	for i := range groups {
		var err error
		if all[i], err = combination.Combine(groups[i : i+1]); err != nil {
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
	if err := a.Archives.Groups(ctx, metric, granularity, combination.Columns(metric.ArchivePolicy.Plan()), from, to, &s.groups); err != nil {
		return err
	}
	series, err := combination.Combine([]*carbonara.Groups{&s.groups})
	var unfit *aggregates.UnaggregableError
	if errors.As(err, &unfit) {
		return badArgument("exact", unfit.Reason)
	}
	s.starts, s.values = append(s.starts, series.Starts...), append(s.values, series.Values...)
	return err
}
