package gpu

import (
	"errors"

	"gnocco/carbonara"
	"gnocco/gpu/cu"
)

// Start implements Job: everything up to the numbers of runs, and the rows too where there are so few that the number does not
// matter.
func (p *piece) Start(e *Engine, lane *Lane) error {
	block, err := e.Memory.Get(p.at.end)
	if err != nil {
		return err
	}
	lane.Hold(block)
	p.block = block
	if err := p.upload(lane); err != nil {
		return err
	}
	if p.poison {
		if err := lane.Fill(block, p.measured[0], 0xa5, p.at.end-p.measured[0]); err != nil {
			return err
		}
	}
	if err := p.launch(lane, e.Properties.Multiprocessors); err != nil {
		return err
	}
	if p.counts, err = p.again(e, p.counts, p.measured[1]+faultBytes); err != nil {
		return err
	}
	if p.packed {
		if err := p.fetchFaults(lane); err != nil {
			return err
		}
	}
	if err := lane.Download(p.counts, 0, block, p.measured[0], p.measured[1]); err != nil {
		return err
	}
	for j := range p.levels {
		p.levels[j].rows = p.levels[j].bound
	}
	// Of regular series every group between the first and the last has measures, or every measure a group: the bound is exact.
	// Else rows that are not there cost no time as long as all take no longer than what goes up meanwhile.
	if p.fetched = p.at.rowsEnd-p.at.rows <= max(smallRows, p.uploaded()) || p.layout == layoutRegular; !p.fetched {
		return nil
	}
	return p.fetch(e, lane)
}

// smallRows is how many bytes of rows are copied without asking how many there are: 20 µs over PCIe.
const smallRows = 1 << 20

// Finish implements Job.
func (p *piece) Finish(e *Engine, lane *Lane) (bool, error) {
	if p.packed {
		if err := p.checkFaults(); err != nil {
			return false, err
		}
	}
	more := !p.fetched
	totals := View[uint64](p.counts, 0, len(p.levels))
	for j := range p.levels {
		l := &p.levels[j]
		total := int(uint32(totals[j]))
		if total > l.bound {
			panic("gpu: more runs than the timestamps allow")
		}
		if more {
			l.rows = total
		}
	}
	if !more {
		return false, nil
	}
	p.fetched = true
	return true, p.fetch(e, lane)
}

// fetch queues the download of the rows of all levels, as many as level.rows says.
func (p *piece) fetch(e *Engine, lane *Lane) error {
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
		return lane.Download(p.results, 0, p.block, p.at.rows, bytes)
	}
	for j := range p.levels {
		l := &p.levels[j]
		if l.rows == l.bound {
			if err := lane.Download(p.results, p.rowsBefore[j], p.block, l.starts, 8*columns*int64(l.rows)); err != nil {
				return err
			}
			continue
		}
		for c := range columns {
			if err := lane.Download(p.results, p.rowsBefore[j]+8*c*int64(l.rows), p.block, l.starts+8*c*int64(l.bound), int64(8*l.rows)); err != nil {
				return err
			}
		}
	}
	return nil
}

// again returns memory for a download: what the piece has if it is large enough.
func (p *piece) again(e *Engine, has *Pinned, bytes int64) (*Pinned, error) {
	if has != nil {
		if int64(len(has.Bytes)) >= bytes {
			return has, nil
		}
		has.Release()
	}
	return e.Downloads.Get(bytes)
}

// room gets memory for the rows: lent memory, which the result can keep, if there is any left.
func (p *piece) room(e *Engine, bytes int64) (err error) {
	if p.results != nil && int64(len(p.results.Bytes)) >= bytes {
		return nil
	}
	if p.results != nil {
		p.results.Release()
	}
	p.results, err = e.Lent.Get(bytes)
	if p.inPlace = err == nil; errors.Is(err, ErrMemory) {
		p.results, err = e.Downloads.Get(bytes)
	}
	return err
}

// release gives back the pinned memory, and forgets the batch.
func (p *piece) release() {
	p.batch, p.from = nil, columns{}
	for _, memory := range []**Pinned{&p.up, &p.counts, &p.results} {
		if *memory != nil {
			(*memory).Release()
			*memory = nil
		}
	}
}

// launch queues all kernels.
func (p *piece) launch(lane *Lane, multiprocessors int) error {
	if p.packed {
		if err := p.launchUnpack(lane); err != nil {
			return err
		}
	}
	if p.plan.HasRate() {
		lane.Params().Ptr(p.block.At(p.at.values)).Ptr(p.block.At(p.at.bits)).Ptr(p.block.At(p.at.ranks)).
			Ptr(p.block.At(p.at.previous)).Ptr(p.block.At(p.at.differences)).U32(uint32(p.n))
		if err := lane.Launch(p.program.differences, blocks(p.n, differencesTile), differencesThreads, 0); err != nil {
			return err
		}
	}
	for j := range p.levels {
		if err := p.launchCut(lane, j); err != nil {
			return err
		}
		fractions := p.at.fractions
		for f := range p.families {
			family := &p.families[f]
			if family.any && (!p.levels[j].walked || family.counts) {
				if err := p.launchMoments(lane, j, f); err != nil {
					return err
				}
			}
			if len(family.percentiles) > 0 {
				if err := p.launchPercentiles(lane, j, f, fractions, multiprocessors); err != nil {
					return err
				}
			}
			fractions += int64(8 * len(family.percentiles))
		}
	}
	for f := range p.families {
		if p.families[f].any && !p.families[f].counts && len(p.together) > 0 {
			if err := p.launchLevels(lane, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func blocks(n, each int) int { return (n + each - 1) / each }

func (p *piece) launchCut(lane *Lane, j int) error {
	l, a := &p.levels[j], &p.at
	kernel, items, tile := p.program.cut[p.layout], p.n, cutTile
	timestamps, bits, ranks := a.timestamps, a.bits, a.ranks
	if l.finer >= 0 {
		finer := &p.levels[l.finer]
		kernel, items, tile = p.program.cut[cutRuns], finer.bound, cutRunsTile
		timestamps, bits, ranks = finer.starts, finer.begins, p.total(l.finer)
	}
	params := lane.Params()
	// Piece
	params.Ptr(p.block.At(timestamps))
	params.Ptr(p.block.At(bits))
	params.Ptr(p.block.At(ranks))
	params.Ptr(p.block.At(a.first)).Ptr(p.block.At(a.base)).Ptr(p.block.At(a.unit)).U32(uint32(p.n)).U32(uint32(len(p.series)))
	// Granularity
	width := p.plan.Granularities[j]
	magic, shift := divisor(width)
	nearMagic, nearShift, twos := nearDivisor(width)
	params.I64(int64(width)).U64(magic).U32(shift).U32(nearMagic).U32(nearShift).U32(twos)
	// Cut
	params.Ptr(p.block.At(l.begins)).Ptr(p.block.At(l.starts)).Ptr(p.block.At(l.runs))
	params.Ptr(p.block.At(p.total(j)))
	params.Ptr(p.block.At(l.words)).Ptr(p.block.At(l.inner))
	return lane.Launch(kernel, blocks(items, tile), cutThreads, 0)
}

// runs adds the parameters that runs.h calls Runs.
func (p *piece) runs(params *cu.Params, j int, rate bool) {
	l := &p.levels[j]
	params.Ptr(p.block.At(l.begins)).Ptr(p.block.At(p.total(j))).Ptr(p.block.At(p.at.first)).Ptr(p.flags())
	params.U32(uint32(len(p.series))).U32(p.continues(j)).U32(p.skips(rate))
}

// flags is where the flags of series are, 0 if none has any.
func (p *piece) flags() cu.DevicePtr {
	if !p.flagged {
		return 0
	}
	return p.block.At(p.at.flags)
}

// continues is the flag of a series whose first run at a level continues a group.
func (p *piece) continues(level int) uint32 {
	if !p.open {
		return 0
	}
	return 1 << level
}

// skips is the flag of a series whose first value is none.
func (p *piece) skips(rate bool) uint32 {
	if !rate {
		return 0
	}
	return flagSkip
}

// openRows is where the rows of open groups of a level and family are, 0 if there are none.
func (p *piece) openRows(level, family int) cu.DevicePtr {
	if !p.open {
		return 0
	}
	return p.block.At(p.openAt(level, family))
}

// momentColumn is where a moment of a family goes, 0 if it is not asked for.
func (p *piece) momentColumn(level int, f *family, moment carbonara.Column) cu.DevicePtr {
	c := f.moments[moment]
	if c < 0 {
		return 0
	}
	return p.block.At(p.column(&p.levels[level], c))
}

// valuesOf returns where the values of a family are.
func (p *piece) valuesOf(f *family) cu.DevicePtr {
	if f.rate {
		return p.block.At(p.at.differences)
	}
	return p.block.At(p.at.values)
}

// launchCounts queues what needs no values.
func (p *piece) launchCounts(lane *Lane, j, f int) error {
	l, family := &p.levels[j], &p.families[f]
	params := lane.Params()
	p.runs(params, j, family.rate)
	params.U32(0) // the struct ends at a multiple of 8
	params.Ptr(p.openRows(j, f)).Ptr(p.momentColumn(j, family, carbonara.ColumnCount))
	return lane.Launch(p.program.counts, blocks(l.bound, countsRuns), countsRuns, 0)
}

func (p *piece) launchMoments(lane *Lane, j, f int) error {
	l, family := &p.levels[j], &p.families[f]
	if family.counts {
		return p.launchCounts(lane, j, f)
	}
	params := lane.Params().Ptr(p.valuesOf(family))
	p.runs(params, j, family.rate)
	params.U32(0) // the struct ends at a multiple of 8
	params.Ptr(p.openRows(j, f))
	for m := range family.moments {
		params.Ptr(p.momentColumn(j, family, carbonara.Column(m)))
	}
	long, m2, each := 0, 0, shortRuns
	if p.n >= longFrom*l.bound {
		long, each = 1, longRuns
	}
	if family.m2 {
		m2 = 1
	}
	return lane.Launch(p.program.moments[long][m2], blocks(l.bound, each), momentsThreads, 0)
}

// launchLevels queues the moments of the levels that are walked together, the wider ones first if there are too many for one launch.
func (p *piece) launchLevels(lane *Lane, f int) error {
	family := &p.families[f]
	m2 := 0
	if family.m2 {
		m2 = 1
	}
	for to := len(p.together); to > 0; {
		number := min(levelsAtOnce, to)
		if to-number == 1 { // two at least: one warp does not load all that it needs
			number--
		}
		some := p.together[to-number : to]
		to -= number
		params := lane.Params().Ptr(p.valuesOf(family))
		for k := range levelsAtOnce {
			p.level(params, some[min(k, len(some)-1)], f)
		}
		params.Ptr(p.block.At(p.at.first)).Ptr(p.flags()).U32(uint32(len(p.series))).U32(p.skips(family.rate))
		err := lane.Launch(p.program.momentsLevels[m2], blocks(p.levels[some[len(some)-1]].bound, levelThread), levelThread*len(some), 0)
		if err != nil {
			return err
		}
	}
	if family.moments[carbonara.ColumnMin] < 0 && family.moments[carbonara.ColumnMax] < 0 {
		return nil
	}
	for _, j := range p.together { // each from the one before
		l := &p.levels[j]
		params := lane.Params()
		p.runs(params, j, family.rate)
		params.U32(0)
		params.Ptr(p.block.At(l.inner)).Ptr(p.block.At(p.levels[l.finer].begins)).Ptr(p.openRows(j, f))
		for _, level := range []int{j, l.finer} {
			params.Ptr(p.momentColumn(level, family, carbonara.ColumnMin)).Ptr(p.momentColumn(level, family, carbonara.ColumnMax))
		}
		if err := lane.Launch(p.program.extremes, blocks(l.bound, extremeRuns), extremeThreads, 0); err != nil {
			return err
		}
	}
	return nil
}

// level adds the parameters that moments_levels.cu calls Level: all columns but the lowest and highest.
func (p *piece) level(params *cu.Params, j, f int) {
	l := &p.levels[j]
	params.Ptr(p.block.At(l.begins)).Ptr(p.block.At(p.total(j))).Ptr(p.block.At(l.inner)).Ptr(p.openRows(j, f))
	for m := range p.families[f].moments {
		if column := carbonara.Column(m); column == carbonara.ColumnMin || column == carbonara.ColumnMax {
			params.Ptr(0)
		} else {
			params.Ptr(p.momentColumn(j, &p.families[f], column))
		}
	}
	params.U32(p.continues(j)).U32(0)
}

func (p *piece) launchPercentiles(lane *Lane, j, f int, fractions int64, multiprocessors int) error {
	l, family := &p.levels[j], &p.families[f]
	params := func() *cu.Params {
		params := lane.Params().Ptr(p.valuesOf(family))
		p.runs(params, j, family.rate)
		params.U32(0)
		params.Ptr(p.block.At(fractions)).Ptr(p.block.At(p.column(l, family.first)))
		return params.U32(uint32(l.bound)).U32(uint32(len(family.percentiles)))
	}
	each := min(max(placeValues*l.bound/p.n, 1), placeThreads)
	left := p.counter(j, f) // two numbers: of the list's front, and of its back
	params().Ptr(p.block.At(l.left)).Ptr(p.block.At(left))
	lane.params.U32(uint32(each))
	if err := lane.Launch(p.program.percentilesShort, blocks(l.bound, each), placeThreads, 0); err != nil {
		return err
	}
	grid := min(blocks(l.bound, sortRuns), 12*max(multiprocessors, 1))
	params().Ptr(p.block.At(l.left)).Ptr(p.block.At(left))
	if err := lane.Launch(p.program.percentilesWarp, grid, sortThreads, 0); err != nil {
		return err
	}
	params().Ptr(p.block.At(l.left)).Ptr(p.block.At(left))
	return lane.Launch(p.program.percentilesLong, grid, sortThreads, 0)
}
