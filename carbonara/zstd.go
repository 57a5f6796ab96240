package carbonara

import (
	"sync"

	"github.com/klauspost/compress/zstd"
)

// minCompressLen is the size in bytes from which a body is offered to zstd. Below it the call (about a microsecond)
// costs more than it saves, and the operands that every checkpoint writes stay below it.
const minCompressLen = 512

// zstdWindow covers the largest column of a split (28,800 bytes) and keeps the encoders' tables small.
const zstdWindow = 128 << 10

// Encoders and decoders are used by EncodeAll and DecodeAll only, so that they start no goroutines and the pools may
// drop them.
var (
	zstdEncoders = sync.Pool{New: func() any {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(zstdWindow), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic(err) // the options above are constants
		}
		return e
	}}
	zstdDecoders = sync.Pool{New: func() any {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			panic(err)
		}
		return d
	}}
)

// compress appends src, compressed, to dst.
func compress(dst, src []byte) []byte {
	e := zstdEncoders.Get().(*zstd.Encoder)
	defer zstdEncoders.Put(e)
	return e.EncodeAll(src, dst)
}

// decompress returns the size bytes that src holds compressed, in buf's memory if that suffices.
func decompress(buf, src []byte, size int) ([]byte, error) {
	if cap(buf) < size {
		buf = make([]byte, 0, size)
	}
	d := zstdDecoders.Get().(*zstd.Decoder)
	defer zstdDecoders.Put(d)
	out, err := d.DecodeAll(src, buf[:0:size])
	if err != nil {
		return buf, corrupt("zstd: %v", err)
	}
	if len(out) != size {
		return buf, corrupt("zstd: %d bytes instead of %d", len(out), size)
	}
	return out, nil
}
