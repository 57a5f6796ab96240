package correlate

import (
	"time"

	"github.com/gnocco-db/gnocco/gpu/cu"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// chunkJob adds a chunk of rows to a band.
type chunkJob struct {
	*band
	chunk *chunk
}

// Start implements Job. All memory is taken before anything is queued, so that it may be called again.
func (j *chunkJob) Start(e *device.Engine, stream *device.Stream) error {
	rows, err := e.Memory.Get(j.shape.chunkBytes())
	if err != nil {
		return err
	}
	stream.Hold(rows)
	scratch := j.layout(j.chunk.rows, e.Memory.Budget())
	if scratch.block, err = e.Memory.Get(scratch.bytes); err != nil {
		return err
	}
	stream.Hold(scratch.block)
	if err := j.upload(stream, rows); err != nil {
		return err
	}
	return j.launch(stream, rows, scratch, j.chunk.rows, j.chunk.history)
}

func (*chunkJob) Finish(*device.Engine, *device.Stream) (bool, error) { return false, nil }

// ExtraTime is what a small device may take for the products.
func (j *chunkJob) ExtraTime() time.Duration {
	const rate = 2e10 // a second; a large device has some 1e13
	products := float64(j.tiles) * tileElements * float64(j.shape.lags()) * float64(j.chunk.rows)
	if j.gaps {
		products *= gapProducts
	}
	return time.Duration(products / rate * float64(time.Second))
}

// upload copies the chunk: all of it, or column by column where that is less.
func (j *chunkJob) upload(stream *device.Stream, to *device.Block) error {
	c, pitch := j.chunk, int64(j.shape.pitch)
	if c.rows > j.shape.chunk/2 {
		return stream.Upload(to, 0, c.up, 0, j.shape.chunkBytes())
	}
	for column := range int64(j.shape.columns) {
		at := 8 * (column*pitch + int64(j.shape.history-c.history))
		if err := stream.Upload(to, at, c.up, at, 8*int64(c.history+c.rows)); err != nil {
			return err
		}
	}
	return nil
}

// scratchLayout is what lies in a chunk's working memory.
type scratchLayout struct {
	block    *device.Block
	bytes    int64
	pitch    int // of the sides' columns
	together int // segments that are multiplied at once
	sides    [2]sideLayout
	products int64 // g: [product][segment][tile][element]
}

// sideLayout is one side of a product: byte offsets. Numbers are [segment][column].
type sideLayout struct {
	values, present, squared                int64
	counts, centres, sums, squares, changes int64
}

const productBytes = 2 << 30 // of device memory, for products, if there is as much

// layout divides the working memory for so many rows.
func (b *band) layout(rows int, memory int64) scratchLayout {
	s := scratchLayout{pitch: device.Blocks(rows, stepRows) * stepRows}
	take := func(bytes int64) int64 {
		at := s.bytes
		s.bytes += (bytes + 255) &^ 255
		return at
	}
	segments := device.Blocks(rows, segmentRows)
	for i := range b.shape.sides() {
		side := &s.sides[i]
		if b.gaps || b.shape.maxLag > 0 {
			side.values = take(int64(s.pitch) * b.columnBytes())
		}
		if b.gaps {
			side.present, side.squared = take(int64(s.pitch)*b.columnBytes()), take(int64(s.pitch)*b.columnBytes())
		}
		for _, at := range []*int64{&side.counts, &side.centres, &side.sums, &side.squares, &side.changes} {
			*at = take(int64(segments) * b.columnBytes())
		}
	}
	products := int64(1)
	if b.gaps {
		products = gapProducts
	}
	each := products * b.planeBytes()
	s.together = int(max(1, min(int64(segments), min(productBytes, memory/8)/each)))
	s.products = take(int64(s.together) * each)
	return s
}

// launch queues everything for so many rows on the device, with those before them that lags look back at.
func (b *band) launch(stream *device.Stream, rows *device.Block, s scratchLayout, own, history int) error {
	used := false
	for k := range b.shape.lags() {
		lag := lagOf(k)
		shift := max(lag, -lag)
		from := max(history, shift) // the first rows have none before them
		n := history + own - from
		if n <= 0 {
			continue
		}
		late := int64(b.shape.history - history + from)
		p := product{band: b, stream: stream, rows: rows, scratch: s, k: k, n: n, before: b.before[k], use: !used,
			offsets: [2]int64{late, late}}
		if lag > 0 {
			p.offsets[0] -= int64(shift)
		} else {
			p.offsets[1] -= int64(shift)
		}
		if err := p.launch(); err != nil {
			return err
		}
		used = true
		b.before[k] += int64(n)
	}
	return stream.Publish(b.moments)
}

// product is one lag of a chunk.
type product struct {
	*band
	stream  *device.Stream
	rows    *device.Block
	scratch scratchLayout
	k       int
	n       int      // rows
	offsets [2]int64 // where they begin in each column, of x and of y
	before  int64    // rows merged before
	use     bool     // nothing of this job has touched the state yet
}

func (p *product) at(offset int64) cu.DevicePtr { return p.scratch.block.At(offset) }

// of returns where a segment's numbers begin in an array [segment][column].
func (p *product) of(offset int64, segment int) cu.DevicePtr {
	return p.at(offset + int64(segment)*p.columnBytes())
}

func (p *product) launch() error {
	segments := device.Blocks(p.n, segmentRows)
	plain := p.k == 0 && !p.gaps
	if plain {
		params := p.stream.Params().Ptr(p.raw(0)).I64(int64(p.shape.pitch))
		p.plan(params, 0, segments, p.n, p.before).Ptr(p.at(p.scratch.sides[0].centres))
		grid := device.Blocks(segments*p.shape.columns, centresPerBlock)
		if err := p.stream.Launch(p.device.program.centres, grid, blockThreads, 0); err != nil {
			return err
		}
	} else {
		for side := range p.sidesHere() {
			if err := p.launchSide(side, segments); err != nil {
				return err
			}
		}
	}
	for segment := 0; segment < segments; segment += p.scratch.together {
		n := min(p.scratch.together, segments-segment)
		if err := p.multiply(plain, segment, n); err != nil {
			return err
		}
		if p.use { // the state is needed from here on only
			if err := p.stream.Use(p.moments); err != nil {
				return err
			}
			p.use = false
		}
		if err := p.merge(plain, segment, n); err != nil {
			return err
		}
	}
	return nil
}

// sidesHere is how many sides differ at this lag.
func (p *product) sidesHere() int {
	if p.k == 0 {
		return 1
	}
	return 2
}

// raw returns where the rows of column 0 begin.
func (p *product) raw(side int) cu.DevicePtr { return p.rows.At(8 * p.offsets[side]) }

func (p *product) launchSide(side, segments int) error {
	s := &p.scratch.sides[side]
	params := p.stream.Params().Ptr(p.rows.At(0)).I64(int64(p.shape.pitch)).I64(p.offsets[side])
	p.plan(params, 0, segments, p.n, p.before).Ptr(p.at(s.values))
	params.Ptr(optional(p.gaps, p.scratch.block, s.present)).Ptr(optional(p.gaps, p.scratch.block, s.squared))
	params.I64(int64(p.scratch.pitch)).Ptr(p.at(s.counts)).Ptr(p.at(s.centres)).Ptr(p.at(s.sums)).Ptr(p.at(s.squares))
	return p.stream.Launch(p.device.program.sides, segments*p.shape.columns, blockThreads, 0)
}

// multiply computes the products of some segments.
func (p *product) multiply(plain bool, segment, segments int) error {
	x, y := &p.scratch.sides[0], &p.scratch.sides[p.sidesHere()-1]
	grid := segments * p.tiles
	if plain {
		params := p.stream.Params().Ptr(p.raw(0)).I64(int64(p.shape.pitch))
		p.plan(params, segment, segments, p.n, p.before)
		params.Ptr(p.of(x.centres, segment)).Ptr(p.at(p.scratch.products)).Ptr(p.of(x.sums, segment))
		return p.stream.Launch(p.device.program.gramCentred, grid, blockThreads, p.device.program.gramShared)
	}
	products := [][2]int64{{x.values, y.values}}
	if p.gaps {
		products = [][2]int64{
			{x.values, y.values}, {x.present, y.present}, {x.values, y.present}, {x.present, y.values},
			{x.squared, y.present}, {x.present, y.squared},
		}
	}
	for i, product := range products {
		params := p.stream.Params().Ptr(p.at(product[0])).Ptr(p.at(product[1])).I64(int64(p.scratch.pitch))
		p.plan(params, segment, segments, p.n, p.before).Ptr(
			p.at(p.scratch.products + int64(i*segments)*p.planeBytes()))
		if err := p.stream.Launch(p.device.program.gram, grid, blockThreads, p.device.program.gramShared); err != nil {
			return err
		}
	}
	return nil
}

// merge adds some segments to the state.
func (p *product) merge(plain bool, segment, segments int) error {
	x, y := &p.scratch.sides[0], &p.scratch.sides[p.sidesHere()-1]
	for i := range p.sidesHere() {
		s := &p.scratch.sides[i]
		params := p.plan(p.stream.Params(), segment, segments, p.n, p.before)
		if plain {
			params.Ptr(0).Ptr(p.of(s.centres, segment)).Ptr(p.of(s.sums, segment)).Ptr(0)
		} else {
			params.Ptr(p.of(s.counts, segment)).Ptr(p.of(s.centres, segment))
			params.Ptr(p.of(s.sums, segment)).Ptr(p.of(s.squares, segment))
		}
		params.Ptr(p.at(p.scratch.products)).Ptr(p.columnsOf(p.k, i)).Ptr(p.of(s.changes, segment))
		grid := device.Blocks(p.shape.columns, columnsPerBlock)
		if err := p.stream.Launch(p.device.program.columns, grid, blockThreads, 0); err != nil {
			return err
		}
	}
	grid := p.tiles * tileMergeBlocks
	params := p.plan(p.stream.Params(), segment, segments, p.n, p.before).Ptr(p.at(p.scratch.products))
	if p.gaps {
		params.Ptr(p.raw(0)).Ptr(p.of(x.centres, segment)).Ptr(p.raw(1)).Ptr(p.of(y.centres, segment))
		params.I64(int64(p.shape.pitch)).Ptr(p.momentsOf(p.k))
		return p.stream.Launch(p.device.program.mergeGaps, grid, blockThreads, 0)
	}
	params.Ptr(p.of(x.sums, segment)).Ptr(p.of(y.sums, segment))
	params.Ptr(p.of(x.changes, segment)).Ptr(p.of(y.changes, segment)).Ptr(p.momentsOf(p.k))
	return p.stream.Launch(p.device.program.merge, grid, blockThreads, 0)
}
