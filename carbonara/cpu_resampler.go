package carbonara

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gnocco-db/gnocco/carbonara/ranked"
	"github.com/gnocco-db/gnocco/carbonara/sketch"
	"github.com/gnocco-db/gnocco/internal/parallel"
)

// CPUResampler is the Resampler of the CPU, and the reference for the one on a device. It may be used by several
// goroutines at once, each with its own Result.
type CPUResampler struct {
	workers int
}

// NewCPUResampler returns a resampler that spreads a large batch over that many goroutines (at least one).
func NewCPUResampler(workers int) *CPUResampler { return &CPUResampler{workers: max(workers, 1)} }

// measuresPerWorker is the batch size from which a further goroutine pays: about 0.5 ms of work.
const measuresPerWorker = 16 << 10

// Resample implements Resampler.
func (r *CPUResampler) Resample(ctx context.Context, batch *Batch, result *Result) error {
	result.reset(batch)
	measures := batch.Measures()
	workers := min(r.workers, 1+measures/measuresPerWorker, max(1, len(batch.Series)))
	for len(result.arenas) < workers {
		result.arenas = append(result.arenas, arena{})
	}
	if workers == 1 {
		return result.arenas[0].resample(ctx, batch, result, 0, len(batch.Series))
	}
	bounds := make([]int, workers+1) // in batch.Series
	next, shared := 0, 0             // series and measures that some worker has
	for w := range workers {
		for next < len(batch.Series) && (w == workers-1 || shared < (w+1)*measures/workers) {
			shared += batch.Series[next].Len()
			next++
		}
		bounds[w+1] = next
	}
	return parallel.Each(workers, workers, func(w int) error {
		return result.arenas[w].resample(ctx, batch, result, bounds[w], bounds[w+1])
	})
}

func (r *Result) reset(batch *Batch) {
	r.offsets = r.offsets[:0]
	n := 0
	for i := range batch.Series {
		r.offsets = append(r.offsets, n)
		n += len(batch.Series[i].Plan.Granularities)
	}
	if cap(r.groups) < n {
		r.groups = make([]Groups, n)
	}
	r.groups = r.groups[:n]
	for i := range r.arenas {
		r.arenas[i].reset()
	}
}

// arena is the memory of one worker: the columns of Groups, and scratch.
type arena struct {
	floats   bumpAllocator[float64]
	starts   bumpAllocator[Timestamp]
	columns  bumpAllocator[[]float64]
	borrowed []Borrowed

	runStarts   []Timestamp // of the groups of one series
	runEnds     []int       // their ends, as measure indexes
	differences []float64
	ranked      ranked.Values
	timestamps  []Timestamp // of a packed series
	values      []float64

	scaledValues []float64 // of a group

	sketcher    sketch.Encoder
	sketchBytes []byte // of the groups of one series
	sketchEnds  []int  // in them
}

func (a *arena) reset() {
	a.floats.reset()
	a.starts.reset()
	a.columns.reset()
	for _, memory := range a.borrowed {
		memory.Release()
	}
	clear(a.borrowed)
	a.borrowed = a.borrowed[:0]
}

func (a *arena) resample(ctx context.Context, batch *Batch, result *Result, from, to int) error {
	for i := from; i < to; i++ {
		if i&1023 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if err := a.resampleSeries(batch, result, i); err != nil {
			return err
		}
	}
	return nil
}

func (a *arena) resampleSeries(batch *Batch, result *Result, i int) error {
	s := &batch.Series[i]
	timestamps, values, err := a.columnsOf(batch, s)
	if err != nil {
		return fmt.Errorf("series %d: %w", i, err)
	}
	if s.Plan.rate.any {
		a.difference(s, values)
	}
	for j, granularity := range s.Plan.Granularities {
		from, _ := slices.BinarySearch(timestamps, s.Since.Floor(granularity))
		a.group(s, j, from, timestamps[from:], values[from:], &result.groups[result.offsets[i]+j])
	}
	return nil
}

// columnsOf returns the measures of a series, which are the arena's if it is packed.
func (a *arena) columnsOf(batch *Batch, s *Series) ([]Timestamp, []float64, error) {
	if s.Packed == nil {
		return batch.Timestamps[s.From:s.To], batch.Values[s.From:s.To], nil
	}
	var err error
	a.timestamps, a.values, err = s.Packed.Append(a.timestamps[:0], a.values[:0], s.From, s.To)
	return a.timestamps, a.values, err
}

// alloc lays out n rows of the plan's columns at its j-th granularity.
func (a *arena) alloc(plan *Plan, j, n int, out *Groups) {
	a.head(plan, j, out)
	out.Starts = a.starts.alloc(n)
	memory := a.floats.alloc(n * len(plan.Columns))
	for c := range out.Values {
		out.Values[c] = memory[c*n : (c+1)*n : (c+1)*n]
	}
}

// head says what the groups at the plan's j-th granularity are; their rows are not there yet.
func (a *arena) head(plan *Plan, j int, out *Groups) {
	out.Granularity, out.Columns = plan.Granularities[j], plan.Columns
	out.Values = a.columns.alloc(len(plan.Columns))
	out.open, out.means, out.sketches = openSums{}, nil, nil
}

// difference fills a.differences: element i is values[i] minus the measure before it. Element 0 means nothing where
// the series has no previous measure.
func (a *arena) difference(s *Series, values []float64) {
	a.differences = slices.Grow(a.differences[:0], len(values))[:len(values)]
	previous := s.Previous.Value
	for i, v := range values {
		a.differences[i] = v - previous
		previous = v
	}
}

// group computes the groups of one series at its j-th granularity into out, from its from-th measure on.
func (a *arena) group(s *Series, j, from int, timestamps []Timestamp, values []float64, out *Groups) {
	plan, granularity := s.Plan, s.Plan.Granularities[j]
	a.findRuns(timestamps, Timestamp(granularity))
	n := len(a.runStarts)
	a.alloc(plan, j, n, out)
	copy(out.Starts, a.runStarts)
	var open []float64
	if s.Open != nil && s.HasPrevious && n > 0 && s.Previous.Timestamp.Floor(granularity) == out.Starts[0] {
		open = s.Open[j*plan.open:][:plan.open]
	}
	if plan.measures.any {
		a.accumulate(&plan.measures, values, 0, open, out)
	}
	if plan.counter.any {
		a.accumulateCounter(&plan.counter, timestamps, values, open, out)
	}
	if len(plan.beyond) > 0 {
		a.accumulateBeyond(plan, values, open, out)
	}
	if plan.sketch {
		a.accumulateSketches(values, out)
	}
	if plan.rate.any {
		skip := 0
		if !s.HasPrevious && from == 0 {
			skip = 1
		}
		a.accumulate(&plan.rate, a.differences[from:], skip, open, out)
	}
}

// findRuns cuts ascending timestamps into the runs that fall into one group each.
func (a *arena) findRuns(timestamps []Timestamp, granularity Timestamp) {
	a.runStarts, a.runEnds = a.runStarts[:0], a.runEnds[:0]
	for i := 0; i < len(timestamps); {
		start := timestamps[i] - timestamps[i]%granularity
		// Compared as a difference: start + granularity may lie beyond the last timestamp.
		for i++; i < len(timestamps) && timestamps[i]-start < granularity; i++ {
		}
		a.runStarts = append(a.runStarts, start)
		a.runEnds = append(a.runEnds, i)
	}
}

// accumulate computes the columns of one family, leaving out the first skip values, the first run on top of the row
// open unless that is nil.
func (a *arena) accumulate(l *layout, values []float64, skip int, open []float64, out *Groups) {
	from := skip
	for i, end := range a.runEnds {
		run := values[min(from, end):end]
		from = max(from, end)
		var m moments
		if i == 0 && open != nil {
			l.load(open, &m)
			if l.moment[ColumnCount] >= 0 && m.count == 0 {
				m = moments{}
			}
		}
		if l.more {
			m.add(run)
			if l.low > 0 && (m.scaled || isHuge(m.sum.High)) {
				row := open
				if i > 0 {
					row = nil
				}
				a.again(l, &m, row, run)
				out.setScaled(out.Starts[i], l.sumColumn(), &m)
			}
		} else {
			m.count += float64(len(run))
		}
		l.store(&m, out.Values, i)
		if i == len(a.runEnds)-1 {
			out.setOpen(l, m.sum, m.scaled)
		}
		if len(l.percentiles) > 0 {
			a.percentiles(l, run, out, i)
		}
	}
}

// fewPercentiles of a group are looked for one by one.
const fewPercentiles = 4

func (a *arena) percentiles(l *layout, run []float64, out *Groups, i int) {
	if len(run) == 0 {
		for _, slot := range l.percentiles {
			out.Values[slot.column][i] = math.NaN()
		}
		return
	}
	a.ranked.Set(run)
	if len(l.percentiles) > fewPercentiles {
		a.ranked.Sort()
	}
	for _, slot := range l.percentiles { // they ascend
		out.Values[slot.column][i] = a.ranked.Percentile(len(run), slot.percentile)
	}
}
