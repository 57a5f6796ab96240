package resample

import (
	"slices"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// openCounter are the columns of a counter's open row, as counters.cu reads it.
var openCounter = [counterOpen]carbonara.Column{carbonara.ColumnResets, carbonara.ColumnResetSum,
	carbonara.ColumnFirstTime}

// countersAt is where the open rows of a level's counters lie.
func (p *chunk) countersAt(level int) int64 {
	return p.at.counterOpen + int64(level*len(p.series)*8*counterOpen)
}

// packCounters writes what the groups that series continue have of counters.
func (p *chunk) packCounters(level int) {
	rows := device.View[float64](p.up, int(p.countersAt(level)), len(p.series)*counterOpen)
	for k, i := range p.series {
		open := p.batch.Series[i].Open
		for m, column := range openCounter {
			at := 0.
			if c, ok := slices.BinarySearch(p.plan.Columns, column); ok && open != nil {
				at = open[level*p.plan.OpenValues()+c]
			}
			rows[k*counterOpen+m] = at
		}
	}
}

// launchCounters queues the columns of counters of a level.
func (p *chunk) launchCounters(stream *device.Stream, j int) error {
	l := &p.levels[j]
	params := stream.Params().Ptr(p.block.At(p.at.values))
	p.runs(params, j, false)
	params.U32(0) // the struct ends at a multiple of 8
	params.Ptr(p.block.At(l.starts))
	params.Ptr(p.block.At(p.at.timestamps)).Ptr(p.block.At(p.at.base)).Ptr(p.block.At(p.at.unit))
	params.U32(uint32(p.layout)).U32(0)
	params.Ptr(p.openRows(j, 0)) // the measures': a plan of counters has their count
	if p.open {
		params.Ptr(p.block.At(p.countersAt(j)))
	} else {
		params.Ptr(0)
	}
	for _, column := range []carbonara.Column{carbonara.ColumnResets, carbonara.ColumnResetSum,
		carbonara.ColumnFirstTime, carbonara.ColumnLastTime} {
		if c, ok := slices.BinarySearch(p.plan.Columns, column); ok {
			params.Ptr(p.block.At(p.column(l, c)))
		} else {
			params.Ptr(0)
		}
	}
	long, each := 0, counterThreads
	if p.n >= longFrom*l.bound {
		long, each = 1, counterThreads/32
	}
	return stream.Launch(p.program.counters[long], device.Blocks(l.bound, each), counterThreads, 0)
}
