package query

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/query/aggregates"
)

// A read of many metrics may need more memory than there is for one request. Then all metrics are read for one part of
// the time after the other, and what is kept of a part is the operation's result. How long parts may be, the first
// attempt shows: parts are made of the times that it has read. Parts are read one after the other, as metrics are, from
// the oldest to the newest.

// A tooLargeError is a *budget.TooLargeError of a read, with times at which it can be divided evenly.
type tooLargeError struct {
	budget.TooLargeError
	starts []carbonara.Timestamp // ascending
}

func (e *tooLargeError) Unwrap() error { return &e.TooLargeError }

// tooLarge makes a *budget.TooLargeError a *tooLargeError, by the tables read so far: all will take so many bytes. It
// returns other errors as they are.
func (t *tablesRead) tooLarge(err error, bytes int64, tables []aggregates.Table) error {
	var tooLarge *budget.TooLargeError
	if !errors.As(err, &tooLarge) {
		return err
	}
	out := &tooLargeError{TooLargeError: *tooLarge}
	out.Need = max(out.Need, bytes)
	const most = 4096
	read := 0
	for i := range tables {
		for j := range tables[i].Series {
			read += len(tables[i].Series[j].Starts)
		}
	}
	at, every := 0, read/most+1
	for i := range tables {
		for j := range tables[i].Series {
			starts := tables[i].Series[j].Starts
			for ; at < len(starts); at += every {
				out.starts = append(out.starts, starts[at])
			}
			at -= len(starts)
		}
	}
	slices.Sort(out.starts)
	return out
}

// evenStarts returns times, evenly from the beginning of the read to its end, as far as aggregates are kept: for a read
// that failed before any aggregate was seen.
func (r *Reader) evenStarts(ctx context.Context, want *tablesRead) ([]carbonara.Timestamp, error) {
	ids := make([]uuid.UUID, len(want.operands))
	for i := range ids {
		ids[i] = want.operands[i].Metric.ID
	}
	newest, err := r.Archives.LastMeasures(ctx, ids)
	if err != nil {
		return nil, err
	}
	from, to := want.To, want.From
	for i, t := range newest {
		to = max(to, min(want.To, t+1))
		for _, granularity := range want.granularities {
			oldest := want.From
			if kept := want.operands[i].Metric.ArchivePolicy.Timespan(granularity); kept > 0 {
				oldest = max(oldest, t.Add(-kept))
			}
			from = min(from, oldest)
		}
	}
	const parts = 64
	starts := make([]carbonara.Timestamp, parts)
	for i := range starts {
		starts[i] = from + (to-from)/parts*carbonara.Timestamp(i)
	}
	return starts, nil
}

// evaluateInParts is EvaluateGroups, each granularity by itself, in parts of the time.
func (r *Reader) evaluateInParts(ctx context.Context, operation *aggregates.Operation, groups [][]Operand,
	read *Read) ([][]*aggregates.Result, error) {
	results := make([][]*aggregates.Result, len(groups))
	for first := range groups {
		if results[first] != nil { // evaluated with an earlier group
			continue
		}
		granularities, err := CommonGranularities(groups[first], read.Granularity)
		if err != nil {
			return nil, err
		}
		var together []int
		p := &inParts{Reader: r, operation: operation}
		for i := first; i < len(groups); i++ {
			others, err := CommonGranularities(groups[i], read.Granularity)
			if err != nil {
				return nil, err
			}
			if slices.Equal(others, granularities) {
				together, p.groups = append(together, i), append(p.groups, groups[i])
			}
		}
		for _, granularity := range granularities {
			p.Read, p.parts = *read, make([][]*aggregates.Result, len(together))
			p.Granularity, p.Options.Part = granularity, true
			if err := p.evaluate(ctx, read.From, read.To); err != nil {
				return nil, err
			}
			for k, i := range together {
				joined, err := aggregates.Join(p.parts[k], &read.Options)
				if err != nil {
					return nil, withOperands(err, groups[i])
				}
				results[i] = append(results[i], joined)
			}
		}
	}
	return results, nil
}

// inParts is an evaluation in parts of the time, at one granularity.
type inParts struct {
	*Reader
	Read
	operation *aggregates.Operation
	groups    [][]Operand
	parts     [][]*aggregates.Result // of each group, oldest first
	kept      int64                  // bytes of all parts
}

// evaluate appends the results from a time to another one (exclusive) to the parts, in smaller parts if need be.
func (p *inParts) evaluate(ctx context.Context, from, to carbonara.Timestamp) error {
	err := p.evaluatePart(ctx, from, to)
	var tooLarge *tooLargeError
	if !errors.As(err, &tooLarge) {
		return err
	}
	bounds := p.divide(ctx, tooLarge, from, to)
	if len(bounds) == 0 {
		if p.whole {
			return err
		}
		p.whole = true // the first table may be larger than the parts of it
		defer func() { p.whole = false }()
		return p.evaluate(ctx, from, to)
	}
	for _, bound := range append(bounds, to) {
		if err := p.evaluate(ctx, from, bound); err != nil {
			return err
		}
		from = bound
	}
	return nil
}

// divide returns the times, between from and to, at which parts begin that need half of the memory that is left.
func (p *inParts) divide(ctx context.Context, e *tooLargeError, from, to carbonara.Timestamp) []carbonara.Timestamp {
	account := budget.Of(ctx)
	room := max(1, account.MostAnswers()-account.Held(budget.Answers))
	count := len(e.starts)
	parts := int(min(2*e.Need/room+1, int64(count)))
	var bounds []carbonara.Timestamp
	last := from
	add := func(start carbonara.Timestamp) {
		if start = p.operation.PartStart(start, p.Granularity); start > last && start < to {
			bounds, last = append(bounds, start), start
		}
	}
	for i := 1; i < parts; i++ {
		add(e.starts[i*count/parts])
	}
	if len(bounds) == 0 && count > 0 {
		add(e.starts[count-1])
	}
	return bounds
}

// evaluatePart appends the results of a part, and gives back what it was read into.
func (p *inParts) evaluatePart(ctx context.Context, from, to carbonara.Timestamp) error {
	account, read, before := budget.Of(ctx), p.Read, budget.Of(ctx).Held(budget.Answers)
	read.From, read.To, read.Values = from, to, new(Arena)
	defer func() {
		read.Values.Release()
		account.Release(budget.Answers, account.Held(budget.Answers)-before)
	}()
	results, err := p.evaluateWhole(ctx, p.operation, p.groups, &read)
	if err != nil {
		return err
	}
	bytes := int64(0)
	for i := range results {
		bytes += 8 * int64(len(results[i][0].Times)*(1+results[i][0].Columns()))
	}
	if p.kept += bytes; p.kept > account.MostAnswers()/2 {
		return &budget.TooLargeError{Use: budget.Answers, Need: 2 * p.kept, Most: account.MostAnswers()}
	}
	if err := account.Acquire(budget.Answers, bytes); err != nil {
		return err
	}
	before += bytes
	for i := range results {
		if err := results[i][0].Detach(); err != nil {
			return err
		}
		p.parts[i] = append(p.parts[i], results[i][0])
	}
	return nil
}
