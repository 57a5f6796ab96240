package resample

import (
	"unsafe"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// columns is the pinned memory that a batch's columns lie in, from where the device copies them by itself.
type columns struct {
	memory             *device.Pinned
	timestamps, values int64 // where they begin
}

// columnsOf returns where a batch lies in pinned memory; without memory if it does not.
func columnsOf(batch *carbonara.Batch) columns {
	memory, ok := batch.Borrowed().(*device.Pinned)
	if !ok {
		return columns{}
	}
	timestamps, here := memory.Offset(unsafe.Pointer(unsafe.SliceData(batch.Timestamps)), 8*len(batch.Timestamps))
	values, there := memory.Offset(unsafe.Pointer(unsafe.SliceData(batch.Values)), 8*len(batch.Values))
	if !here || !there { // they were appended to without Grow
		return columns{}
	}
	return columns{memory, timestamps, values}
}

// span is measures of a batch side by side, which also are side by side in a chunk.
type span struct{ from, to int }

// appendSpan adds the next measures.
func appendSpan(spans []span, from, to int) []span {
	if last := len(spans) - 1; last >= 0 && spans[last].to == from {
		spans[last].to = to
		return spans
	}
	return append(spans, span{from, to})
}

// spanMeasures is how many measures the spans of a chunk must have on average for the device to copy them one by one: a
// copy costs its owner 2 µs, in which a core copies 32 KiB and others pack.
const spanMeasures = 4 << 10

// upload queues all copies from the host to the device: packed columns, and columns in the batch.
func (p *chunk) upload(stream *device.Stream) error {
	if err := stream.Upload(p.block, 0, p.up, 0, p.upBytes); err != nil {
		return err
	}
	if p.from.memory == nil {
		return nil
	}
	at := int64(0)
	for _, s := range p.spans {
		offset, bytes := int64(8*s.from), int64(8*(s.to-s.from))
		if err := stream.Upload(p.block, p.at.values+at, p.from.memory, p.from.values+offset, bytes); err != nil {
			return err
		}
		if p.layout == layoutTimestamps {
			if err := stream.Upload(p.block, p.at.timestamps+at, p.from.memory, p.from.timestamps+offset,
				bytes); err != nil {
				return err
			}
		}
		at += bytes
	}
	return nil
}

// uploaded is how many bytes that is.
func (p *chunk) uploaded() int64 {
	bytes := p.upBytes
	if p.from.memory != nil {
		bytes += int64(8 * p.n)
		if p.layout == layoutTimestamps {
			bytes += int64(8 * p.n)
		}
	}
	return bytes
}

// Allocate implements carbonara.Allocator: pinned memory of a device that is open and may be chosen. The CPU also reads
// it, so it is cached.
func (r *Resampler) Allocate(measures int) carbonara.Columns {
	if !r.options.Always && r.model.Load() == nil {
		return carbonara.Columns{}
	}
	for _, d := range r.devices {
		e := d.Ready()
		if e == nil {
			continue
		}
		if memory, err := e.Borrowed.Get(int64(16 * (measures + 7))); err == nil {
			room := len(memory.Bytes) / 16 &^ 7 // both columns begin a cache's line
			return carbonara.Columns{Timestamps: device.View[carbonara.Timestamp](memory, 0, room)[:0],
				Values: device.View[float64](memory, 8*room, room)[:0], Memory: memory}
		}
	}
	return carbonara.Columns{}
}
