package query

import (
	"context"
	"errors"
	"slices"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/aggregates"
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
func (r *Reader) readCombined(ctx context.Context, operation *aggregates.Operation, want *tablesRead) (
	[]aggregates.Table, error) {
	tables := make([]aggregates.Table, len(want.granularities))
	for i, granularity := range want.granularities {
		series := make([][]aggregates.Series, len(operation.Combinations))
		tables[i] = aggregates.Table{Granularity: granularity, Combined: series}
	}
	for c := range operation.Combinations {
		combination := &operation.Combinations[c]
		referred := make([]bool, len(operation.References))
		for _, i := range combination.References {
			referred[i] = true
		}
		var metrics []int // of operands
		for i := range want.operands {
			if referred[want.operands[i].Reference] {
				metrics = append(metrics, i)
			}
		}
		parts, err := r.readParts(ctx, combination, metrics, want)
		if err != nil {
			return nil, err
		}
		for i := range tables {
			if tables[i].Combined[c], err = combinedSeries(combination, parts[i], metrics); err != nil {
				return nil, err
			}
		}
	}
	return tables, nil
}

// readParts returns, for each granularity, parts of a combination: each combines the groups of one metric or, if the
// combination goes across metrics, of several. metrics are those of want's operands that the combination refers to.
func (r *Reader) readParts(ctx context.Context, combination *aggregates.Combination, metrics []int, want *tablesRead) (
	[][]*carbonara.Groups, error) {
	atOnce := 1
	if combination.Across {
		atOnce = combinedAtOnce
	}
	batches := slices.Collect(slices.Chunk(metrics, atOnce))
	parts := make([][]*carbonara.Groups, len(want.granularities))
	for i := range parts {
		parts[i] = make([]*carbonara.Groups, len(batches))
	}
	readPart := func(ctx context.Context, _ *seriesReader, batch, i int) error {
		granularity := want.granularities[i]
		from, to := combination.Span(want.From.Floor(granularity), want.To)
		groups := make([]*carbonara.Groups, len(batches[batch]))
		bytes := 0
		for j, operand := range batches[batch] {
			groups[j] = new(carbonara.Groups)
			metric := want.operands[operand].Metric
			if err := combination.Check(metric.ArchivePolicy.Plan()); err != nil {
				return Inexact(err)
			}
			columns := combination.Columns(metric.ArchivePolicy.Plan())
			read := model.Read{Metric: metric, Granularity: granularity, Columns: columns, From: from, To: to}
			if err := r.Archives.Groups(ctx, read, want.Staleness, groups[j]); err != nil {
				return err
			}
			bytes += groups[j].Bytes()
		}
		var err error
		parts[i][batch], err = combination.Combine(groups)
		account := budget.Of(ctx)
		account.Release(budget.Answers, int64(bytes))
		if err != nil {
			return err
		}
		return account.Acquire(budget.Answers, int64(parts[i][batch].Bytes()))
	}
	return parts, readAtOnce(ctx, len(batches), len(parts), readsPerWorker/atOnce, readPart)
}

// combinedSeries returns the series of a combination: one of all parts, or one for each, which is of one metric.
func combinedSeries(combination *aggregates.Combination, parts []*carbonara.Groups, metrics []int) (
	[]aggregates.Series, error) {
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
