package query

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"gnocco/internal/cores"
	"gnocco/query/aggregates"
)

// Evaluate reads the operands' aggregates and evaluates the operation on them, for each granularity, coarsest first.
// Columns are computed when the results are written, until ctx ends.
func (r *Reader) Evaluate(ctx context.Context, operation *aggregates.Operation, operands []Operand, read *Read) (
	[]*aggregates.Result, error) {
	results, err := r.EvaluateGroups(ctx, operation, [][]Operand{operands}, read)
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

// EvaluateGroups is Evaluate for several groups of operands. They are read together: metrics that lie side by side in
// an archive are often of different groups.
func (r *Reader) EvaluateGroups(ctx context.Context, operation *aggregates.Operation, groups [][]Operand, read *Read) (
	[][]*aggregates.Result, error) {
	tables, err := r.readGroups(ctx, operation, groups, read)
	if err != nil {
		return nil, err
	}
	options := read.Options
	options.Resampler = r.Resampler
	results := make([][]*aggregates.Result, len(groups))
	var all errgroup.Group
	all.SetLimit(cores.Share(len(groups)))
	for i := range groups {
		all.Go(func() error {
			results[i] = make([]*aggregates.Result, len(tables[i]))
			for j := range tables[i] {
				var err error
				if results[i][j], err = aggregates.Evaluate(ctx, operation, &tables[i][j], &options); err != nil {
					return withOperands(err, groups[i])
				}
				if err := read.Rows.take(results[i][j].Columns() * len(results[i][j].Times)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return results, all.Wait()
}

// readGroups returns the tables of each group, one for each granularity that its operands have in common. Groups with
// the same granularities are read together.
func (r *Reader) readGroups(ctx context.Context, operation *aggregates.Operation, groups [][]Operand, read *Read) (
	[][]aggregates.Table, error) {
	granularities := make([][]time.Duration, len(groups))
	for i, operands := range groups {
		var err error
		if granularities[i], err = CommonGranularities(operands, read.Granularity); err != nil {
			return nil, err
		}
	}
	tables := make([][]aggregates.Table, len(groups))
	for first := range groups {
		if tables[first] != nil { // read with an earlier group
			continue
		}
		want := tablesRead{read, groups[first], granularities[first]}
		if len(operation.Combinations) > 0 {
			var err error
			if tables[first], err = r.readCombined(ctx, operation, &want); err != nil {
				return nil, withOperands(err, groups[first])
			}
			continue
		}
		together := []int{first}
		want.operands = slices.Clip(want.operands)
		for i := first + 1; i < len(groups); i++ {
			if slices.Equal(granularities[i], granularities[first]) {
				together, want.operands = append(together, i), append(want.operands, groups[i]...)
			}
		}
		joint, err := r.readTables(ctx, &want)
		if err != nil {
			return nil, err
		}
		from := 0
		for _, i := range together {
			to := from + len(groups[i])
			tables[i] = make([]aggregates.Table, len(joint))
			for j := range joint {
				tables[i][j] = aggregates.Table{Granularity: joint[j].Granularity, Series: joint[j].Series[from:to]}
			}
			from = to
		}
	}
	return tables, nil
}

// withOperands names the operands in an *aggregates.UnaggregableError; any other error it returns.
func withOperands(err error, operands []Operand) error {
	var unaggregable *aggregates.UnaggregableError
	if errors.As(err, &unaggregable) {
		return &UnaggregableError{Reason: unaggregable.Reason, Metrics: lookupKeys(operands)}
	}
	return err
}
