package metricd

import "github.com/gnocco-db/gnocco/carbonara"

// written is what a checkpoint changes in heads once it is durable.
type written struct {
	heads   []*head
	open    []float64 // rows of their newest groups
	ends    []int     // of each head's rows in open
	recent  []recentPart
	corrupt int // stored operands met that do not decode
}

// recentPart is groups of a checkpoint that a head's recent groups lack.
type recentPart struct {
	of     *recentGroups
	start  carbonara.Timestamp // of the first group that has all its measures
	groups carbonara.Groups
}

func (w *written) reset() {
	clear(w.heads)
	clear(w.recent)
	*w = written{heads: w.heads[:0], open: w.open[:0], ends: w.ends[:0], recent: w.recent[:0]}
}

// openRows returns the rows of the i-th head, none if its plan does not continue groups.
func (w *written) openRows(i int) []float64 {
	from := 0
	if i > 0 {
		from = w.ends[i-1]
	}
	return w.open[from:w.ends[i]]
}

// note keeps of a batch what its heads need when the checkpoint is durable.
func (s *sack) note(b *batch) {
	w := &b.written
	w.corrupt += b.corrupt
	s.mu.RLock()
	defer s.mu.RUnlock()
	for i, e := range b.entries {
		for j := range e.head.plan().Granularities {
			groups := b.result.Groups(i, j)
			if !e.head.plan().HasPercentiles() {
				w.open = groups.AppendOpen(w.open)
			}
			r := s.recent.find(e.head, j)
			if r == nil {
				continue
			}
			r.mu.Lock()
			lacks := r.lacksPending()
			r.mu.Unlock()
			if lacks {
				part := recentPart{of: r, start: e.start}
				part.groups.Reset(groups.Granularity, groups.Columns)
				part.groups.Append(groups)
				w.recent = append(w.recent, part)
			}
		}
		w.heads, w.ends = append(w.heads, e.head), append(w.ends, len(w.open))
	}
}

// lacksPending reports whether pending measures are not in r, which was read. mu is held, or the sack's, for writing.
func (r *recentGroups) lacksPending() bool {
	return r.plan != nil && r.taken < r.head.pending.Len()
}

// overlay puts the part's groups into the recent groups, unless a read took the measures meanwhile.
func (p *recentPart) overlay(scratch *carbonara.Groups) {
	if r := p.of; r.lacksPending() {
		r.overlay(&p.groups, p.start, scratch)
		r.taken = r.head.pending.Len()
	}
}
