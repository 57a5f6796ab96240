package heads

// written is what a checkpoint changes in heads once it is durable.
type written struct {
	heads   []*Head
	open    []float64 // rows of their newest groups
	ends    []int     // of each head's rows in open
	corrupt int       // stored operands met that do not decode
}

func (w *written) reset() {
	clear(w.heads)
	*w = written{heads: w.heads[:0], open: w.open[:0], ends: w.ends[:0]}
}

// openRows returns the rows of the i-th head, none if its plan does not continue groups.
func (w *written) openRows(i int) []float64 {
	from := 0
	if i > 0 {
		from = w.ends[i-1]
	}
	return w.open[from:w.ends[i]]
}

// Written returns the heads whose measures a checkpoint wrote, and how many stored operands did not decode.
func (b *Batch) Written() (heads []*Head, corrupt int) { return b.written.heads, b.written.corrupt }

// Release gives back borrowed memory, and forgets what was written. It reports for how many measures the batch has
// room.
func (b *Batch) Release() (measures int) {
	b.result.Release()
	b.written.reset()
	return cap(b.measures)
}

// note keeps what the heads need when the checkpoint is durable.
func (b *Batch) note(note Note) {
	w := &b.written
	w.corrupt += b.corrupt
	for i, e := range b.entries {
		for j := range e.head.Plan().Granularities {
			groups := b.result.Groups(i, j)
			if !e.head.Plan().HasPercentiles() {
				w.open = groups.AppendOpen(w.open)
			}
			note(e.head, j, e.start, groups)
		}
		w.heads, w.ends = append(w.heads, e.head), append(w.ends, len(w.open))
	}
}
