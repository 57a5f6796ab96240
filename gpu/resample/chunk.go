package resample

import (
	"fmt"
	"math"
	"slices"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// chunk is some series of a batch that share a plan, on their way through a device. The same chunk is used again and
// again.
type chunk struct {
	program  *program
	fuseFrom int  // measures a run, from which granularities are fused
	compact  bool // also pack timestamps that need not be, where that takes fewer bytes

	chunkInput
	chunkLayout
	chunkTransfer
	chunkResults
}

// chunkInput is the series that a chunk reads.
type chunkInput struct {
	batch   *carbonara.Batch
	plan    *carbonara.Plan
	series  []int // of the batch; each has measures
	n       int   // measures
	layout  layout
	layouts []fixed               // of each series by itself
	firsts  []carbonara.Timestamp // of each series
	lasts   []carbonara.Timestamp
	packed  bool // all series are packed; else none is
	flagged bool // some series continues a group or lacks a previous measure
	open    bool // some series continues a group
	unpacking
}

// chunkLayout is what a chunk computes, and where that lies on the device.
type chunkLayout struct {
	levels   []level
	families []family
	fused    []int    // levels that are fused, ascending
	at       sections // of the device's block, all of it
	upBytes  int64    // its first bytes are packed, into up
	zeroed   [2]int64
	measured [2]int64 // totals and the series' first runs, which Finish needs to know first, and sums of open groups
}

// chunkTransfer is the memory that a chunk goes up in.
type chunkTransfer struct {
	from  columns // of the batch that the device copies from by itself, if any
	spans []span
	bits  []uint32 // scratch
	up    *device.Pinned
	block *device.Block
}

// chunkResults is the memory that a chunk comes back in.
type chunkResults struct {
	counts     *device.Pinned
	results    *device.Pinned
	inPlace    bool    // results are borrowed: groups stay there
	rowsBefore []int64 // where each level's rows lie in results
	fetched    bool    // the rows were asked for
}

// level is one granularity of a chunk.
type level struct {
	rows   int // at most; then exactly
	bound  int
	finer  int // level that its runs are made of; -1: measures
	begins int64
	starts int64 // then the columns, bound numbers each
	runs   int64 // first run of each series
	left   int64 // runs too long for percentiles_short
	words  int64 // published by segment.cu
	inner  int64 // which run of the finer level each begins with, if there is a finer one
	fused  bool  // its moments are computed together with those of other levels
}

// family is the columns over measures, or over their differences.
type family struct {
	rate        bool
	moments     [moments]int // column of the plan, -1 if not asked for
	low         int          // place of the sum's low part in an open row; 0: no sum is asked for
	m2          bool
	any         bool // any moment
	counts      bool // and it is the count alone
	percentiles []int
	first       int // column of the first percentile; the others follow
}

var noMoments = [moments]int{-1, -1, -1, -1, -1, -1, -1}

// newFamilies takes a plan's columns apart.
func newFamilies(columns []carbonara.Column) []family {
	var all []family
	low := len(columns)
	for _, rate := range []bool{false, true} {
		f := family{rate: rate, moments: noMoments}
		for i, c := range columns {
			if c.IsRate() != rate || c.IsCounter() {
				continue
			}
			if p := c.Percentile(); p > 0 {
				if len(f.percentiles) == 0 {
					f.first = i
				}
				f.percentiles = append(f.percentiles, p)
				continue
			}
			f.moments[c.Base()], f.any = i, true
			f.m2 = f.m2 || c.Base() == carbonara.ColumnM2
		}
		if f.moments[carbonara.ColumnSum] >= 0 {
			f.low = low
			low++
		}
		counted := f.moments
		counted[carbonara.ColumnCount] = -1
		f.counts = f.any && counted == noMoments
		if f.any || len(f.percentiles) > 0 {
			all = append(all, f)
		}
	}
	return all
}

// sections are byte offsets within the device's block: first what is packed, then what is copied from the batch, then
// what is computed.
type sections struct {
	values, timestamps, base, unit, previous, open, counterOpen, fractions, first, flags, bits, ranks int64
	counters, sums, rows, rowsEnd, differences, end                                                   int64
}

// counter is where the number of runs of a level and family that were left over stands.
func (p *chunk) counter(level, family int) int64 {
	return p.at.counters + int64(8*(level+family*len(p.levels)))
}

// total is where the number of runs of a level stands; then come the series' first runs, of all levels.
func (p *chunk) total(level int) int64 { return p.measured[0] + int64(8*level) }

const (
	flagSkip     = 1 << 31 // the other bits are levels whose first run continues a group
	maxLevels    = 31
	maxMeasures  = 1 << 31
	moments      = 7
	openValues   = moments + 1 // as moments.h has it
	bytesPerOpen = 8 * openValues
	bytesPerSum  = 2 * 8

	counterOpen = 3 // of a counter's open row: counters.cu
)

// prepare lays a chunk out, each series' timestamps as layoutOf says, or as they are unpacked. An error wraps
// carbonara.ErrCorrupt or errInvariant.
func (p *chunk) prepare(batch *carbonara.Batch, plan *carbonara.Plan, series []int,
	layoutOf func([]carbonara.Timestamp) fixed) error {
	if p.plan != plan {
		p.plan, p.families = plan, newFamilies(plan.Columns)
	}
	p.batch, p.series, p.fetched = batch, series, false
	p.n, p.layout, p.layouts, p.flagged, p.open = 0, layoutRegular, p.layouts[:0], false, false
	p.firsts, p.lasts, p.packed = p.firsts[:0], p.lasts[:0], batch.Series[series[0]].Packed != nil
	p.spans = p.spans[:0]
	p.levels = slices.Grow(p.levels[:0], len(plan.Granularities))[:len(plan.Granularities)]
	clear(p.levels)
	for _, i := range series {
		s := &batch.Series[i]
		first, last, err := endsOf(batch, s)
		if err != nil {
			return err
		}
		if first < 0 || last < first {
			return fmt.Errorf("%w: timestamps from %d to %d", device.ErrInvariant, first, last)
		}
		p.firsts, p.lasts = append(p.firsts, first), append(p.lasts, last)
		p.n += s.Len()
		if !p.packed {
			p.spans = appendSpan(p.spans, s.From, s.To)
			p.layouts = append(p.layouts, layoutOf(batch.Timestamps[s.From:s.To]))
			p.layout = max(p.layout, p.layouts[len(p.layouts)-1].layout)
		}
		for j, g := range plan.Granularities {
			p.levels[j].bound += int(min(int64(s.Len()), groupsBetween(first, last, carbonara.Timestamp(g))))
		}
		p.open = p.open || s.Open != nil && s.HasPrevious
		p.flagged = p.flagged || p.open || !s.HasPrevious && plan.HasRate()
	}
	p.from = columns{}
	switch {
	case p.packed:
		p.layPacked()
	case p.n >= spanMeasures*(len(p.spans)-1):
		p.from = columnsOf(batch)
	}
	if p.from.memory != nil && p.layout == layoutOffsets && !p.compact {
		p.layout = layoutTimestamps
	}
	p.place()
	return nil
}

// groupsBetween returns how many groups there are from one timestamp's to another's, or the largest number if there are
// more.
func groupsBetween(first, last, width carbonara.Timestamp) int64 {
	groups := int64(last/width - first/width) // of timestamps that are not negative: this does not wrap
	if groups < math.MaxInt64 {
		groups++
	}
	return groups
}

// endsOf returns the first and the last timestamp of a series.
func endsOf(batch *carbonara.Batch, s *carbonara.Series) (first, last carbonara.Timestamp, err error) {
	if s.Packed == nil {
		return batch.Timestamps[s.From], batch.Timestamps[s.To-1], nil
	}
	if first, err = s.Packed.Timestamp(s.From); err == nil {
		last, err = s.Packed.Timestamp(s.To - 1)
	}
	return first, last, err
}

// place says where everything lies on the device.
func (p *chunk) place() {
	at := int64(0)
	take := func(bytes int) int64 {
		here := at
		at += (int64(bytes) + 15) &^ 15 // kernels load 16 bytes at a time
		return here
	}
	n, series, tiles := p.n, len(p.series), (p.n+segmentTile-1)/segmentTile
	fractions := p.fractions()
	a, u := &p.at, &p.unpacking
	if p.packed {
		u.at.bytes, u.at.vectors = take(int(u.bytes)), take(vectorBytes*u.vectors)
	} else {
		if p.from.memory == nil {
			a.values = take(8 * n)
		}
		if p.from.memory == nil || p.layout != layoutTimestamps {
			a.timestamps = take(n * timestampBytes[p.layout])
		}
	}
	a.base, a.unit = take(8*series), take(8*series)
	a.previous = take(8 * series)
	if p.open {
		a.open = take(len(p.levels) * len(p.families) * series * bytesPerOpen)
		if p.plan.HasCounters() {
			a.counterOpen = take(len(p.levels) * series * 8 * counterOpen)
		}
	}
	a.fractions = take(8 * fractions)
	a.first, a.flags = take(4*series), take(4*series)
	a.bits, a.ranks = take(4*tiles*segmentTile/32), take(4*tiles*segmentTile/segmentChunk)
	p.zeroed[0] = at
	a.counters = take(8 * len(p.levels) * len(p.families))
	u.at.faults = take(faultBytes)
	for j := range p.levels {
		items, tile := n, segmentTile
		if p.levels[j].finer = p.finer(j); p.levels[j].finer >= 0 {
			items, tile = p.levels[p.levels[j].finer].bound, segmentRunsTile
		}
		p.levels[j].words = take(8 * device.Blocks(items, tile))
	}
	p.zeroed[1] = at - p.zeroed[0]
	p.upBytes = at
	if p.from.memory != nil {
		a.values = take(8 * n)
		if p.layout == layoutTimestamps {
			a.timestamps = take(8 * n)
		}
	}

	p.fuse()
	p.measured[0] = take(8 * len(p.levels))
	for j := range p.levels {
		p.levels[j].runs = take(4 * (series + 1))
	}
	if !p.plan.HasPercentiles() {
		a.sums = take(len(p.levels) * len(p.families) * series * bytesPerSum)
	}
	p.measured[1] = at - p.measured[0]
	for j := range p.levels {
		l := &p.levels[j]
		l.begins = take(4 * (l.bound + 1))
		if l.finer >= 0 {
			l.inner = take(4 * (l.bound + 1))
		}
		if fractions > 0 {
			l.left = take(4 * l.bound)
		}
	}
	a.rows = at
	for j := range p.levels {
		l := &p.levels[j]
		l.starts = take(8 * l.bound * (1 + len(p.plan.Columns)))
	}
	a.rowsEnd = at
	if p.packed {
		a.values, a.timestamps = take(8*n), take(n*timestampBytes[p.layout])
	}
	if p.plan.HasRate() {
		a.differences = take(8 * n)
	}
	a.end = at
}

// sumsAt is where the sums of the last groups of a level and family lie.
func (p *chunk) sumsAt(level, family int) int64 {
	return p.at.sums + int64((level*len(p.families)+family)*len(p.series)*bytesPerSum)
}

// finer returns the widest finer level whose width divides that of level j, -1 if there is none.
func (p *chunk) finer(j int) int {
	for i := j - 1; i >= 0; i-- {
		if p.plan.Granularities[j]%p.plan.Granularities[i] == 0 {
			return i
		}
	}
	return -1
}

// fuse chooses the levels whose moments are computed together, reading values once: levels of long runs that divide one
// another up to the widest, but for the finest of them if it is made of no other.
func (p *chunk) fuse() {
	p.fused = p.fused[:0]
	for j := len(p.levels) - 1; j >= 0; j = p.levels[j].finer {
		l := &p.levels[j]
		if l.finer < 0 || p.n < p.fuseFrom*l.bound {
			break
		}
		p.fused = append(p.fused, j)
	}
	if len(p.fused) < 2 {
		p.fused = p.fused[:0]
	}
	slices.Reverse(p.fused)
	for _, j := range p.fused {
		p.levels[j].fused = true
	}
}

// column is where column c of a level begins.
func (p *chunk) column(l *level, c int) int64 { return l.starts + int64(8*l.bound*(1+c)) }
