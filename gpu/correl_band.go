package gpu

import (
	"context"

	"gnocco/gpu/cu"
)

// correlBand is some rows of tiles on one device, and what their pairs come to so far. Its jobs run in their order: each adds to the
// state after the one before it, whatever lane it is on, so that the same rows give the same bits.
type correlBand struct {
	device  *correlDevice
	engine  *Engine
	shape   *correlShape
	rows    correlRows
	first   int // off-diagonal tile
	tiles   int
	moments *Block // [lag][tile][element], or [lag][plane][tile][element] with gaps
	columns *Block // [lag][side][state]
	gaps    bool
	before  []int64 // rows merged, by lag
	outcome *Block  // coefficients, lags, shared rows, once computed
}

func newCorrelBand(d *correlDevice, e *Engine, shape *correlShape, rows correlRows) *correlBand {
	return &correlBand{device: d, engine: e, shape: shape, rows: rows, first: shape.above(rows.from), tiles: shape.tiles(rows),
		before: make([]int64, shape.lags())}
}

// close gives the memory back. No job is under way.
func (b *correlBand) close() {
	_ = b.device.Do(context.Background(), func(*Engine) error { // a device that is dead has nothing to give back
		for _, block := range []**Block{&b.moments, &b.columns, &b.outcome} {
			if *block != nil {
				(*block).Release()
				*block = nil
			}
		}
		return nil
	})
}

// plan adds what correl.h calls Plan: segments of a chunk's rows.
func (b *correlBand) plan(p *cu.Params, segment, segments, rows int, before int64) *cu.Params {
	return p.U32(uint32(b.shape.columns)).U32(uint32(b.shape.panels)).U32(uint32(b.first)).U32(uint32(b.tiles)).
		U32(uint32(segment)).U32(uint32(rows)).U32(uint32(segments)).U32(0).I64(before)
}

// planeBytes is one number for each pair, and columnBytes one for each column.
func (b *correlBand) planeBytes() int64  { return int64(b.tiles) * correlTile * 8 }
func (b *correlBand) columnBytes() int64 { return 8 * int64(b.shape.columns) }

func (b *correlBand) planes() int64 {
	if b.gaps {
		return correlPlanes
	}
	return 1
}

// momentsOf returns where the state of a lag's pairs begins.
func (b *correlBand) momentsOf(k int) cu.DevicePtr {
	return b.moments.At(int64(k) * b.planes() * b.planeBytes())
}

// columnsOf returns where the state of a lag's columns on one side begins.
func (b *correlBand) columnsOf(k, side int) cu.DevicePtr {
	if k == 0 { // the same rows
		side = 0
	}
	return b.columns.At(int64(k*b.shape.sides()+side) * 4 * b.columnBytes())
}

// correlBegin is the job that makes a band's state: no rows.
type correlBegin struct{ *correlBand }

// Start implements Job.
func (b correlBegin) Start(e *Engine, lane *Lane) error {
	moments := b.shape.momentBytes(b.tiles, b.gaps)
	columns := int64(b.shape.lags()*b.shape.sides()) * 4 * b.columnBytes()
	for _, want := range []struct {
		block **Block
		bytes int64
	}{{&b.moments, moments}, {&b.columns, columns}} {
		if *want.block == nil {
			var err error
			if *want.block, err = e.Memory.Get(want.bytes); err != nil {
				return err
			}
		}
		if err := lane.Fill(*want.block, 0, 0, want.bytes); err != nil {
			return err
		}
	}
	return lane.Publish(b.moments)
}

// Finish implements Job.
func (correlBegin) Finish(*Engine, *Lane) (bool, error) { return false, nil }

// correlSplit is the job that gives every pair a state of its own: from now on there are gaps.
type correlSplit struct{ *correlBand }

// Start implements Job.
func (b correlSplit) Start(e *Engine, lane *Lane) error {
	const momentPlane = 1 // GAPS_MOMENT
	bytes := b.shape.momentBytes(b.tiles, true)
	planes, err := e.Memory.Get(bytes)
	if err != nil {
		return err
	}
	old := b.moments
	if err := lane.Use(old); err != nil {
		planes.Release()
		return err
	}
	if err := lane.Fill(planes, 0, 0, bytes); err != nil {
		planes.Release()
		return err
	}
	for k, before := range b.before {
		if before == 0 {
			continue
		}
		from, to := b.momentsOf(k), planes.At(int64(k)*correlPlanes*b.planeBytes())
		if err := cu.MemcpyDtoDAsync(to+cu.DevicePtr(momentPlane*b.planeBytes()), from, b.planeBytes(), lane.Stream); err != nil {
			planes.Release()
			return lane.wrap(err)
		}
		b.plan(lane.Params(), 0, 0, 0, 0).Ptr(b.columnsOf(k, 0)).Ptr(b.columnsOf(k, 1)).Ptr(to)
		if err := lane.Launch(b.device.program.split, b.tiles*correlMergeBlocks, correlThreads, 0); err != nil {
			planes.Release()
			return err
		}
	}
	lane.Hold(old) // the band's reference
	b.moments, b.gaps = planes, true
	return lane.Publish(planes)
}

// Finish implements Job.
func (correlSplit) Finish(*Engine, *Lane) (bool, error) { return false, nil }
