package query

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/parallel"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/aggregates"
)

// tablesRead asks for one table for each granularity, with one series for each operand, in order.
type tablesRead struct {
	*Read
	operands      []Operand
	granularities []time.Duration
	divisible     bool // it may be read in parts of the time

	// read and kept are the number of series read so far, and the bytes of their aggregates. Goroutines add a series
	// first.
	read, kept atomic.Int64
}

// need estimates the bytes of all aggregates by those read so far.
func (t *tablesRead) need() int64 {
	kept := t.kept.Load() // first: all of its series are among those read
	return kept / max(1, t.read.Load()) * int64(len(t.operands)*len(t.granularities))
}

// readTables reads the tables that want asks for. Several series are read at once.
func (r *Reader) readTables(ctx context.Context, want *tablesRead) ([]aggregates.Table, error) {
	tables := make([]aggregates.Table, len(want.granularities))
	for i, granularity := range want.granularities {
		tables[i] = aggregates.Table{Granularity: granularity, Series: make([]aggregates.Series, len(want.operands))}
	}
	archives, err := r.prefetch(ctx, want)
	if err != nil {
		var tooLarge *budget.TooLargeError
		if errors.As(err, &tooLarge) && want.divisible {
			starts, err := r.evenStarts(ctx, want)
			return nil, cmp.Or(err, error(&tooLargeError{*tooLarge, starts}))
		}
		return nil, err
	}
	runs := runsOf(archives, want.operands)
	runsPerWorker := readsPerWorker * len(runs) / max(1, len(want.operands))
	account := budget.Of(ctx)
	room := account.MostAnswers() - account.Held(budget.Answers)
	readRun := func(ctx context.Context, s *seriesReader, run, i int) error {
		if err := s.readRun(ctx, archives, want, runs[run], i, tables[i].Series); err != nil {
			return err
		}
		// A divisible read ends early, before its memory is used up.
		if need := want.need(); want.divisible && want.kept.Load() > room/8 && need > room {
			return &budget.TooLargeError{Use: budget.Answers, Need: need, Most: room}
		}
		return nil
	}
	if err := readAtOnce(ctx, len(runs), len(tables), runsPerWorker, readRun); err != nil {
		return nil, want.tooLarge(err, want.need(), tables)
	}
	return tables, nil
}

// runLength bounds how many metrics are read at once: their sack is locked meanwhile.
const runLength = 32

// runsOf splits operands, by number, into runs of metrics that lie side by side in one sack's archive.
func runsOf(archives GroupReader, operands []Operand) [][]int32 {
	type place struct {
		sack      int32
		operand   int32
		high, low uint64 // halves of the metric's ID
	}
	places := make([]place, len(operands))
	for i := range operands {
		id := &operands[i].Metric.ID
		high, low := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(id[8:])
		places[i] = place{int32(archives.Sack(*id)), int32(i), high, low}
	}
	slices.SortFunc(places, func(a, b place) int {
		switch { // cmp.Or compares all three
		case a.sack != b.sack:
			return cmp.Compare(a.sack, b.sack)
		case a.high != b.high:
			return cmp.Compare(a.high, b.high)
		}
		return cmp.Compare(a.low, b.low)
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
	least := max(perWorker, 1)
	workers := parallel.Workers((batches*n + least - 1) / least)
	return parallel.Run(ctx, workers, batches*n, func(ctx context.Context, _ int, jobs iter.Seq[int]) error {
		part := budget.Part(ctx)
		defer part.Close()
		s := seriesReaders.Get()
		defer func() {
			s.last = nil
			seriesReaders.Put(s, s.groups.Capacity()+8*cap(s.starts)+8*cap(s.values)+8*cap(s.sorted))
		}()
		s.last = make([][]carbonara.Timestamp, n)
		for job := range jobs {
			if err := read(part, s, job/n, job%n); err != nil {
				return err
			}
		}
		return nil
	})
}

// aggregateBytes is what an aggregate takes until it is evaluated: its value, in an Arena that may be half empty.
// startBytes is what it takes more where its series shares its times with no other one, which have to be merged.
const aggregateBytes, startBytes = 16, 16

// seriesReader is the memory of a goroutine that reads series.
type seriesReader struct {
	reads   []model.Read
	methods []carbonara.Method
	groups  carbonara.Groups
	starts  []carbonara.Timestamp
	values  []float64
	sorted  []float64
	last    [][]carbonara.Timestamp // by granularity: of the series read before, to be shared by equal ones
}

var seriesReaders budget.Pool[seriesReader]

// readRun reads the aggregates of a run of operands at the i-th granularity into their series.
func (s *seriesReader) readRun(ctx context.Context, archives GroupReader, want *tablesRead, run []int32, i int,
	series []aggregates.Series) error {
	s.reads, s.methods = s.reads[:0], s.methods[:0]
	for _, operand := range run {
		o := &want.operands[operand]
		method, err := carbonara.ParseMethod(o.Aggregation)
		if err != nil {
			return err
		}
		s.reads = append(s.reads, ReadOf(o.Metric, want.granularities[i], method, want.From, want.To))
		s.methods = append(s.methods, method)
	}
	defer clear(s.reads)
	return archives.EachGroups(ctx, s.reads, want.Staleness, &s.groups, func(j int) error {
		of := &series[run[j]]
		of.Reference = want.operands[run[j]].Reference
		if err := s.aggregateInto(ctx, s.methods[j], want.Values, of); err != nil {
			return err
		}
		kept := aggregateBytes + startBytes
		var shared bool
		if of.Starts, shared = s.shared(i); shared {
			kept = aggregateBytes
			budget.Of(ctx).Release(budget.Answers, int64(startBytes*len(of.Values)))
		}
		want.read.Add(1)
		want.kept.Add(int64(kept * len(of.Values)))
		return nil
	})
}

// aggregateInto sets a series' values to the aggregates of the groups read, with their starts in s.
func (s *seriesReader) aggregateInto(ctx context.Context, method carbonara.Method, arena *Arena,
	of *aggregates.Series) error {
	// The groups' memory becomes free, and their aggregates stay.
	account := budget.Of(ctx)
	if more := int64((aggregateBytes+startBytes)*s.groups.Len() - s.groups.Bytes()); more < 0 {
		account.Release(budget.Answers, -more)
	} else if err := account.Acquire(budget.Answers, more); err != nil {
		return err
	}
	s.starts, of.Values = s.groups.Aggregate(method, s.starts[:0], arena.alloc(s.groups.Len())[:0])
	return nil
}

// shared returns the starts from aggregateInto, and whether they are in the memory of the series before, which has the
// same.
func (s *seriesReader) shared(granularity int) (starts []carbonara.Timestamp, shared bool) {
	last := &s.last[granularity]
	if shared = equalStarts(s.starts, *last, s.groups.Granularity); !shared {
		*last = slices.Clone(s.starts)
	}
	return *last, shared
}

// equalStarts reports whether groups of a granularity start at the same times. Without gaps their ends tell.
func equalStarts(a, b []carbonara.Timestamp, granularity time.Duration) bool {
	last := len(a) - 1
	if len(b) != len(a) || last < 0 || a[0] != b[0] || a[last] != b[last] {
		return len(a) == 0 && len(b) == 0
	}
	return granularity > 0 && a[last] == a[0].Add(time.Duration(last)*granularity) || slices.Equal(a, b)
}

// prefetch returns a reader of the series that want asks for.
func (r *Reader) prefetch(ctx context.Context, want *tablesRead) (GroupReader, error) {
	reads := make([]model.Read, 0, len(want.operands)*len(want.granularities))
	for i := range want.operands {
		o := &want.operands[i]
		method, err := carbonara.ParseMethod(o.Aggregation)
		if err != nil {
			return nil, err
		}
		for _, granularity := range want.granularities {
			reads = append(reads, ReadOf(o.Metric, granularity, method, want.From, want.To))
		}
	}
	return r.Archives.Prefetch(ctx, reads, want.Staleness)
}
