package promql

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"

	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/parallel"
	"github.com/gnocco-db/gnocco/model"
)

const (
	firstAhead   = 16        // series that are read at once to begin with
	mostAhead    = 4096      // and at most
	samplesAhead = 256 << 10 // that are held before the engine asks for them, about
	runLength    = 32        // most series that are read at once of one sack, which is locked meanwhile
)

// readAhead reads the samples of series before the engine asks for them, from several goroutines. The engine asks for
// one series after the other, in a known order.
type readAhead struct {
	series []*series
	read   []*iterator // by series, until the engine asks for it; nil: not read
	asked  int         // series that the engine has asked for
	size   int         // how many are read next
	most   int64       // samples
	free   []*iterator
}

// pop returns the samples of the i-th series.
func (a *readAhead) pop(ctx context.Context, i int) *iterator {
	if a.read[i] == nil && a.series[i].native != nil {
		a.read[i] = a.loadNative(ctx, a.series[i])
	}
	if a.read[i] == nil {
		to := i + 1
		if i >= a.asked {
			to = min(i+a.size, len(a.series))
		}
		a.load(ctx, i, to)
	}
	it := a.read[i]
	a.read[i] = nil
	a.asked = max(a.asked, i+1)
	return it
}

// errEnough ends a run: enough samples are held.
var errEnough = errors.New("promql: enough is read ahead")

// load reads the series from one place to another, the first one at least.
func (a *readAhead) load(ctx context.Context, from, to int) {
	var todo []*series
	for i := from; i < to; i++ {
		if a.read[i] == nil && a.series[i].native == nil {
			todo = append(todo, a.series[i])
			a.read[i] = a.iterator()
		}
	}
	var samples, loaded atomic.Int64
	err := eachRun(ctx, todo, func(ctx context.Context, memory *scratch, run []*series) error {
		if run[0] != todo[0] && samples.Load() > a.most {
			return nil
		}
		err := a.loadRun(ctx, memory, run, func(it *iterator) bool {
			loaded.Add(1)
			return samples.Add(int64(len(it.times))) <= a.most
		})
		if errors.Is(err, errEnough) {
			return nil
		}
		return err
	})
	for _, s := range todo {
		if it := a.read[s.place]; !it.loaded && (err != nil || s == todo[0]) {
			it.err = err
		} else if !it.loaded {
			a.read[s.place], a.free = nil, append(a.free, it)
		}
	}
	if to > from+1 {
		each := samples.Load()/max(loaded.Load(), 1) + 1
		a.size = int(max(1, min(a.most/each, int64(8*a.size), mostAhead)))
	}
}

// iterator returns an empty one.
func (a *readAhead) iterator() *iterator {
	it := new(iterator)
	if last := len(a.free) - 1; last >= 0 {
		it, a.free = a.free[last], a.free[:last]
	}
	it.reset()
	return it
}

// loadRun reads series of one sack, and calls done after each. It ends once that is false.
func (a *readAhead) loadRun(ctx context.Context, memory *scratch, run []*series, done func(*iterator) bool) error {
	into := func(s *series) *iterator { return a.read[s.place] }
	return readParts(ctx, memory, run, into, func(s *series, it *iterator) error {
		s.selection.mark(it)
		if err := s.selection.source.cover(ctx, it); err != nil {
			return err
		}
		if it.loaded = true; !done(it) {
			return errEnough
		}
		return nil
	})
}

// readParts reads the planned parts of series of one sack into iterators, and calls done once each is complete.
func readParts(ctx context.Context, memory *scratch, run []*series, into func(*series) *iterator,
	done func(*series, *iterator) error) error {
	type source struct {
		series *series
		part   part
		last   bool
	}
	var reads []model.Read
	var sources []source
	for _, s := range run {
		n := len(reads)
		it := into(s)
		it.plain = true
		for _, p := range s.parts {
			if p.from < p.to {
				it.plain = it.plain && p.granularity == 0
				reads, sources = append(reads, s.readOf(p)), append(sources, source{series: s, part: p})
			}
		}
		if len(reads) > n {
			sources[len(sources)-1].last = true
		} else if err := done(s, it); err != nil {
			return err
		}
	}
	if len(reads) == 0 {
		return nil
	}
	return run[0].archives.EachGroups(ctx, reads, run[0].staleness(), &memory.groups, func(i int) error {
		s, it := sources[i].series, into(sources[i].series)
		read := int64(memory.groups.Bytes())
		if err := s.appendPart(it, memory, sources[i].part); err != nil {
			return err
		}
		budget.Of(ctx).Release(budget.Answers, read) // the next series takes its place
		if !sources[i].last {
			return nil
		}
		s.finish(it)
		return done(s, it)
	})
}

// seriesPerWorker is how many series a goroutine is worth.
const seriesPerWorker = 8

// eachRun calls f for runs of series that lie side by side in one sack's archive, from several goroutines.
func eachRun(ctx context.Context, all []*series,
	f func(ctx context.Context, memory *scratch, run []*series) error) error {
	workers := parallel.Workers((len(all) + seriesPerWorker - 1) / seriesPerWorker)
	length := min(runLength, max(1, len(all)/max(1, 2*workers)))
	var runs [][]*series
	first := 0
	for i := range all {
		if i+1 == len(all) || all[i+1].sack != all[i].sack || i+1-first == length {
			runs = append(runs, all[first:i+1])
			first = i + 1
		}
	}
	return parallel.Run(ctx, workers, len(runs), func(ctx context.Context, _ int, jobs iter.Seq[int]) error {
		account := budget.Part(ctx) // or else each series would lock the process's budget
		defer account.Close()
		memory := scratches.Get()
		defer func() { scratches.Put(memory, memory.bytes()) }()
		for i := range jobs {
			if err := f(account, memory, runs[i]); err != nil {
				return err
			}
		}
		return nil
	})
}
