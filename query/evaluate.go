package query

import (
	"context"
	"errors"

	"gnocco/query/aggregates"
)

// Evaluate reads the operands' aggregates and evaluates the operation on them, for each granularity, coarsest first.
// Columns are computed when the results are written, until ctx ends.
func (r *Reader) Evaluate(ctx context.Context, operation *aggregates.Operation, operands []Operand, read *Read) ([]*aggregates.Result, error) {
	granularities, err := CommonGranularities(operands, read.Granularity)
	if err != nil {
		return nil, err
	}
	var tables []aggregates.Table
	if len(operation.Combinations) > 0 {
		tables, err = r.readCombined(ctx, operation, operands, granularities, read)
	} else {
		tables, err = r.readTables(ctx, operands, granularities, read)
	}
	if err != nil {
		return nil, withOperands(err, operands)
	}
	options := read.Options
	options.Resampler = r.Resampler
	results := make([]*aggregates.Result, len(tables))
	for i := range tables {
		if results[i], err = aggregates.Evaluate(ctx, operation, &tables[i], &options); err != nil {
			return nil, withOperands(err, operands)
		}
		if err := read.Rows.take(results[i].Columns() * len(results[i].Times)); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// withOperands names the operands in an *aggregates.UnaggregableError; any other error it returns.
func withOperands(err error, operands []Operand) error {
	var unaggregable *aggregates.UnaggregableError
	if errors.As(err, &unaggregable) {
		return &UnaggregableError{Reason: unaggregable.Reason, Metrics: lookupKeys(operands)}
	}
	return err
}
