package resample

import (
	"errors"
	"fmt"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/cu"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// Start implements Job: everything up to the numbers of runs, and the rows too where there are so few that the number
// does not matter.
func (p *chunk) Start(e *device.Engine, stream *device.Stream) error {
	block, err := e.Memory.Get(p.at.end)
	if err != nil {
		return err
	}
	stream.Hold(block)
	p.block = block
	if err := p.upload(stream); err != nil {
		return err
	}
	if err := p.launch(stream, e.Properties.Multiprocessors); err != nil {
		return err
	}
	if p.counts, err = again(e.Downloads, p.counts, p.measured[1]+faultBytes); err != nil {
		return err
	}
	if p.packed {
		if err := p.fetchFaults(stream); err != nil {
			return err
		}
	}
	if err := stream.Download(p.counts, 0, block, p.measured[0], p.measured[1]); err != nil {
		return err
	}
	for j := range p.levels {
		p.levels[j].rows = p.levels[j].bound
	}
	// Of regular series every group between the first and the last has measures, or every measure a group: the bound is
	// exact. Else absent rows cost no time as long as all rows take no longer than the uploads meanwhile.
	if p.fetched = p.at.rowsEnd-p.at.rows <= max(smallRows, p.uploaded()) || p.layout == layoutRegular; !p.fetched {
		return nil
	}
	return p.fetch(e, stream)
}

// smallRows is how many bytes of rows are copied without asking how many there are: 20 µs over PCIe.
const smallRows = 1 << 20

// Finish implements Job.
func (p *chunk) Finish(e *device.Engine, stream *device.Stream) (bool, error) {
	if p.packed {
		if err := p.checkFaults(); err != nil {
			return false, err
		}
	}
	more := !p.fetched
	totals := device.View[uint64](p.counts, 0, len(p.levels))
	for j := range p.levels {
		l := &p.levels[j]
		total := int(uint32(totals[j]))
		if total > l.bound {
			return false, fmt.Errorf("%w: %d groups where the timestamps allow %d", device.ErrInvariant, total, l.bound)
		}
		if more {
			l.rows = total
		}
	}
	if !more {
		return false, nil
	}
	p.fetched = true
	return true, p.fetch(e, stream)
}

// fetch queues the download of the rows of all levels, as many as level.rows says.
func (p *chunk) fetch(e *device.Engine, stream *device.Stream) error {
	columns := int64(1 + len(p.plan.Columns))
	all, bytes := true, int64(0)
	p.rowsBefore = p.rowsBefore[:0]
	for j := range p.levels {
		l := &p.levels[j]
		all = all && l.rows == l.bound
		p.rowsBefore = append(p.rowsBefore, bytes)
		bytes += 8 * columns * int64(l.rows)
	}
	if all { // as they lie
		for j := range p.levels {
			p.rowsBefore[j] = p.levels[j].starts - p.at.rows
		}
		bytes = p.at.rowsEnd - p.at.rows
	}
	if err := p.room(e, bytes); err != nil {
		return err
	}
	if all {
		return stream.Download(p.results, 0, p.block, p.at.rows, bytes)
	}
	for j := range p.levels {
		l := &p.levels[j]
		if l.rows == l.bound {
			if err := stream.Download(p.results, p.rowsBefore[j], p.block, l.starts,
				8*columns*int64(l.rows)); err != nil {
				return err
			}
			continue
		}
		for c := range columns {
			to, from := p.rowsBefore[j]+8*c*int64(l.rows), l.starts+8*c*int64(l.bound)
			if err := stream.Download(p.results, to, p.block, from, int64(8*l.rows)); err != nil {
				return err
			}
		}
	}
	return nil
}

// again returns memory of the pool: the memory that the chunk has, if it is large enough.
func again(pool *device.PinnedPool, has *device.Pinned, bytes int64) (*device.Pinned, error) {
	if has != nil {
		if int64(len(has.Bytes)) >= bytes {
			return has, nil
		}
		has.Release()
	}
	return pool.Get(bytes)
}

// room gets memory for the rows: borrowed memory, which the result can keep, if there is any left.
func (p *chunk) room(e *device.Engine, bytes int64) (err error) {
	if p.results != nil && int64(len(p.results.Bytes)) >= bytes {
		return nil
	}
	if p.results != nil {
		p.results.Release()
	}
	p.results, err = e.Borrowed.Get(bytes)
	if p.inPlace = err == nil; errors.Is(err, device.ErrMemory) {
		p.results, err = e.Downloads.Get(bytes)
	}
	return err
}

// release gives back the pinned memory, and forgets the batch.
func (p *chunk) release() {
	p.batch, p.from = nil, columns{}
	for _, memory := range []**device.Pinned{&p.up, &p.counts, &p.results} {
		if *memory != nil {
			(*memory).Release()
			*memory = nil
		}
	}
}

// launch queues all kernels.
func (p *chunk) launch(stream *device.Stream, multiprocessors int) error {
	if p.packed {
		if err := p.launchUnpack(stream); err != nil {
			return err
		}
	}
	if p.plan.HasRate() {
		stream.Params().Ptr(p.block.At(p.at.values)).Ptr(p.block.At(p.at.bits)).Ptr(p.block.At(p.at.ranks)).
			Ptr(p.block.At(p.at.previous)).Ptr(p.block.At(p.at.differences)).U32(uint32(p.n))
		grid := device.Blocks(p.n, differencesTile)
		if err := stream.Launch(p.program.differences, grid, differencesThreads, 0); err != nil {
			return err
		}
	}
	for j := range p.levels {
		if err := p.launchSegments(stream, j); err != nil {
			return err
		}
		fractions := p.at.fractions
		for f := range p.families {
			family := &p.families[f]
			if family.any && (!p.levels[j].fused || family.counts) {
				if err := p.launchMoments(stream, j, f); err != nil {
					return err
				}
			}
			if len(family.percentiles) > 0 {
				if err := p.launchPercentiles(stream, j, f, fractions, multiprocessors); err != nil {
					return err
				}
			}
			fractions += int64(8 * len(family.percentiles))
		}
		if p.plan.HasCounters() {
			if err := p.launchCounters(stream, j); err != nil {
				return err
			}
		}
	}
	for f := range p.families {
		if p.families[f].any && !p.families[f].counts && len(p.fused) > 0 {
			if err := p.launchLevels(stream, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *chunk) launchSegments(stream *device.Stream, j int) error {
	l, a := &p.levels[j], &p.at
	kernel, items, tile := p.program.segments[p.layout], p.n, segmentTile
	timestamps, bits, ranks := a.timestamps, a.bits, a.ranks
	if l.finer >= 0 {
		finer := &p.levels[l.finer]
		kernel, items, tile = p.program.segments[segmentRuns], finer.bound, segmentRunsTile
		timestamps, bits, ranks = finer.starts, finer.begins, p.total(l.finer)
	}
	params := stream.Params()
	// Chunk
	params.Ptr(p.block.At(timestamps))
	params.Ptr(p.block.At(bits))
	params.Ptr(p.block.At(ranks))
	params.Ptr(p.block.At(a.first)).Ptr(p.block.At(a.base)).Ptr(p.block.At(a.unit))
	params.U32(uint32(p.n)).U32(uint32(len(p.series)))
	// Granularity
	width := p.plan.Granularities[j]
	magic, shift := divisor(width)
	nearMagic, nearShift, twos := nearDivisor(width)
	params.I64(int64(width)).U64(magic).U32(shift).U32(nearMagic).U32(nearShift).U32(twos)
	// Segments
	params.Ptr(p.block.At(l.begins)).Ptr(p.block.At(l.starts)).Ptr(p.block.At(l.runs))
	params.Ptr(p.block.At(p.total(j)))
	params.Ptr(p.block.At(l.words)).Ptr(p.block.At(l.inner))
	return stream.Launch(kernel, device.Blocks(items, tile), segmentThreads, 0)
}

// runs adds the parameters that group_runs.h calls Runs.
func (p *chunk) runs(params *cu.Params, j int, rate bool) {
	l := &p.levels[j]
	params.Ptr(p.block.At(l.begins)).Ptr(p.block.At(p.total(j))).Ptr(p.block.At(p.at.first)).Ptr(p.flags())
	params.U32(uint32(len(p.series))).U32(p.continues(j)).U32(p.skips(rate))
}

// flags is where the flags of series are, 0 if none has any.
func (p *chunk) flags() cu.DevicePtr {
	if !p.flagged {
		return 0
	}
	return p.block.At(p.at.flags)
}

// continues is the flag of a series whose first run at a level continues a group.
func (p *chunk) continues(level int) uint32 {
	if !p.open {
		return 0
	}
	return 1 << level
}

// skips is the flag of a series whose first value is none.
func (p *chunk) skips(rate bool) uint32 {
	if !rate {
		return 0
	}
	return flagSkip
}

// openRows is where the rows of open groups of a level and family are, 0 if there are none.
func (p *chunk) openRows(level, family int) cu.DevicePtr {
	if !p.open {
		return 0
	}
	return p.block.At(p.openAt(level, family))
}

// momentColumn is where a moment of a family goes, 0 if it is not asked for.
func (p *chunk) momentColumn(level int, f *family, moment carbonara.Column) cu.DevicePtr {
	c := f.moments[moment]
	if c < 0 {
		return 0
	}
	return p.block.At(p.column(&p.levels[level], c))
}

// openSums is where the sums of a level's last groups go, 0 if they are not to be continued.
func (p *chunk) openSums(level, f int) cu.DevicePtr {
	if p.families[f].low == 0 || p.plan.HasPercentiles() {
		return 0
	}
	return p.block.At(p.sumsAt(level, f))
}

// valuesOf returns where the values of a family are.
func (p *chunk) valuesOf(f *family) cu.DevicePtr {
	if f.rate {
		return p.block.At(p.at.differences)
	}
	return p.block.At(p.at.values)
}

// launchCounts queues what needs no values.
func (p *chunk) launchCounts(stream *device.Stream, j, f int) error {
	l, family := &p.levels[j], &p.families[f]
	params := stream.Params()
	p.runs(params, j, family.rate)
	params.U32(0) // the struct ends at a multiple of 8
	params.Ptr(p.openRows(j, f)).Ptr(p.momentColumn(j, family, carbonara.ColumnCount))
	return stream.Launch(p.program.counts, device.Blocks(l.bound, countsRuns), countsRuns, 0)
}

func (p *chunk) launchMoments(stream *device.Stream, j, f int) error {
	l, family := &p.levels[j], &p.families[f]
	if family.counts {
		return p.launchCounts(stream, j, f)
	}
	params := stream.Params().Ptr(p.valuesOf(family))
	p.runs(params, j, family.rate)
	params.U32(0) // the struct ends at a multiple of 8
	params.Ptr(p.openRows(j, f))
	for m := range family.moments {
		params.Ptr(p.momentColumn(j, family, carbonara.Column(m)))
	}
	params.Ptr(p.openSums(j, f))
	long, m2, each := 0, 0, shortRuns
	if p.n >= longFrom*l.bound {
		long, each = 1, longRuns
	}
	if family.m2 {
		m2 = 1
	}
	return stream.Launch(p.program.moments[long][m2], device.Blocks(l.bound, each), momentsThreads, 0)
}

// launchLevels queues the moments of the levels that are fused, the wider ones first if there are too many for one
// launch.
func (p *chunk) launchLevels(stream *device.Stream, f int) error {
	family := &p.families[f]
	m2 := 0
	if family.m2 {
		m2 = 1
	}
	for to := len(p.fused); to > 0; {
		number := min(levelsAtOnce, to)
		if to-number == 1 { // two at least: one warp does not load all that it needs
			number--
		}
		some := p.fused[to-number : to]
		to -= number
		params := stream.Params().Ptr(p.valuesOf(family))
		for k := range levelsAtOnce {
			p.level(params, some[min(k, len(some)-1)], f)
		}
		params.Ptr(p.block.At(p.at.first)).Ptr(p.flags()).U32(uint32(len(p.series))).U32(p.skips(family.rate))
		grid := device.Blocks(p.levels[some[len(some)-1]].bound, levelThread)
		if err := stream.Launch(p.program.momentsLevels[m2], grid, levelThread*len(some), 0); err != nil {
			return err
		}
	}
	if family.moments[carbonara.ColumnMin] < 0 && family.moments[carbonara.ColumnMax] < 0 {
		return nil
	}
	for _, j := range p.fused { // each from the one before
		l := &p.levels[j]
		params := stream.Params()
		p.runs(params, j, family.rate)
		params.U32(0)
		params.Ptr(p.block.At(l.inner)).Ptr(p.block.At(p.levels[l.finer].begins)).Ptr(p.openRows(j, f))
		for _, level := range []int{j, l.finer} {
			params.Ptr(p.momentColumn(level, family, carbonara.ColumnMin))
			params.Ptr(p.momentColumn(level, family, carbonara.ColumnMax))
		}
		if err := stream.Launch(p.program.extremes, device.Blocks(l.bound, extremeRuns),
			extremeThreads, 0); err != nil {
			return err
		}
	}
	return nil
}

// level adds the parameters that moments_levels.cu calls Level: all columns but the lowest and highest.
func (p *chunk) level(params *cu.Params, j, f int) {
	l := &p.levels[j]
	params.Ptr(p.block.At(l.begins)).Ptr(p.block.At(p.total(j))).Ptr(p.block.At(l.inner)).Ptr(p.openRows(j, f))
	for m := range p.families[f].moments {
		if column := carbonara.Column(m); column == carbonara.ColumnMin || column == carbonara.ColumnMax {
			params.Ptr(0)
		} else {
			params.Ptr(p.momentColumn(j, &p.families[f], column))
		}
	}
	params.Ptr(p.openSums(j, f)).U32(p.continues(j)).U32(0)
}

func (p *chunk) launchPercentiles(stream *device.Stream, j, f int, fractions int64, multiprocessors int) error {
	l, family := &p.levels[j], &p.families[f]
	params := func() *cu.Params {
		params := stream.Params().Ptr(p.valuesOf(family))
		p.runs(params, j, family.rate)
		params.U32(0)
		params.Ptr(p.block.At(fractions)).Ptr(p.block.At(p.column(l, family.first)))
		return params.U32(uint32(l.bound)).U32(uint32(len(family.percentiles)))
	}
	each := min(max(placeValues*l.bound/p.n, 1), placeThreads)
	left := p.counter(j, f) // two numbers: of the list's front, and of its back
	params().Ptr(p.block.At(l.left)).Ptr(p.block.At(left)).U32(uint32(each))
	if err := stream.Launch(p.program.percentilesShort, device.Blocks(l.bound, each), placeThreads, 0); err != nil {
		return err
	}
	grid := min(device.Blocks(l.bound, sortRuns), 12*max(multiprocessors, 1))
	params().Ptr(p.block.At(l.left)).Ptr(p.block.At(left))
	if err := stream.Launch(p.program.percentilesWarp, grid, sortThreads, 0); err != nil {
		return err
	}
	params().Ptr(p.block.At(l.left)).Ptr(p.block.At(left))
	return stream.Launch(p.program.percentilesLong, grid, sortThreads, 0)
}
