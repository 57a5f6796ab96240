package query

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/parallel"
	"github.com/gnocco-db/gnocco/query/aggregates"
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
// an archive are often of different groups. Results that need more memory than one request may have are evaluated in
// parts of the time, where the operation allows it.
func (r *Reader) EvaluateGroups(ctx context.Context, operation *aggregates.Operation, groups [][]Operand, read *Read) (
	[][]*aggregates.Result, error) {
	results, err := r.evaluateWhole(ctx, operation, groups, read)
	if _, ok := errors.AsType[*tooLargeError](err); ok && operation.Divisible(&read.Options) {
		results, err = r.evaluateInParts(ctx, operation, groups, read)
	}
	if err != nil {
		return nil, err
	}
	for i := range results {
		read.OfSketches = read.OfSketches || operation.OfSketches() || slices.ContainsFunc(groups[i], fromSketch)
		for _, result := range results[i] {
			if err := read.Rows.charge(result.Columns() * len(result.Times)); err != nil {
				return nil, err
			}
		}
	}
	return results, nil
}

// evaluateWhole reads all of the read's time at once. Without memory for it the error is a *tooLargeError, and what was
// read is given back.
func (r *Reader) evaluateWhole(ctx context.Context, operation *aggregates.Operation, groups [][]Operand, read *Read) (
	[][]*aggregates.Result, error) {
	account, attempt := budget.Of(ctx), *read
	attempt.Values = read.Values.attempt()
	held := account.Held(budget.Answers)
	tables, err := r.readGroups(ctx, operation, groups, &attempt)
	if err != nil {
		attempt.Values.Release()
		account.Release(budget.Answers, account.Held(budget.Answers)-held)
		return nil, err
	}
	read.Values.adopt(attempt.Values)
	options := read.Options
	options.Resampler = r.Resampler
	results := make([][]*aggregates.Result, len(groups))
	return results, parallel.Each(parallel.Workers(len(groups)), len(groups), func(i int) error {
		results[i] = make([]*aggregates.Result, len(tables[i]))
		for j := range tables[i] {
			var err error
			if results[i][j], err = aggregates.Evaluate(ctx, operation, &tables[i][j], &options); err != nil {
				return withOperands(err, groups[i])
			}
		}
		return nil
	})
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
		want := tablesRead{Read: read, operands: groups[first], granularities: granularities[first]}
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
		want.divisible = !read.whole && operation.Divisible(&read.Options)
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
	if unaggregable, ok := errors.AsType[*aggregates.UnaggregableError](err); ok {
		return &UnaggregableError{Reason: unaggregable.Reason, Metrics: lookupKeys(operands)}
	}
	return err
}
