package carbonara

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
