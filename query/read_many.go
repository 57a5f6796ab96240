package query

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"gnocco/carbonara"
	"gnocco/internal/budget"
	"gnocco/model"
	"gnocco/query/aggregates"
)

// readTables reads one table for each granularity, whose series are those of the operands, in order. Several are read
// at once.
func (r *Reader) readTables(ctx context.Context, operands []Operand, granularities []time.Duration, read *Read) ([]aggregates.Table, error) {
	tables := make([]aggregates.Table, len(granularities))
	for i, granularity := range granularities {
		tables[i] = aggregates.Table{Granularity: granularity, Series: make([]aggregates.Series, len(operands))}
	}
	archives, err := r.prefetch(ctx, operands, granularities, read)
	if err != nil {
		return nil, err
	}
	err = readAtOnce(ctx, len(operands), len(granularities), readsPerWorker, func(ctx context.Context, s *seriesReader, metric, i int) error {
		series := &tables[i].Series[metric]
		series.Reference = operands[metric].Reference
		return readSeries(ctx, archives, s, &operands[metric], granularities[i], i, read, series)
	})
	return tables, err
}

// readsPerWorker is how many reads of one metric a goroutine is worth.
const readsPerWorker = 8

// readAtOnce calls read for each metric, and for each of them with i from 0 to n (exclusive), from several goroutines.
// A metric's granularities lie side by side in the archive: one goroutine reads them one after the other. perWorker
// calls are worth a goroutine.
func readAtOnce(ctx context.Context, metrics, n, perWorker int,
	read func(ctx context.Context, s *seriesReader, metric, i int) error) error {
	jobs := int64(metrics * n)
	least := int64(max(perWorker, 1))
	workers := min(int64(runtime.GOMAXPROCS(0)), (jobs+least-1)/least)
	var next atomic.Int64
	work := func(ctx context.Context) error {
		s := seriesReaders.Get()
		defer func() {
			s.last = nil
			seriesReaders.Put(s, s.groups.Capacity()+8*cap(s.starts))
		}()
		s.last = make([][]carbonara.Timestamp, n)
		for {
			job := next.Add(1) - 1
			if job >= jobs || ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := read(ctx, s, int(job)/n, int(job)%n); err != nil {
				return err
			}
		}
	}
	if workers <= 1 {
		return work(ctx)
	}
	all, ctx := errgroup.WithContext(ctx)
	for range workers {
		all.Go(func() error { return work(ctx) })
	}
	return all.Wait()
}

// aggregateBytes is what an aggregate takes until it is evaluated: its value and perhaps its time, and those of results.
const aggregateBytes = 32

// seriesReader is the memory of a goroutine that reads series.
type seriesReader struct {
	groups carbonara.Groups
	starts []carbonara.Timestamp
	last   [][]carbonara.Timestamp // by granularity: of the series read before, which the next one shares if they are its own
}

var seriesReaders budget.Pool[seriesReader]

// readSeries reads the aggregates of one metric at the i-th granularity.
func readSeries(ctx context.Context, archives GroupReader, s *seriesReader, o *Operand, granularity time.Duration, i int,
	read *Read, series *aggregates.Series) error {
	method, err := carbonara.ParseMethod(o.Aggregation)
	if err != nil {
		return err
	}
	if err := archives.Groups(ctx, ReadOf(o.Metric, granularity, method, read.From, read.To), read.Staleness, &s.groups); err != nil {
		return err
	}
	// What was read goes, and its aggregates stay.
	account := budget.Of(ctx)
	account.Give(budget.Answers, int64(s.groups.Bytes()))
	if err := account.Take(budget.Answers, int64(aggregateBytes*s.groups.Len())); err != nil {
		return err
	}
	s.starts, series.Values = s.groups.Aggregate(method, s.starts[:0], read.Values.take(s.groups.Len())[:0])
	if !slices.Equal(s.starts, s.last[i]) {
		s.last[i] = slices.Clone(s.starts)
	}
	series.Starts = s.last[i]
	return nil
}

// prefetch returns what to read the operands from.
func (r *Reader) prefetch(ctx context.Context, operands []Operand, granularities []time.Duration, read *Read) (GroupReader, error) {
	reads := make([]model.Read, 0, len(operands)*len(granularities))
	for i := range operands {
		method, err := carbonara.ParseMethod(operands[i].Aggregation)
		if err != nil {
			return nil, err
		}
		for _, granularity := range granularities {
			reads = append(reads, ReadOf(operands[i].Metric, granularity, method, read.From, read.To))
		}
	}
	return r.Archives.Prefetch(ctx, reads, read.Staleness)
}
