package query

import (
	"cmp"
	"context"
	"encoding/binary"
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
	runs := runsOf(archives, operands)
	err = readAtOnce(ctx, len(runs), len(granularities), readsPerWorker*len(runs)/max(1, len(operands)), func(ctx context.Context, s *seriesReader, run, i int) error {
		return s.readRun(ctx, archives, operands, runs[run], granularities[i], i, read, tables[i].Series)
	})
	return tables, err
}

// runLength bounds how many metrics are read at once: their sack is locked meanwhile.
const runLength = 32

// runsOf splits operands, by number, into runs of metrics that lie side by side in one sack's archive.
func runsOf(archives GroupReader, operands []Operand) [][]int32 {
	type place struct {
		sack     int32
		operand  int32
		high, id uint64 // of the metric's ID
	}
	places := make([]place, len(operands))
	for i := range operands {
		id := &operands[i].Metric.ID
		places[i] = place{int32(archives.Sack(*id)), int32(i), binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.sack, b.sack), cmp.Compare(a.high, b.high), cmp.Compare(a.id, b.id))
	})
	sorted := make([]int32, len(places))
	var runs [][]int32
	first := 0
	for i := range places {
		sorted[i] = places[i].operand
		if i+1 == len(places) || places[i+1].sack != places[i].sack || i+1-first == runLength {
			runs = append(runs, sorted[first:i+1])
			first = i + 1
		}
	}
	return runs
}

// readsPerWorker is how many reads of one metric a goroutine is worth.
const readsPerWorker = 8

// readAtOnce calls read for each of some batches, and for each of them with i from 0 to n (exclusive), from several
// goroutines. A metric's granularities lie side by side in the archive: one goroutine reads them one after the other.
// perWorker calls are worth a goroutine.
func readAtOnce(ctx context.Context, batches, n, perWorker int,
	read func(ctx context.Context, s *seriesReader, batch, i int) error) error {
	jobs := int64(batches * n)
	least := int64(max(perWorker, 1))
	workers := min(int64(runtime.GOMAXPROCS(0)), (jobs+least-1)/least)
	var next atomic.Int64
	work := func(ctx context.Context) error {
		s := seriesReaders.Get()
		defer func() {
			s.last = nil
			seriesReaders.Put(s, s.groups.Capacity()+8*cap(s.starts)+8*cap(s.values))
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
	reads   []model.Read
	methods []carbonara.Method
	groups  carbonara.Groups
	starts  []carbonara.Timestamp
	values  []float64
	last    [][]carbonara.Timestamp // by granularity: of the series read before, which the next one shares if they are its own
}

var seriesReaders budget.Pool[seriesReader]

// readRun reads the aggregates of a run of operands at the i-th granularity into their series.
func (s *seriesReader) readRun(ctx context.Context, archives GroupReader, operands []Operand, run []int32, granularity time.Duration, i int,
	read *Read, series []aggregates.Series) error {
	s.reads, s.methods = s.reads[:0], s.methods[:0]
	for _, operand := range run {
		o := &operands[operand]
		method, err := carbonara.ParseMethod(o.Aggregation)
		if err != nil {
			return err
		}
		s.reads, s.methods = append(s.reads, ReadOf(o.Metric, granularity, method, read.From, read.To)), append(s.methods, method)
	}
	defer clear(s.reads)
	return archives.EachGroups(ctx, s.reads, read.Staleness, &s.groups, func(j int) error {
		of := &series[run[j]]
		of.Reference = operands[run[j]].Reference
		return s.take(ctx, s.methods[j], i, read, of)
	})
}

// take makes what was read a series.
func (s *seriesReader) take(ctx context.Context, method carbonara.Method, i int, read *Read, series *aggregates.Series) error {
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
