package query

import (
	"context"
	"errors"
	"slices"
	"time"

	"gnocco/carbonara"
	"gnocco/internal/budget"
	"gnocco/model"
	"gnocco/query/aggregates"
)

// An exact read, ours beyond Gnocchi, computes the aggregates of several groups or metrics from the columns that are
// stored of each group. It gives what all their measures give. Gnocchi computes from aggregates: a mean of means.

// Inexact turns an *aggregates.InvalidError about an operation that cannot be exact into an *ArgumentError.
func Inexact(err error) error {
	var invalid *aggregates.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	reason := invalid.Reason
	if invalid.Detail != "" {
		reason = invalid.Detail
	}
	return &ArgumentError{"exact", reason}
}

// combinedAtOnce is how many metrics' groups are read, and merged, at a time by one goroutine.
const combinedAtOnce = 64

// readCombined reads the groups of all metrics and combines them: for each granularity one table. A combination that
// regroups reads whole groups.
func (r *Reader) readCombined(ctx context.Context, operation *aggregates.Operation, operands []Operand, granularities []time.Duration,
	read *Read) ([]aggregates.Table, error) {
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
		var metrics []int // of operands
		for i := range operands {
			if wanted[operands[i].Reference] {
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
			from, to := combination.Span(read.From.Floor(granularities[i]), read.To)
			groups := make([]*carbonara.Groups, len(batches[batch]))
			for j, metric := range batches[batch] {
				groups[j] = new(carbonara.Groups)
				m := operands[metric].Metric
				groupsRead := model.Read{Metric: m, Granularity: granularities[i], Columns: combination.Columns(m.ArchivePolicy.Plan()), From: from, To: to}
				if err := r.Archives.Groups(ctx, groupsRead, read.Staleness, groups[j]); err != nil {
					return err
				}
			}
			parts[i][batch], err = combination.Combine(groups)
			read := 0
			for _, g := range groups {
				read += g.Bytes()
			}
			account := budget.Of(ctx)
			account.Give(budget.Answers, int64(read))
			if err != nil {
				return err
			}
			return account.Take(budget.Answers, int64(parts[i][batch].Bytes()))
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
