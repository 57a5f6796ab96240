package correlate

import (
	"math"
	"slices"

	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/gpu/cu"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/internal/parallel"
)

// outcomeJob is the job that makes coefficients of a band's state, and finds the pairs that a selection wants.
type outcomeJob struct {
	*band
	minOverlap int
	selection  correlate.Selection
	all        bool // no selection: all pairs are wanted

	at       outcomeLayout
	work     *device.Block // thresholds, choice, counts, numbers and the list
	room     int64
	up       *device.Pinned
	down     *device.Pinned // columns' state at no lag, then the numbers
	list     *device.Pinned
	constant []int
	found    []correlate.Pair
	eligible int64
}

// outcomeLayout is byte offsets within the job's work.
type outcomeLayout struct {
	thresholds, choice, counts, numbers, found int64
	bytes                                      int64
}

const foundBytes = 32 // of correl_select.cu's Found

func (b *band) overlapAt() int64 { return b.planeBytes() }
func (b *band) lagAt() int64     { return 2 * b.planeBytes() }

// Start implements Job.
func (o *outcomeJob) Start(e *device.Engine, stream *device.Stream) error {
	if err := o.memory(e, stream); err != nil {
		return err
	}
	return o.queue(stream)
}

// memory takes what the job needs.
func (o *outcomeJob) memory(e *device.Engine, stream *device.Stream) (err error) {
	if o.outcome == nil {
		if o.outcome, err = e.Memory.Get(o.shape.outcomeBytes(o.tiles)); err != nil {
			return err
		}
	}
	if !o.all {
		if err := o.reserve(e, stream, o.expected()); err != nil {
			return err
		}
	}
	if o.down, err = e.Downloads.Get(4*o.columnBytes() + 8); err != nil {
		return err
	}
	stream.Hold(o.down)
	if o.up, err = e.Uploads.Get(8); err != nil {
		return err
	}
	stream.Hold(o.up)
	return nil
}

// queue queues everything up to the number of pairs.
func (o *outcomeJob) queue(stream *device.Stream) error {
	if err := stream.Use(o.moments); err != nil {
		return err
	}
	if err := stream.Download(o.down, 0, o.columns, 0, 4*o.columnBytes()); err != nil {
		return err
	}
	if err := o.launchCoefficients(stream, o.minOverlap); err != nil || o.all {
		return err
	}
	return o.find(stream)
}

// expected is how many pairs a selection may find, with some to spare.
func (o *outcomeJob) expected() int64 {
	pairs := int64(o.tiles) * tileElements
	switch {
	case o.selection.TopPerColumn > 0:
		return min(pairs, int64(o.shape.columns)*int64(o.selection.TopPerColumn)+1<<12)
	case o.selection.Top > 0:
		return min(pairs, 2*int64(o.selection.Top)+1<<12)
	}
	return min(pairs, 1<<20)
}

// reserve takes memory for a list of so many pairs, and all that it takes to find them.
func (o *outcomeJob) reserve(e *device.Engine, stream *device.Stream, room int64) (err error) {
	o.room = room
	o.at = outcomeLayout{}
	for _, want := range []struct {
		at    *int64
		bytes int64
	}{
		{&o.at.thresholds, 4 * int64(o.shape.columns)},
		{&o.at.choice, 8},
		{&o.at.counts, 4 * digitCounts},
		{&o.at.numbers, 8},
		{&o.at.found, room * foundBytes},
	} {
		*want.at = o.at.bytes
		o.at.bytes += (want.bytes + 255) &^ 255
	}
	if o.work, err = e.Memory.Get(o.at.bytes); err != nil {
		return err
	}
	stream.Hold(o.work)
	return nil
}

// launchCoefficients queues their computation.
func (o *band) launchCoefficients(stream *device.Stream, minOverlap int) error {
	flag := func(b bool) uint32 {
		if b {
			return 1
		}
		return 0
	}
	params := o.plan(stream.Params(), 0, 0, 0, 0).Ptr(o.momentsOf(0)).Ptr(o.columnsOf(0, 0))
	params.U32(uint32(o.shape.lags())).U32(flag(o.gaps)).U32(uint32(o.planes())).U32(uint32(o.shape.sides()))
	params.I64(o.before[0]).I64(int64(minOverlap)).Ptr(o.outcome.At(0))
	params.Ptr(optional(o.shape.maxLag > 0, o.outcome, o.lagAt())).Ptr(optional(o.gaps, o.outcome, o.overlapAt()))
	return stream.Launch(o.device.program.coefficients, o.tiles*tileMergeBlocks, blockThreads, 0)
}

// optional returns an address in a block, or 0 without one.
func optional(has bool, block *device.Block, at int64) cu.DevicePtr {
	if !has {
		return 0
	}
	return block.At(at)
}

// rowsOf adds what correl_select.cu calls Rows.
func (o *band) rowsOf(p *cu.Params) *cu.Params {
	return p.U32(uint32(o.rows.from)).U32(uint32(o.rows.to))
}

// find queues the search for the pairs wanted, and the download of their number.
func (o *outcomeJob) find(stream *device.Stream) error {
	top := o.selection.Top
	if o.selection.TopPerColumn > 0 {
		top = 0 // chosen on the host, among those of the columns
		params := o.rowsOf(o.plan(stream.Params(), 0, 0, 0, 0)).Ptr(o.outcome.At(0))
		params.U32(uint32(min(o.selection.TopPerColumn, math.MaxUint32))).Ptr(o.work.At(o.at.thresholds))
		if err := stream.Launch(o.device.program.topColumns, o.shape.columns, blockThreads, 0); err != nil {
			return err
		}
	}
	if top > 0 {
		if err := o.strongest(stream, top); err != nil {
			return err
		}
	}
	return o.emit(stream)
}

// strongest queues the search for the K-th largest strength of all.
func (o *outcomeJob) strongest(stream *device.Stream, top int) error {
	choice := device.View[uint32](o.up, 0, 2)
	choice[0], choice[1] = 0, uint32(min(top, math.MaxUint32))
	if err := stream.Upload(o.work, o.at.choice, o.up, 0, 8); err != nil {
		return err
	}
	if err := stream.Fill(o.work, o.at.counts, 0, 4*digitCounts); err != nil {
		return err
	}
	for pass := range uint32(digitPasses) {
		params := o.rowsOf(o.plan(stream.Params(), 0, 0, 0, 0)).Ptr(o.outcome.At(0))
		params.Ptr(o.work.At(o.at.choice)).U32(pass).Ptr(o.work.At(o.at.counts))
		if err := stream.Launch(o.device.program.histogram, o.tiles, blockThreads, 0); err != nil {
			return err
		}
		stream.Params().Ptr(o.work.At(o.at.choice)).Ptr(o.work.At(o.at.counts)).U32(pass)
		if err := stream.Launch(o.device.program.digit, 1, blockThreads, 0); err != nil {
			return err
		}
	}
	return nil
}

// emit queues the listing of pairs.
func (o *outcomeJob) emit(stream *device.Stream) error {
	if err := stream.Fill(o.work, o.at.numbers, 0, 8); err != nil {
		return err
	}
	o.rowsOf(o.plan(stream.Params(), 0, 0, 0, 0)).Ptr(o.outcome.At(0)).
		Ptr(optional(o.shape.maxLag > 0, o.outcome, o.lagAt())).Ptr(optional(o.gaps, o.outcome, o.overlapAt())).
		F64(o.selection.MinAbs).Ptr(optional(o.selection.TopPerColumn > 0, o.work, o.at.thresholds)).
		Ptr(optional(o.selection.TopPerColumn == 0 && o.selection.Top > 0, o.work, o.at.choice)).
		U64(uint64(o.room)).Ptr(o.work.At(o.at.found)).Ptr(o.work.At(o.at.numbers))
	if err := stream.Launch(o.device.program.emitting, o.tiles, blockThreads, 0); err != nil {
		return err
	}
	return stream.Download(o.down, 4*o.columnBytes(), o.work, o.at.numbers, 8)
}

// Finish implements Job: once the number of pairs is known, it makes room for them if there is too little, or copies
// them.
func (o *outcomeJob) Finish(e *device.Engine, stream *device.Stream) (bool, error) {
	if o.list != nil {
		o.readList()
		return false, nil
	}
	o.readColumns()
	if o.all {
		return false, nil
	}
	numbers := device.View[uint32](o.down, int(4*o.columnBytes()), 2)
	n := int64(numbers[0])
	o.eligible = int64(numbers[1])
	if n > o.room {
		old := o.at
		work := o.work
		if err := o.reserve(e, stream, n); err != nil {
			return false, err
		}
		for _, copied := range [][3]int64{
			{o.at.thresholds, old.thresholds, 4 * int64(o.shape.columns)},
			{o.at.choice, old.choice, 8},
		} {
			if err := stream.Copy(o.work, copied[0], work, copied[1], copied[2]); err != nil {
				return false, err
			}
		}
		return true, o.emit(stream)
	}
	if n == 0 {
		return false, nil
	}
	var err error
	if o.list, err = e.Downloads.Get(n * foundBytes); err != nil {
		return false, err
	}
	stream.Hold(o.list)
	o.found = make([]correlate.Pair, n)
	return true, stream.Download(o.list, 0, o.work, o.at.found, n*foundBytes)
}

// readColumns finds columns without coefficients.
func (o *outcomeJob) readColumns() {
	columns := o.shape.columns
	state := device.View[float64](o.down, 0, 4*columns)
	o.constant = o.constant[:0]
	for j := range columns {
		if state[3*columns+j] == 0 { // the moment
			o.constant = append(o.constant, j)
		}
	}
}

// readList reads the list into found, ordered by columns: a device finds pairs in any order. There may be a million,
// but not many of one column.
func (o *outcomeJob) readList() {
	values := device.View[float64](o.list, 0, len(o.found)*foundBytes/8)
	numbers := device.View[uint32](o.list, 0, len(o.found)*foundBytes/4)
	const valuesEach, numbersEach = foundBytes / 8, foundBytes / 4
	ends := make([]int, o.shape.columns+1)
	for k := range o.found {
		ends[numbers[k*numbersEach+4]+1]++
	}
	for i := range o.shape.columns {
		ends[i+1] += ends[i]
	}
	next := slices.Clone(ends)
	for k := range o.found {
		v, n := values[k*valuesEach:], numbers[k*numbersEach+4:]
		o.found[next[n[0]]] = o.pair(int(n[0]), int(n[1]), v[0], int(n[2]), v[1])
		next[n[0]]++
	}
	_ = parallel.Each(parallel.Workers(o.shape.columns), o.shape.columns, func(i int) error {
		slices.SortFunc(o.found[ends[i]:ends[i+1]], func(a, b correlate.Pair) int { return a.J - b.J })
		return nil
	})
}

// pair is a pair as correlate has it.
func (o *band) pair(i, j int, r float64, lag int, overlap float64) correlate.Pair {
	p := correlate.Pair{I: i, J: j, R: r, Lag: lagOf(lag), Overlap: o.before[lag]}
	if o.gaps {
		p.Overlap = int64(overlap)
	}
	return p
}

// fetchJob is the job that copies the coefficients of a row of tiles: the diagonal one first.
type fetchJob struct {
	*band
	row  int
	r    []float64
	lag  []uint32
	over []float64
}

// Start implements Job.
func (f *fetchJob) Start(e *device.Engine, stream *device.Stream) error {
	right := int64(f.shape.above(f.row+1) - f.shape.above(f.row)) // tiles beside the diagonal one
	from := int64(f.shape.panels + f.shape.above(f.row) - f.first)
	fetch := func(base, size int64) (*device.Pinned, error) {
		p, err := e.Downloads.Get((1 + right) * tileElements * size)
		if err != nil {
			return nil, err
		}
		stream.Hold(p)
		if err := stream.Download(p, 0, f.outcome, base+int64(f.row)*tileElements*size, tileElements*size); err != nil {
			return nil, err
		}
		return p, stream.Download(p, tileElements*size, f.outcome, base+from*tileElements*size, right*tileElements*size)
	}
	n := int((1 + right) * tileElements)
	p, err := fetch(0, 8)
	if err != nil {
		return err
	}
	f.r = device.View[float64](p, 0, n)
	if f.shape.maxLag > 0 {
		if p, err = fetch(f.lagAt(), 4); err != nil {
			return err
		}
		f.lag = device.View[uint32](p, 0, n)
	}
	if f.gaps {
		if p, err = fetch(f.overlapAt(), 8); err != nil {
			return err
		}
		f.over = device.View[float64](p, 0, n)
	}
	return nil
}

// Finish implements Job: pinned memory is the pool's again after it.
func (f *fetchJob) Finish(*device.Engine, *device.Stream) (bool, error) {
	f.r, f.lag, f.over = slices.Clone(f.r), slices.Clone(f.lag), slices.Clone(f.over)
	return false, nil
}

// pairs hands out those of the row, ordered by columns.
func (f *fetchJob) pairs(each func(correlate.Pair) error) error {
	for i := f.row * panelColumns; i < min((f.row+1)*panelColumns, f.shape.columns); i++ {
		for j := i + 1; j < f.shape.columns; j++ {
			at := (j/panelColumns-f.row)*tileElements + i%panelColumns*panelColumns + j%panelColumns
			lag, overlap := 0, 0.
			if f.lag != nil {
				lag = int(f.lag[at])
			}
			if f.over != nil {
				overlap = f.over[at]
			}
			if err := each(f.pair(i, j, f.r[at], lag, overlap)); err != nil {
				return err
			}
		}
	}
	return nil
}
