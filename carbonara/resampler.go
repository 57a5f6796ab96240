package carbonara

import "context"

// A Resampler turns measures of many metrics into groups: every granularity and column of each metric's plan, in one
// call. There are two: CPUResampler here, and the one on a CUDA device in package gpu/resample. Both give the same
// counts, minima, maxima, firsts, lasts and percentiles; sums and second moments are accumulated in time order within a
// group, so that they do not depend on how measures were batched.
type Resampler interface {
	// Resample computes the groups of batch into result, which it resets. The result stays valid until it is passed to
	// Resample again. It does not modify batch. Packed series that do not decode are an error, which wraps ErrCorrupt.
	Resample(ctx context.Context, batch *Batch, result *Result) error
}

// Accelerated is a Resampler with something faster than the CPU, for some batches.
type Accelerated interface {
	Resampler
	// Accelerates reports whether it is expected to be faster than the CPU for so many measures in so many groups of a
	// plan's finest granularity. A caller asks first if it would make a large batch for nothing else, or knows a
	// shorter way on the CPU, on so many of its cores.
	Accelerates(plan *Plan, measures, groups, cores int) bool
}

// Accelerates is Accelerated.Accelerates, false for any other Resampler.
func Accelerates(r Resampler, plan *Plan, measures, groups, cores int) bool {
	a, ok := r.(Accelerated)
	return ok && a.Accelerates(plan, measures, groups, cores)
}

// Result holds the groups of a batch: for every series one Groups for each granularity of its plan, ascending.
type Result struct {
	groups  []Groups
	offsets []int   // of each series' first Groups
	arenas  []arena // one per worker
}

// Release empties the result and gives back the memory that it borrowed; otherwise the next Resample does that, or the
// collector.
func (r *Result) Release() {
	clear(r.groups)
	r.groups, r.offsets = r.groups[:0], r.offsets[:0]
	for i := range r.arenas {
		r.arenas[i].reset()
	}
}

// Groups returns the groups of series i at the j-th granularity of its plan. They belong to the result, and may lie in
// memory that it borrowed from the resampler: no slice of them is kept for longer than the result.
func (r *Result) Groups(i, j int) *Groups { return &r.groups[r.offsets[i]+j] }

// ResultWriter fills in the groups of some series of a Result, for resamplers of other packages. Each goroutine has its
// own.
type ResultWriter struct {
	batch  *Batch
	result *Result
	arena  *arena
}

// Writers resets result for the groups of batch and returns a writer for each of that many goroutines, appended to dst.
// Every series must then be filled in by one of them.
func (r *Result) Writers(dst []ResultWriter, batch *Batch, goroutines int) []ResultWriter {
	for len(r.arenas) < goroutines {
		r.arenas = append(r.arenas, arena{})
	}
	r.reset(batch)
	for i := range goroutines {
		dst = append(dst, ResultWriter{batch, r, &r.arenas[i]})
	}
	return dst
}

// Alloc returns the groups of series i at the j-th granularity of its plan, with that many rows of no defined content.
func (w *ResultWriter) Alloc(i, j, rows int) *Groups {
	plan, out := w.batch.Series[i].Plan, &w.result.groups[w.result.offsets[i]+j]
	w.arena.alloc(plan, j, rows, out)
	return out
}

// Refer returns the groups of series i at the j-th granularity of its plan, to have Starts and each of Values pointed
// to memory that is handed to Keep.
func (w *ResultWriter) Refer(i, j int) *Groups {
	plan, out := w.batch.Series[i].Plan, &w.result.groups[w.result.offsets[i]+j]
	w.arena.head(plan, j, out)
	return out
}

// Keep makes the result release that memory when it is used again.
func (w *ResultWriter) Keep(memory Borrowed) { w.arena.borrowed = append(w.arena.borrowed, memory) }

// Resample computes all groups of series i on the CPU. An error wraps ErrCorrupt: the series is packed.
func (w *ResultWriter) Resample(i int) error { return w.arena.resampleSeries(w.batch, w.result, i) }
