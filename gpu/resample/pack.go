package resample

import (
	"fmt"
	"slices"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/internal/compensated"
)

// load prepares a chunk and packs it. It is done anew where the timestamps are not what a few of them let one guess.
func (p *chunk) load(e *device.Engine, batch *carbonara.Batch, plan *carbonara.Plan, series []int) error {
	for _, layoutOf := range []func([]carbonara.Timestamp) fixed{guess, layoutOf} {
		if err := p.prepare(batch, plan, series, layoutOf); err != nil {
			return err
		}
		var err error
		if p.up, err = again(e.Uploads, p.up, p.upBytes); err != nil {
			return err
		}
		if p.pack() {
			return nil
		}
	}
	return fmt.Errorf("%w: timestamps do not lie as they do", device.ErrInvariant)
}

// pack writes what the device needs to know of a chunk, and cannot copy from the batch, into p.up, every section from
// its start to its end: the memory is written past the caches. It returns false if timestamps are not of their layout.
func (p *chunk) pack() bool {
	if p.packed {
		p.packVectors()
	} else if !p.packColumns() {
		return false
	}
	p.packSeries()
	p.packPlaces()
	fractions := device.View[float64](p.up, int(p.at.fractions), p.fractions())
	at := 0
	for _, f := range p.families {
		for _, percentile := range f.percentiles {
			fractions[at] = float64(percentile) / 100
			at++
		}
	}
	clear(device.View[byte](p.up, int(p.zeroed[0]), int(p.zeroed[1])))
	return true
}

// packColumns writes values and timestamps, those of a layout that they turn out not to have excepted: then it returns
// false.
func (p *chunk) packColumns() bool {
	if p.from.memory == nil {
		values := device.View[float64](p.up, int(p.at.values), p.n)
		for _, i := range p.series {
			s := &p.batch.Series[i]
			values = values[copy(values, p.batch.Values[s.From:s.To]):]
		}
	}
	if p.layout == layoutTimestamps && p.from.memory != nil {
		return true
	}
	at, good := int(p.at.timestamps), true
	for k, i := range p.series {
		s := &p.batch.Series[i]
		timestamps, own := p.batch.Timestamps[s.From:s.To], p.layouts[k]
		n := len(timestamps)
		switch {
		case p.layout == layoutRegular:
			good = good && regular(timestamps, own.unit)
		case p.layout == layoutTimestamps:
			copy(device.View[carbonara.Timestamp](p.up, at, n), timestamps)
		case own.layout == layoutRegular:
			good = places(device.View[uint32](p.up, at, n), timestamps, own.unit) && good
		default:
			good = offsets(device.View[uint32](p.up, at, n), timestamps, own.unit) && good
		}
		at += n * timestampBytes[p.layout]
	}
	return good
}

func (p *chunk) fractions() int {
	n := 0
	for _, f := range p.families {
		n += len(f.percentiles)
	}
	return n
}

// packSeries writes what is known of each series.
func (p *chunk) packSeries() {
	n, a := len(p.series), &p.at
	base, unit := device.View[int64](p.up, int(a.base), n), device.View[int64](p.up, int(a.unit), n)
	previous := device.View[float64](p.up, int(a.previous), n)
	first, flags := device.View[uint32](p.up, int(a.first), n), device.View[uint32](p.up, int(a.flags), n)
	at := uint32(0)
	for k, i := range p.series {
		s := &p.batch.Series[i]
		base[k], unit[k] = int64(p.firsts[k]), int64(p.layouts[k].unit)
		previous[k] = s.Previous.Value
		first[k], flags[k] = at, p.flagsOf(s, p.firsts[k])
		at += uint32(s.To - s.From)
	}
	if !p.open {
		return
	}
	for j := range p.levels {
		for f := range p.families {
			rows := device.View[float64](p.up, int(p.openAt(j, f)), n*openValues)
			for k, i := range p.series {
				p.openRow(rows[k*openValues:][:openValues], &p.batch.Series[i], j, &p.families[f])
			}
		}
		if p.plan.HasCounters() {
			p.packCounters(j)
		}
	}
}

// openAt is where the open rows of a level and family lie.
func (p *chunk) openAt(level, family int) int64 {
	return p.at.open + int64((level*len(p.families)+family)*len(p.series)*bytesPerOpen)
}

// openRow writes the moments of the group that a series continues.
func (p *chunk) openRow(row []float64, s *carbonara.Series, level int, f *family) {
	clear(row)
	if s.Open == nil {
		return
	}
	open := s.Open[level*p.plan.OpenValues():]
	for m, c := range f.moments {
		if c >= 0 {
			row[m] = open[c]
		}
	}
	if f.low > 0 {
		row[len(f.moments)] = open[f.low]
	}
}

// flagsOf returns the flags of a series that begins at first.
func (p *chunk) flagsOf(s *carbonara.Series, first carbonara.Timestamp) uint32 {
	if !s.HasPrevious {
		return flagSkip
	}
	flags := uint32(0)
	if s.Open != nil {
		for j, g := range p.plan.Granularities {
			if s.Previous.Timestamp.Floor(g) == first.Floor(g) {
				flags |= 1 << j
			}
		}
	}
	return flags
}

// packPlaces writes a bit for each measure that is its series' first, and how many series begin before each chunk.
func (p *chunk) packPlaces() {
	tiles := (p.n + segmentTile - 1) / segmentTile
	words := tiles * segmentTile / 32
	p.bits = slices.Grow(p.bits[:0], words)[:words]
	clear(p.bits)
	at := 0
	for _, i := range p.series {
		p.bits[at/32] |= 1 << (at % 32)
		at += p.batch.Series[i].To - p.batch.Series[i].From
	}
	copy(device.View[uint32](p.up, int(p.at.bits), len(p.bits)), p.bits)
	ranks := device.View[uint32](p.up, int(p.at.ranks), tiles*segmentTile/segmentChunk)
	rank, at := 0, 0 // series begun before the chunk, and where the next one begins
	for c := range ranks {
		for rank < len(p.series) && at < c*segmentChunk {
			s := &p.batch.Series[p.series[rank]]
			at += s.To - s.From
			rank++
		}
		ranks[c] = uint32(rank)
	}
}

// check refuses impossible first groups of series: the result must not be written to before they are known to be right.
func (p *chunk) check() error {
	for j := range p.levels {
		l := &p.levels[j]
		before := uint32(0)
		for k, run := range device.View[uint32](p.counts, int(l.runs-p.measured[0]), len(p.series)+1) {
			if run < before || int(run) > l.rows || k == 0 && run != 0 {
				return fmt.Errorf("%w: series %d begins with group %d of %d, after %d", device.ErrInvariant, k,
					run, l.rows, before)
			}
			before = run
		}
	}
	return nil
}

// unpack puts what the device computed into the result: it stays where it is if that is borrowed memory, and is copied
// otherwise. The CPU computes series whose sums overflow.
func (p *chunk) unpack(w *carbonara.ResultWriter) error {
	columns := len(p.plan.Columns)
	for j := range p.levels {
		l := &p.levels[j]
		runs := device.View[uint32](p.counts, int(l.runs-p.measured[0]), len(p.series)+1)
		rows := l.rows
		all := device.View[float64](p.results, int(p.rowsBefore[j]), rows*(1+columns))
		starts := device.View[carbonara.Timestamp](p.results, int(p.rowsBefore[j]), rows)
		for k, i := range p.series {
			from, to := int(runs[k]), int(runs[k+1])
			if p.inPlace {
				g := w.Refer(i, j)
				g.Starts = starts[from:to:to]
				for c := range g.Values {
					g.Values[c] = all[rows*(1+c):][from:to:to]
				}
				p.unpackSums(g, j, k)
				continue
			}
			g := w.Alloc(i, j, to-from)
			copy(g.Starts, starts[from:to])
			for c := range g.Values {
				copy(g.Values[c], all[rows*(1+c):][from:to])
			}
			p.unpackSums(g, j, k)
		}
	}
	if p.inPlace {
		w.Keep(p.results)
		p.results = nil
	}
	for _, i := range p.series {
		if w.Overflows(i) {
			if err := w.Resample(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// unpackSums makes the sums known that continue the last group of the chunk's k-th series.
func (p *chunk) unpackSums(g *carbonara.Groups, level, k int) {
	var sums [2]compensated.Sum
	known := false
	for f := range p.families {
		if p.openSums(level, f) == 0 {
			continue
		}
		known = true
		sum := device.View[float64](p.counts, int(p.sumsAt(level, f)-p.measured[0])+k*bytesPerSum, 2)
		family := 0
		if p.families[f].rate {
			family = 1
		}
		sums[family] = compensated.Sum{High: sum[0], Low: sum[1]}
	}
	if known {
		g.SetOpenSums(sums[0], sums[1])
	}
}
