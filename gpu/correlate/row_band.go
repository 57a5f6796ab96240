package correlate

import (
	"context"

	"github.com/gnocco-db/gnocco/gpu/cu"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// band is some rows of tiles on one device, and the state of their pairs so far. Its jobs run in their order on any
// streams: each adds to the state after the one before, so that the same rows give the same bits.
type band struct {
	device  *loadedDevice
	engine  *device.Engine
	shape   *shape
	rows    tileRows
	first   int // off-diagonal tile
	tiles   int
	moments *device.Block // [lag][tile][element], or [lag][plane][tile][element] with gaps
	columns *device.Block // [lag][side][state]
	gaps    bool
	before  []int64       // rows merged, by lag
	outcome *device.Block // coefficients, lags, shared rows, once computed
}

func newBand(d *loadedDevice, e *device.Engine, shape *shape, rows tileRows) *band {
	return &band{device: d, engine: e, shape: shape, rows: rows, first: shape.above(rows.from),
		tiles: shape.tiles(rows), before: make([]int64, shape.lags())}
}

// close gives the memory back. No job is under way.
func (b *band) close() {
	_ = b.device.Do(context.Background(), func(*device.Engine) error { // a device that is dead has nothing to give back
		for _, block := range []**device.Block{&b.moments, &b.columns, &b.outcome} {
			if *block != nil {
				(*block).Release()
				*block = nil
			}
		}
		return nil
	})
}

// plan adds what correl.h calls Plan: segments of a chunk's rows.
func (b *band) plan(p *cu.Params, segment, segments, rows int, before int64) *cu.Params {
	return p.U32(uint32(b.shape.columns)).U32(uint32(b.shape.panels)).U32(uint32(b.first)).U32(uint32(b.tiles)).
		U32(uint32(segment)).U32(uint32(rows)).U32(uint32(segments)).U32(0).I64(before)
}

// planeBytes is one number for each pair, and columnBytes one for each column.
func (b *band) planeBytes() int64  { return int64(b.tiles) * tileElements * 8 }
func (b *band) columnBytes() int64 { return 8 * int64(b.shape.columns) }

func (b *band) planes() int64 {
	if b.gaps {
		return gapPlanes
	}
	return 1
}

// momentsOf returns where the state of a lag's pairs begins.
func (b *band) momentsOf(k int) cu.DevicePtr {
	return b.moments.At(int64(k) * b.planes() * b.planeBytes())
}

// columnsOf returns where the state of a lag's columns on one side begins.
func (b *band) columnsOf(k, side int) cu.DevicePtr {
	if k == 0 { // the same rows
		side = 0
	}
	return b.columns.At(int64(k*b.shape.sides()+side) * 4 * b.columnBytes())
}

// beginJob is the job that makes a band's state: no rows.
type beginJob struct{ *band }

// Start implements Job.
func (b beginJob) Start(e *device.Engine, stream *device.Stream) error {
	moments := b.shape.momentBytes(b.tiles, b.gaps)
	columns := int64(b.shape.lags()*b.shape.sides()) * 4 * b.columnBytes()
	for _, want := range []struct {
		block **device.Block
		bytes int64
	}{{&b.moments, moments}, {&b.columns, columns}} {
		if *want.block == nil {
			var err error
			if *want.block, err = e.Memory.Get(want.bytes); err != nil {
				return err
			}
		}
		if err := stream.Fill(*want.block, 0, 0, want.bytes); err != nil {
			return err
		}
	}
	return stream.Publish(b.moments)
}

func (beginJob) Finish(*device.Engine, *device.Stream) (bool, error) { return false, nil }

// splitJob is the job that gives every pair a state of its own: from now on there are gaps.
type splitJob struct{ *band }

// Start implements Job.
func (b splitJob) Start(e *device.Engine, stream *device.Stream) error {
	const momentPlane = 1 // GAPS_MOMENT
	bytes := b.shape.momentBytes(b.tiles, true)
	planes, err := e.Memory.Get(bytes)
	if err != nil {
		return err
	}
	old := b.moments
	if err := stream.Use(old); err != nil {
		planes.Release()
		return err
	}
	if err := stream.Fill(planes, 0, 0, bytes); err != nil {
		planes.Release()
		return err
	}
	for k, before := range b.before {
		if before == 0 {
			continue
		}
		to := int64(k) * gapPlanes * b.planeBytes()
		from := int64(k) * b.planes() * b.planeBytes()
		if err := stream.Copy(planes, to+momentPlane*b.planeBytes(), old, from, b.planeBytes()); err != nil {
			planes.Release()
			return err
		}
		b.plan(stream.Params(), 0, 0, 0, 0).Ptr(b.columnsOf(k, 0)).Ptr(b.columnsOf(k, 1)).Ptr(planes.At(to))
		if err := stream.Launch(b.device.program.split, b.tiles*tileMergeBlocks, blockThreads, 0); err != nil {
			planes.Release()
			return err
		}
	}
	stream.Hold(old) // the band's reference
	b.moments, b.gaps = planes, true
	return stream.Publish(planes)
}

func (splitJob) Finish(*device.Engine, *device.Stream) (bool, error) { return false, nil }
