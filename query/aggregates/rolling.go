package aggregates

import "slices"

// rolling gives, at each row that has window-1 rows before it, what these and its own come to; column by column.
func (e *evaluator) rolling(n *node) (*columns, error) {
	in, err := e.columns(n.operands[0])
	if err != nil {
		return nil, err
	}
	if n.window > len(in.times) {
		return nil, fail("Rolling window '%d' is greater than serie length '%d'", n.window, len(in.times))
	}
	out := *in
	out.times, out.whole = in.times[n.window-1:], true
	out.boolean = in.boolean && n.across.keepsBoolean()
	results := make([]float64, len(out.times))
	if n.across.rate {
		out.times = withoutFirst(out.times)
	}
	out.reader = func() reader {
		read, values, results := in.reader(), make([]float64, len(in.times)), slices.Clone(results)
		return func(j, _ int, dst []float64) error {
			if err := read(j, 0, values); err != nil {
				return err
			}
			if !n.across.rate {
				return e.roll(n, values, dst)
			}
			if err := e.roll(n, values, results); err != nil {
				return err
			}
			difference(results, dst, out.boolean)
			return nil
		}
	}
	return &out, nil
}

// longWindow is how many rows a window may have and be computed by itself, from its first row to its last: as if its
// rows were those of as many columns, each a row behind the one before.
const longWindow = 64

// roll writes the result of each window of values into dst.
func (e *evaluator) roll(n *node, values, dst []float64) error {
	if n.across.base == acrossMedian {
		return e.rollMedian(n.window, values, dst)
	}
	if n.window > longWindow {
		n.across.rollLong(n.window, values, dst)
		return nil
	}
	const atOnce = 1024 // windows, side by side: their rows stay in a core's cache
	for at := 0; at < len(dst); at += atOnce {
		results := dst[at:min(len(dst), at+atOnce)]
		clear(results)
		if err := n.across.accumulate(results, n.window, func(fold func(from int, values []float64)) error {
			for k := range n.window {
				fold(0, values[at+k:][:len(results)])
			}
			return e.ctx.Err()
		}); err != nil {
			return err
		}
	}
	return nil
}

// rollMedian keeps the window sorted.
func (e *evaluator) rollMedian(window int, values, dst []float64) error {
	sorted := make([]float64, 0, window)
	for i, v := range values {
		if i%1024 == 0 {
			if err := e.ctx.Err(); err != nil {
				return err
			}
		}
		if v == v {
			at, _ := slices.BinarySearch(sorted, v)
			sorted = slices.Insert(sorted, at, v)
		}
		if i < window-1 {
			continue
		}
		switch count := len(sorted); {
		case count == 0:
			dst[i-window+1] = nan
		case count%2 == 1:
			dst[i-window+1] = sorted[count/2]
		default:
			dst[i-window+1] = (sorted[count/2-1] + sorted[count/2]) / 2
		}
		if oldest := values[i-window+1]; oldest == oldest {
			at, _ := slices.BinarySearch(sorted, oldest)
			sorted = slices.Delete(sorted, at, at+1)
		}
	}
	return nil
}

// partial is what some rows of a window come to; two of them can be merged.
type partial struct {
	state
	m2 float64 // for std and var: the sum of the squared distances from the mean
}

func (m acrossMethod) addPartial(p *partial, v float64) {
	m.add(&p.state, v)
	switch {
	case v != v || !m.squares():
	case p.count == 1:
		p.m2 = v - v
	default: // as package carbonara does
		d := p.sum.TimesLess(p.count, v)
		p.m2 += d * d / (p.count * (p.count - 1))
	}
}

// merge adds the rows of b to p.
func (m acrossMethod) merge(p *partial, b *partial) {
	count := p.count + b.count
	switch {
	case !m.squares() || b.count == 0:
	case p.count == 0:
		p.m2 = b.m2
	default:
		d := b.sum.Over(b.count).Less(p.sum.Over(p.count))
		p.m2 += b.m2 + d*d*p.count*b.count/count
	}
	if b.best == b.best {
		p.count--
		m.add(&p.state, b.best)
	}
	p.count, p.sum = count, p.sum.PlusSum(b.sum)
}

// rollLong takes a time that does not depend on the window. Rows are cut into blocks as long as the window, so that
// each window is the end of one block and the beginning of the next: two partials, kept for every row of a block.
func (m acrossMethod) rollLong(window int, values, dst []float64) {
	ends, begins := make([]partial, window), make([]partial, window)
	for block := 0; block < len(dst); block += window {
		p := partial{state: empty}
		for i := window - 1; i >= 0; i-- {
			m.addPartial(&p, values[block+i])
			ends[i] = p
		}
		p = partial{state: empty}
		for i, v := range values[block+window : min(len(values), block+2*window)] {
			begins[i] = p // of the rows before i
			m.addPartial(&p, v)
			if i+1 < window {
				begins[i+1] = p
			}
		}
		for i := range dst[block:min(len(dst), block+window)] {
			p := ends[i]
			if i > 0 {
				m.merge(&p, &begins[i])
			}
			dst[block+i] = m.result(&p.state)
			if m.squares() {
				dst[block+i] = m.spread(p.m2, p.count)
			}
		}
	}
}
