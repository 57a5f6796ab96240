package resample

import (
	"errors"
	"iter"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/cu"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// errPacked says that packed series do not decode: the CPU finds out which.
var errPacked = errors.New("gpu: packed measures do not decode")

// unpacking is what a chunk of packed series sends in place of columns: the vectors of the archive, which the device
// decodes.
type unpacking struct {
	vectors int   // that have measures of the chunk
	bytes   int64 // of all these
	at      struct{ bytes, vectors, faults int64 }
}

const vectorBytes = 80 // of struct Vector in kernels/unpack.cu

// vectorsOf returns the vectors that have measures of a packed series.
func vectorsOf(s *carbonara.Series) iter.Seq[*carbonara.PackedVector] {
	return func(yield func(*carbonara.PackedVector) bool) {
		for i := range s.Packed.Vectors {
			if v := &s.Packed.Vectors[i]; v.End() > s.From && v.At < s.To && !yield(v) {
				return
			}
		}
	}
}

// narrowestUnit returns the unit of which all timestamps of a packed series are multiples.
func narrowestUnit(s *carbonara.Series) carbonara.Timestamp {
	unit := units[0]
	for v := range vectorsOf(s) {
		unit = min(unit, v.Unit)
	}
	return unit
}

// layPacked chooses the layout that the device unpacks timestamps to.
func (p *chunk) layPacked() {
	p.unpacking.vectors, p.unpacking.bytes = 0, 0
	regular, narrow := true, true
	for k, i := range p.series {
		s := &p.batch.Series[i]
		for v := range vectorsOf(s) {
			p.unpacking.vectors++
			p.unpacking.bytes += int64(len(v.Values))
		}
		regular = regular && (s.Packed.Step > 0 || s.Len() == 1)
		unit := narrowestUnit(s)
		narrow = narrow && (p.lasts[k]-p.firsts[k])/unit < 1<<32
		p.layouts = append(p.layouts, fixed{layoutOffsets, unit})
	}
	switch {
	case regular:
		p.layout = layoutRegular
		for k, i := range p.series {
			p.layouts[k].unit = max(p.batch.Series[i].Packed.Step, 1)
		}
		return
	case narrow:
		p.layout = layoutOffsets
	default:
		p.layout = layoutTimestamps
	}
	for _, i := range p.series {
		for v := range vectorsOf(&p.batch.Series[i]) {
			p.unpacking.bytes += int64(len(v.Times))
		}
	}
}

// packVectors writes the vectors' bytes, and what is to know of each.
func (p *chunk) packVectors() {
	u := &p.unpacking
	all := device.View[byte](p.up, int(u.at.bytes), int(u.bytes))
	written := 0
	write := func(bytes []byte) (at uint64) {
		at = uint64(u.at.bytes) + uint64(written)
		written += copy(all[written:], bytes)
		return at
	}
	words := device.View[uint64](p.up, int(u.at.vectors), u.vectors*vectorBytes/8)
	next := 0
	for k, i := range p.series {
		s := &p.batch.Series[i]
		for v := range vectorsOf(s) {
			times, timesAt := v.Times, uint64(0)
			if p.layout == layoutRegular {
				times = nil
			} else {
				timesAt = write(times)
			}
			valuesAt := write(v.Values)
			add, scale := v.Base, v.Unit
			if p.layout == layoutOffsets {
				add, scale = (v.Base-p.firsts[k])/p.layouts[k].unit, v.Unit/p.layouts[k].unit
			}
			from, to := max(s.From-v.At, 0), min(s.To-v.At, v.N)
			exact := uint64(0)
			if v.Exact {
				exact = 1
			}
			copy(words, []uint64{
				timesAt, valuesAt, pair(len(times), len(v.Values)), pair(v.N, from), pair(to, next), exact,
				uint64(v.First), uint64(v.Last), uint64(add), uint64(scale),
			})
			words = words[vectorBytes/8:]
			next += to - from
		}
	}
}

// pair is two numbers of 32 bits side by side.
func pair(low, high int) uint64 { return uint64(uint32(low)) | uint64(uint32(high))<<32 }

// launchUnpack queues what makes columns of the vectors.
func (p *chunk) launchUnpack(stream *device.Stream) error {
	params := func(out int64) *cu.Params {
		at := &p.unpacking.at
		return stream.Params().Ptr(p.block.At(0)).Ptr(p.block.At(at.vectors)).Ptr(p.block.At(out)).Ptr(
			p.block.At(at.faults))
	}
	if p.layout != layoutRegular {
		wide := uint32(0)
		if p.layout == layoutTimestamps {
			wide = 1
		}
		params(p.at.timestamps).U32(wide)
		if err := stream.Launch(p.program.unpackTimes, p.unpacking.vectors, unpackThreads, 0); err != nil {
			return err
		}
	}
	params(p.at.values)
	return stream.Launch(p.program.unpackValues, p.unpacking.vectors, unpackThreads, 0)
}

// fetchFaults queues the download of how many vectors did not decode, behind the counts.
func (p *chunk) fetchFaults(stream *device.Stream) error {
	return stream.Download(p.counts, p.measured[1], p.block, p.unpacking.at.faults, faultBytes)
}

const faultBytes = 8

// checkFaults returns an error if any vector did not decode.
func (p *chunk) checkFaults() error {
	if device.View[uint64](p.counts, int(p.measured[1]), 1)[0] > 0 {
		return errPacked
	}
	return nil
}
