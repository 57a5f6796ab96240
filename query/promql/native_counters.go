package promql

import (
	"cmp"
	"math"
	"slices"

	"github.com/prometheus/prometheus/model/histogram"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// overHistograms is a function of a range (start, end] of native histograms. Of groups of counters each part increases
// as a counter of its own, and all are extrapolated as the count is.
func (sel *selection) overHistograms(name string, start, end int64, plain upstream.FunctionCall,
	vectors []upstream.Vector, matrix upstream.Matrix, args parser.Expressions, enh *upstream.EvalNodeHelper) (
	upstream.Vector, annotations.Annotations) {
	it := sel.current
	n, samples := it.native, &columns.Samples{Times: it.times, Begins: it.begins}
	w, ok := new(columns.Cursor).Window(samples, start, end, enh.Ts)
	if !ok {
		return enh.Out, nil
	}
	sel.noteCut(samples)
	if n.grouped {
		places := n.at[w.From:w.To]
		mixed := places[len(places)-1].row-places[0].row != len(places)-1
		for _, p := range places {
			mixed = mixed || p.family != places[0].family
		}
		if !mixed && (!w.IsWhole() || haveGroups(n.leads(places), it.times[w.From:w.To])) {
			return n.rate(name, samples, w, args, enh)
		}
	}
	w = samples.Chosen(name, w)
	out, mark := upstream.Series{Metric: matrix[0].Metric}, matrix[0].Floats[0]
	shift := int64(mark.F) - mark.T
	for i := w.From; i < w.To; i++ {
		t, p, share := it.times[i]-shift, n.at[i], 1.0
		if name == "sum_over_time" {
			share = w.Share(i)
		}
		if p.family < 0 {
			out.Floats = append(out.Floats, upstream.FPoint{T: t, F: it.values[p.row] * share})
			continue
		}
		of := n.lastAt(p)
		if share < 1 {
			of.Mul(share)
		}
		out.Histograms = append(out.Histograms, upstream.HPoint{T: t, H: of})
	}
	return plain(vectors, upstream.Matrix{out}, args, enh)
}

// lastAt returns the histogram at a place, or the last one of the group there.
func (n *nativeSamples) lastAt(p nativePlace) *histogram.FloatHistogram {
	if n.grouped {
		return n.families[p.family].endOf(p.row, true)
	}
	return n.histogramAt(p, nil)
}

// leads returns the counts of histograms, or the numbers, at some places of one family.
func (n *nativeSamples) leads(places []nativePlace) []counter {
	first := places[0]
	lead := n.numbers
	if first.family >= 0 {
		lead = n.families[first.family].counts[0]
	}
	return lead[first.row : first.row+len(places)]
}

// rate is rate or increase of a window of groups of one family.
func (n *nativeSamples) rate(name string, samples *columns.Samples, w columns.Window, args parser.Expressions,
	enh *upstream.EvalNodeHelper) (upstream.Vector, annotations.Annotations) {
	family := n.at[w.From].family
	seconds := float64(w.End-w.Start) / 1000
	of, scale := name, 1.0
	if !w.IsWhole() && name == "rate" {
		of, scale = "increase", 1/seconds
	}
	ranges, _ := unwrap(args[len(args)-1]).(*parser.MatrixSelector)
	var sum *histogram.FloatHistogram
	var notes annotations.Annotations
	number, failed := 0.0, false
	ok := samples.Interpolate(w, func(w columns.Window, weight float64) bool {
		if w.From == w.To {
			return false
		}
		places := n.at[w.From:w.To]
		lead := n.leads(places)
		if family < 0 {
			v := overCounters[of](lead, w.Start, w.End, seconds)
			number += v * weight * scale
			return !columns.IsAbsent(v)
		}
		all, i, first := n.families[family], increase(lead, true), places[0].row
		i.By = all.increase(0, first, first+len(places))
		v, factor := columns.Rates[of].Extrapolate(&i, w.Start, w.End, seconds), 0.0
		if columns.IsAbsent(v) {
			return false
		}
		if i.By != 0 {
			factor = v / i.By
		}
		h, more := all.increaseOf(first, first+len(places), ranges.PositionRange())
		if notes.Merge(more); h == nil {
			failed = true
			return true
		}
		h.Mul(factor * weight * scale)
		if sum == nil {
			sum = h
			return true
		}
		var err error
		sum, _, _, err = sum.Add(h)
		notes.Merge(mixedLayouts(err, ranges.PositionRange()))
		failed = failed || err != nil
		return true
	})
	switch {
	case !ok || failed:
		return enh.Out, notes
	case family < 0:
		return append(enh.Out, upstream.Sample{F: number}), notes
	}
	sum.CounterResetHint = histogram.GaugeType
	return append(enh.Out, upstream.Sample{H: sum.Compact(0)}), notes
}

// endOf returns the first or the last histogram of a group.
func (f *histograms) endOf(row int, last bool) *histogram.FloatHistogram {
	return f.build(nil, func(part int) (float64, bool) { return f.endValue(part, row, last) })
}

// endValue returns the value of a part in the first or last histogram of a group, 0 if it is empty there.
func (f *histograms) endValue(part, row int, last bool) (v float64, ok bool) {
	switch c, lead := &f.counts[part][row], &f.counts[0][row]; {
	case c.count == 0:
	case last && c.lastTime == lead.lastTime:
		return c.last, true
	case !last && c.firstTime == lead.firstTime:
		return c.first, true
	}
	return 0, false
}

// increaseOf returns the increase of histograms from the first measure of some groups to the last.
func (f *histograms) increaseOf(from, to int, at posrange.PositionRange) (
	*histogram.FloatHistogram, annotations.Annotations) {
	by, present, carried := make([]float64, len(f.parts)), make([]bool, len(f.parts)), 0.0
	unsure := slices.Contains(f.unsure[from:to], true)
	begin := from
	if to-from > 1 && f.counts[0][from].count == 1 && f.endOf(from+1, false).DetectReset(f.endOf(from, true)) {
		from++ // the second histogram begins anew: the layout of the first one does not matter
	}
	for i, part := range f.parts {
		by[i] = f.increase(i, begin, to)
		missing := 0.0
		for k, g := range f.counts[i][from:to] {
			present[i] = present[i] || g.count > 0
			missing += f.counts[0][from+k].count - g.count
		}
		before, first := f.endValue(i, from, false)
		after, last := f.endValue(i, to-1, true)
		switch {
		case part.Kind == model.HistogramSum && by[i] != by[i]:
			// A NaN or two infinities between the ends count only where histograms begin anew.
			if lead := f.counts[0]; by[0] <= (lead[to-1].last-lead[begin].first)*(1+1e-9) {
				by[i] = after - before
			} else {
				unsure = true
			}
		case part.Kind == model.HistogramZero:
			unsure = unsure || present[i] && !first && !last
		case part.Kind != model.HistogramCustom:
		case missing > 0 && part.Bound <= maxBound:
			// Bounds that only some histograms have are left out: the next bucket takes theirs.
			carried, present[i] = carried+by[i], false
			unsure = unsure || first && last // Prometheus asks those between only where they begin anew
		default:
			by[i], carried = by[i]+carried, 0
		}
	}
	h, err := f.merged(func(i int) (float64, bool) { return by[i], present[i] })
	notes := mixedLayouts(err, at)
	widened := h != nil && h.ZeroThreshold > 0 && !slices.ContainsFunc(f.parts, func(p model.HistogramPart) bool {
		return p.Kind == model.HistogramZero && p.Bound == h.ZeroThreshold
	})
	if unsure || widened {
		notes.Add(errUnsure)
	}
	return h, notes
}

// mixedLayouts is the warning for an error of adding histograms up.
func mixedLayouts(err error, at posrange.PositionRange) (notes annotations.Annotations) {
	if err == nil {
		return nil
	}
	return notes.Add(annotations.NewMixedExponentialCustomHistogramsWarning("", at))
}

// errUnsure is the warning of increases that groups do not tell exactly.
var errUnsure = warning("native histograms began anew or changed their layout within groups, which do not tell all of " +
	"it: the increase of some buckets is an estimate")

// setIncreases computes by how much each part increases within groups and between them. As in Prometheus, a histogram
// begins anew if its count or a bucket falls. That shows between groups, whose first and last histograms are known.
func (f *histograms) setIncreases() {
	f.within, f.steps, f.unsure = nil, nil, make([]bool, len(f.times))
	for range f.parts {
		f.within = append(f.within, make([]float64, len(f.times)))
		f.steps = append(f.steps, make([]float64, len(f.times)))
	}
	for row := range f.times {
		if row > 0 {
			f.setStep(f.steps, row, row-1, true, false)
		}
		reset := false
		if f.counts[0][row].count > 2 {
			reset, f.unsure[row] = f.beganAnew(row)
		}
		if !reset {
			f.setStep(f.within, row, row, false, true)
		} else if !f.setReset(row) {
			f.unsure[row] = true
		}
	}
}

// setStep sets the increase from one histogram to the next. In a group in which none began anew that is from the first
// to the last.
func (f *histograms) setStep(by [][]float64, row, from int, fromLast, last bool) {
	reset := (from < row || f.counts[0][row].count == 2) && f.endOf(row, last).DetectReset(f.endOf(from, fromLast))
	for i := range f.parts {
		by[i][row], _ = f.endValue(i, row, last)
		if v, _ := f.endValue(i, from, fromLast); !reset {
			by[i][row] -= v
		}
	}
}

// increase returns that of a part from the first measure of some groups to the last.
func (f *histograms) increase(part, from, to int) (by float64) {
	for row := from; row < to; row++ {
		if by += f.within[part][row]; row > from {
			by += f.steps[part][row]
		}
	}
	return by
}

// beganAnew reports whether a histogram began anew within a group. It is unsure where the count does not show it: a
// bucket falls, or is empty and comes back; or where layouts change more than once.
func (f *histograms) beganAnew(row int) (reset, unsure bool) {
	lead := &f.counts[0][row]
	reset = lead.resets > 0
	var layouts []int // of zero buckets
	for i, part := range f.parts {
		c := &f.counts[i][row]
		switch {
		case c.count == 0:
		case part.Kind == model.HistogramCustom && c.count < lead.count:
			unsure = true // bounds change
		case part.Kind == model.HistogramZero:
			layouts = append(layouts, i)
		}
		if part.Kind != model.HistogramSum && c.resets > lead.resets {
			reset, unsure = true, true
		}
	}
	for i, part := range f.parts {
		if k := part.Kind; k != model.HistogramNegative && k != model.HistogramPositive {
			continue
		}
		if gone, back := f.wasEmptied(i, row, layouts); gone && lead.resets == 0 || back && lead.resets > 1 {
			reset, unsure = true, true
		}
	}
	if len(layouts) == 2 {
		slices.SortFunc(layouts, func(a, b int) int {
			return cmp.Compare(f.counts[a][row].firstTime, f.counts[b][row].firstTime)
		})
		before, after := f.counts[layouts[0]][row].lastTime, f.counts[layouts[1]][row].firstTime
		old := f.build(nil, func(i int) (float64, bool) {
			c := &f.counts[i][row]
			return c.last, i > 0 && c.count > 0 && c.lastTime == before
		})
		if before >= after || f.build(nil, func(i int) (float64, bool) {
			c := &f.counts[i][row]
			return c.first, i > 0 && c.count > 0 && c.firstTime == after
		}).DetectReset(old) {
			reset, unsure = true, unsure || lead.resets == 0
		}
	}
	return reset, unsure || len(layouts) > 2
}

// wasEmptied reports whether a bucket that had observations was empty later on in a group, and came back. How many
// histograms come before its first one is estimated.
func (f *histograms) wasEmptied(part, row int, layouts []int) (gone, back bool) {
	c, layout := &f.counts[part][row], counter{firstTime: math.MaxInt64}
	for _, i := range layouts {
		if f.parts[i].Schema == f.parts[part].Schema {
			zero := &f.counts[i][row]
			layout.count += zero.count
			layout.firstTime = min(layout.firstTime, zero.firstTime)
			layout.lastTime = max(layout.lastTime, zero.lastTime)
		}
	}
	if c.count == 0 || c.count == layout.count || layout.count < 2 {
		return false, false
	}
	between := float64(layout.lastTime-layout.firstTime) / (layout.count - 1)
	before := float64(c.firstTime-layout.firstTime) / between
	after := float64(layout.lastTime-c.lastTime) / between
	back = layout.count-c.count > before+after+0.5
	return back || c.lastTime < layout.lastTime, back
}

// setReset sets the increases within a group in which histograms began anew, and reports whether these are exact. The
// count increases as all buckets together: buckets that were not seen to fall have the rest of it.
func (f *histograms) setReset(row int) (exact bool) {
	lead, more, others := &f.counts[0][row], 0.0, 0.0
	negative, mixed, sum := false, false, 0
	for i, part := range f.parts {
		c := &f.counts[i][row]
		if c.count == 0 {
			continue
		}
		by := c.last - c.first + c.resetSum
		if c.firstTime > lead.firstTime {
			by += c.first
		}
		f.within[i][row] = by
		first, _ := f.endValue(i, row, false)
		last, _ := f.endValue(i, row, true)
		switch part.Kind {
		case model.HistogramCount:
			more, others = more+by, others+first+last
			continue
		case model.HistogramSum:
			sum, negative = i, negative || first < 0 || last < 0
			continue
		case model.HistogramZero:
			mixed = mixed || c.count < lead.count
		case model.HistogramNegative:
			negative = true
		case model.HistogramCustom:
			negative = negative || part.Bound <= 0 && c.last+c.first > 0
		}
		more, others = more-by, others-first-last
	}
	rounding := 1e-9 * (lead.first + lead.last + lead.resetSum)
	switch {
	case math.Abs(others) > rounding: // observations of NaN
	case more < -rounding: // the count has missed something
		if !mixed {
			f.within[0][row] -= more
		}
	default:
		exact = more <= rounding || f.setUnseen(row, more, rounding)
	}
	if c := &f.counts[sum][row]; sum > 0 && (negative || c.resets != lead.resets) {
		if exact = false; !negative && c.resets < lead.resets && lead.last > 0 { // by the average since
			f.within[sum][row] = f.within[0][row] * c.last / lead.last
		}
	}
	return exact
}

// setUnseen adds what buckets had when they were not seen to fall, and reports whether that is known of each. At the
// only reset of a group, a bucket had at least its first value, and at most its last one.
func (f *histograms) setUnseen(row int, more, rounding float64) (exact bool) {
	lead := &f.counts[0][row]
	var unseen []int
	var least, most []float64
	atLeast, atMost := 0.0, 0.0
	for i, part := range f.parts {
		c := &f.counts[i][row]
		if part.Kind < model.HistogramZero || c.count == 0 || c.resets >= lead.resets || lead.resets == 1 &&
			c.lastTime < lead.lastTime {
			continue
		}
		first, _ := f.endValue(i, row, false)
		last := c.last
		if lead.resets > 1 {
			first, last = 0, (lead.resets-c.resets)*max(c.first, c.last)
		}
		unseen, least, most = append(unseen, i), append(least, first), append(most, last)
		atLeast, atMost = atLeast+first, atMost+last
	}
	share := 0.0
	if atMost > atLeast {
		share = (more - atLeast) / (atMost - atLeast)
	}
	for k, i := range unseen {
		f.within[i][row] += least[k] + share*(most[k]-least[k])
	}
	within := more >= atLeast-rounding && more <= atMost+rounding
	if lead.resets > 1 {
		return len(unseen) == 1
	}
	return within && (len(unseen) == 1 || min(more-atLeast, atMost-more) <= rounding)
}
