package promql

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/parallel"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// rowsAtOnce bounds the values of the rows that are held at once, but for one row.
const rowsAtOnce = 512 << 10

// computation is the evaluation of a pipeline.
type computation struct {
	*columns.Pipeline
	source *source
	sel    *selection
	at     columns.Times
	n      int       // series
	all    []*series // nil: they come from stream
	stream *stream
	inner  *computed     // what they are the results of; nil: they are read
	fold   *columns.Fold // nil: rows are the result
	result upstream.Matrix
	points int64 // in result
	seen   []int // by group: the first series that has a value, from 1
	first  int   // series whose row is the first of rows
	rows   []float64
	filled []bool // by row: it has a value

	used atomic.Int64 // samples

	mu    sync.Mutex
	notes annotations.Annotations
	rest  []*series // that have more to read than their first read gave
	names []string  // of metrics whose rates were taken
}

// compute evaluates a pipeline.
func (s *source) compute(ctx context.Context, n *node, e evaluation) (*computed, error) {
	c := &computation{Pipeline: n.Pipeline, source: s, at: e.at}
	if c.at.N == 0 {
		return &computed{at: c.at}, nil
	}
	var err error
	if n.inner != nil {
		err = c.findInner(ctx, n.inner, e)
	} else {
		c.sel = s.newSelection(e.hints(n.Pipeline, s.longest))
		err = c.find(ctx)
	}
	if err != nil {
		return nil, err
	}
	if !c.haveNames() {
		return nil, errSameLabels
	}
	if c.Aggregates() {
		if err := c.beginFold(ctx); err != nil {
			return nil, ended(ctx, err)
		}
	}
	if err := c.run(ctx); err != nil {
		return nil, ended(ctx, err)
	}
	if c.fold != nil {
		if err := c.endFold(ctx); err != nil {
			return nil, ended(ctx, err)
		}
	}
	done := &computed{matrix: c.result, at: c.at, series: int64(c.n), used: c.used.Load(), points: c.points}
	if c.inner != nil {
		c.notes.Merge(c.inner.notes)
		done.series, done.used = c.inner.series, c.inner.used
	} else {
		c.sel.noteOrigins()
		c.notes.Merge(c.sel.notes)
	}
	done.notes = c.notes
	return done, nil
}

// find finds the series.
func (c *computation) find(ctx context.Context) error {
	matchers, err := c.sel.prepare(c.Selector.LabelMatchers)
	streams := false
	if err == nil {
		streams, err = c.findStream(ctx, matchers)
	}
	if err == nil && !streams {
		c.all, err = c.sel.find(ctx, false, matchers)
		if c.n = len(c.all); err == nil && slices.ContainsFunc(c.all, isNative) {
			return errHistograms
		}
	}
	if errors.Is(err, errHistograms) {
		return err
	}
	if err != nil {
		return expanding(ctx, err)
	}
	return nil
}

// haveNames reports whether series that lose their names still have distinct labels.
func (c *computation) haveNames() bool {
	if !c.DropsNames() {
		return true
	}
	oneName := true
	for _, s := range c.all {
		oneName = oneName && s.name == c.all[0].name && !s.labels.Has("__type__") && !s.labels.Has("__unit__")
	}
	if oneName {
		return true
	}
	known := make(map[uint64]bool, len(c.all))
	for _, s := range c.all {
		hash := columns.WithoutName(s.labels).Hash()
		if known[hash] {
			return false
		}
		known[hash] = true
	}
	return true
}

func (c *computation) beginFold(ctx context.Context) error {
	if c.stream == nil {
		c.fold = c.NewFold(c.at.N)
	}
	for _, s := range c.all {
		shown := s.labels
		if c.GroupsByName() {
			shown = c.Shown(shown)
		}
		s.group = c.fold.Group(shown)
	}
	c.seen = make([]int, c.fold.Groups())
	if err := c.source.charge(ctx, c.fold.Bytes()); err != nil {
		return err
	}
	c.fold.Begin()
	return nil
}

// run computes the rows of all series, some at a time.
func (c *computation) run(ctx context.Context) error {
	n := min(c.n, max(1, rowsAtOnce/c.at.N), mostInStream)
	account, bytes := budget.Of(ctx), 8*int64(n)*int64(c.at.N)
	if c.stream != nil {
		bytes += streamedBytes * int64(n)
	}
	if err := account.Acquire(budget.Answers, bytes); err != nil {
		return err
	}
	defer account.Release(budget.Answers, bytes)
	c.rows, c.filled = make([]float64, n*c.at.N), make([]bool, n)
	for c.first = 0; c.first < c.n; c.first += n {
		some, err := c.next(ctx, c.first, min(c.first+n, c.n))
		if err != nil {
			return expanding(ctx, err)
		}
		if len(some) == 0 {
			continue
		}
		clear(c.filled)
		if c.inner != nil {
			err = c.take(ctx, some)
		} else {
			err = c.read(ctx, some)
		}
		if err != nil {
			return err
		}
		if c.fold != nil {
			err = c.foldRows(ctx, some)
		} else {
			err = c.keepRows(ctx, some)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// row returns the place of a series' row.
func (c *computation) row(s *series) []float64 {
	at := (s.place - c.first) * c.at.N
	return c.rows[at : at+c.at.N : at+c.at.N]
}

// read computes the rows of some series. Most are complete with one look-up each: it says which raw measures are kept,
// and reads them.
func (c *computation) read(ctx context.Context, some []*series) error {
	archives, staleness := c.source.engine.options.Archives, c.source.Staleness
	reads := make([]model.Read, len(some))
	for i, s := range some {
		reads[i] = s.firstRead()
	}
	found, err := archives.Prefetch(ctx, reads, staleness)
	if err != nil {
		return expanding(ctx, err)
	}
	c.rest = c.rest[:0]
	err = eachRun(ctx, some, func(ctx context.Context, memory *scratch, run []*series) error {
		defer memory.cover(ctx)()
		first := run[0].place - c.first
		return found.EachGroups(ctx, reads[first:first+len(run)], staleness, &memory.groups, func(i int) error {
			s, bytes := run[i], int64(memory.groups.Bytes())
			defer budget.Of(ctx).Release(budget.Answers, bytes)
			s.plan(memory.groups.Raw)
			if p, ok := s.complete(&reads[first+i]); !ok {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.rest = append(c.rest, s)
				return nil
			} else if p != nil && !c.computeMeasures(s, &memory.groups, *p) {
				memory.it.reset()
				memory.it.plain = true
				if err := s.appendPart(&memory.it, memory, *p); err != nil {
					return err
				}
				s.finish(&memory.it)
				return c.compute(ctx, s, memory)
			}
			return nil
		})
	})
	for _, s := range some {
		c.sel.note(s)
	}
	if err != nil || len(c.rest) == 0 {
		return err
	}
	slices.SortFunc(c.rest, func(a, b *series) int { return a.place - b.place })
	return c.readRest(ctx)
}

// readRest computes the rows of the series that have more to read.
func (c *computation) readRest(ctx context.Context) error {
	var reads []model.Read
	for _, s := range c.rest {
		reads = s.appendReads(reads)
	}
	found, err := c.source.engine.options.Archives.Prefetch(ctx, reads, c.source.Staleness)
	if err != nil {
		return expanding(ctx, err)
	}
	for _, s := range c.rest {
		s.archives = found
	}
	return eachRun(ctx, c.rest, func(ctx context.Context, memory *scratch, run []*series) error {
		defer memory.cover(ctx)()
		memory.it.reset()
		into := func(*series) *iterator { return &memory.it }
		return readParts(ctx, memory, run, into, func(s *series, it *iterator) error {
			defer it.reset()
			return c.compute(ctx, s, memory)
		})
	})
}

// computeMeasures computes a series' row from raw measures that are its only part, if that needs no samples.
func (c *computation) computeMeasures(s *series, groups *carbonara.Groups, p part) bool {
	asValues := s.reading.kind != readOne && (s.reading.kind != readMethod || s.reading.method != carbonara.Count)
	if !c.Direct() || !asValues || groups.Len() > c.source.engine.options.MaxSamples {
		return false
	}
	from, to := s.measuresOf(groups, p)
	measures := columns.Measures[carbonara.Timestamp]{Times: groups.Starts[from:to], Values: groups.Values[0][from:to],
		Late: s.late(), StaleAfter: s.endsAfter(0)}
	filled, called, used, ok := columns.RowOfMeasures(c.Pipeline, &measures, c.at, c.source.longest, c.row(s))
	if ok {
		c.done(s, filled, called, used, nil)
	}
	return ok
}

// compute computes a series' row from the samples in memory.
func (c *computation) compute(ctx context.Context, s *series, memory *scratch) error {
	it := &memory.it
	if err := memory.charge(ctx); err != nil || len(it.times) == 0 {
		return err
	}
	samples := it.samples(s.labels, c.Pipeline)
	if len(it.shares) > 0 {
		samples.Notes = noteQuantile(c.Parameter(), c.RangePosition())
	}
	filled, called, used := c.Row(&memory.row, samples, c.at, c.source.longest, c.row(s))
	if c.sel != nil {
		c.sel.noteCut(samples)
	}
	c.done(s, filled, called, used, samples.Notes)
	return nil
}

// done notes what Row says of a series.
func (c *computation) done(s *series, filled, called bool, used int64, notes annotations.Annotations) {
	c.used.Add(used)
	c.filled[s.place-c.first] = filled
	isRate := called && (c.Function() == "rate" || c.Function() == "increase")
	if len(notes) == 0 && !isRate {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes.Merge(notes)
	if name := s.name; isRate && name != "" && !slices.Contains(c.names, name) {
		c.names = append(c.names, name)
		if !model.TypeOfSeries(name, nil).Grows() { // as the engine has it
			c.notes.Add(annotations.NewPossibleNonCounterInfo(name, c.RangePosition()))
		}
	}
}

// foldRows adds the rows of some series to their groups, in their order: each goroutine at some times.
func (c *computation) foldRows(ctx context.Context, some []*series) error {
	for _, s := range some {
		if group := s.group; c.filled[s.place-c.first] && c.seen[group] == 0 {
			c.seen[group] = s.place + 1
		}
	}
	return c.atTimes(ctx, len(some), func(from, to int) {
		for _, s := range some {
			if c.filled[s.place-c.first] {
				c.fold.Add(s.group, s.place, c.row(s), from, to)
			}
		}
	})
}

// atTimes calls f for parts of the times, on as many goroutines as the values of so many series are worth.
func (c *computation) atTimes(ctx context.Context, series int, f func(from, to int)) error {
	const valuesPerWorker = 64 << 10
	// Goroutines that write to one cache line wait for each other at each value: each has lines of its own.
	const lineValues = 8
	lines := (c.at.N + lineValues - 1) / lineValues
	workers := min(parallel.Workers(1+series*c.at.N/valuesPerWorker), lines)
	return parallel.Run(ctx, workers, workers, func(_ context.Context, _ int, jobs iter.Seq[int]) error {
		for job := range jobs {
			f(job*lines/workers*lineValues, min((job+1)*lines/workers*lineValues, c.at.N))
		}
		return nil
	})
}

// endFold makes the result of the groups, in the order in which they came.
func (c *computation) endFold(ctx context.Context) error {
	var order []int
	for group, seen := range c.seen {
		if seen > 0 {
			order = append(order, group)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return c.seen[a] - c.seen[b] })
	if c.Ranks() {
		return c.fold.EachChosen(order, func(place int, row []float64) error {
			shown := c.Shown(c.all[place].labels)
			if c.DropsNamesAfter() {
				shown = columns.WithoutName(shown)
			}
			return c.keep(ctx, shown, row)
		})
	}
	if c.DropsNamesAfter() && c.fold.DropNames(order) {
		return errSameLabels
	}
	if err := c.atTimes(ctx, c.n, c.fold.Quantiles); err != nil {
		return err
	}
	for _, group := range order {
		if row, any := c.fold.Result(group); any {
			if err := c.keep(ctx, c.fold.Labels(group), row); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepRows adds the rows of some series to the result.
func (c *computation) keepRows(ctx context.Context, some []*series) error {
	for _, s := range some {
		if c.filled[s.place-c.first] {
			if err := c.keep(ctx, c.Shown(s.labels), c.row(s)); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep adds a row to the result.
func (c *computation) keep(ctx context.Context, shown labels.Labels, row []float64) error {
	n := 0
	columns.Present(row, func(int, float64) { n++ })
	if err := c.source.chargePoints(ctx, &c.points, n); err != nil {
		return err
	}
	points := make([]upstream.FPoint, 0, n)
	columns.Present(row, func(i int, v float64) { points = append(points, upstream.FPoint{T: c.at.At(i), F: v}) })
	c.result = append(c.result, upstream.Series{Metric: shown, Floats: points})
	return nil
}
