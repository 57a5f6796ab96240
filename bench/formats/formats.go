package formats

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/prometheus/prometheus/tsdb/chunkenc"

	"github.com/gnocco-db/gnocco/carbonara"
)

// archiveFormat is a way to store the aggregates of one split. An encoded split stays valid until the next call.
type archiveFormat interface {
	name() string
	// encode returns the size of the encoded split.
	encode(s *archiveSplit) (size int, err error)
	// columns tells what of that each column took: a method's, or, in our format, one that methods are computed from.
	columns(s *archiveSplit) ([]columnBytes, error)
	// decode decodes what encode made last, all of it, and returns how many float64 that gave.
	decode(s *archiveSplit) (values int, err error)
}

type columnBytes struct {
	name  string
	bytes int
}

// archiveSplit is consecutive groups of one split, and the aggregates that the methods make of them.
type archiveSplit struct {
	key     carbonara.SplitKey
	groups  carbonara.Groups
	methods []carbonara.Method
	starts  [][]carbonara.Timestamp // of each method: std has none where a group has one measure
	values  [][]float64
}

func newArchiveSplit(key carbonara.SplitKey, groups carbonara.Groups, methods []carbonara.Method) *archiveSplit {
	s := &archiveSplit{key: key, groups: groups, methods: methods}
	for _, m := range methods {
		starts, values := groups.Aggregate(m, nil, nil)
		s.starts, s.values = append(s.starts, starts), append(s.values, values)
	}
	return s
}

// gnoccoFormat is ours: one split holds what all methods are computed from.
type gnoccoFormat struct {
	split   []byte
	decoded carbonara.Groups
}

func (f *gnoccoFormat) name() string { return "gnocco" }

func (f *gnoccoFormat) encode(s *archiveSplit) (int, error) {
	f.split = carbonara.AppendSplit(f.split[:0], s.key, &s.groups)
	return len(f.split), nil
}

func (f *gnoccoFormat) columns(*archiveSplit) ([]columnBytes, error) {
	info, err := carbonara.SplitInfo(f.split)
	var columns []columnBytes
	for _, c := range info.Columns {
		columns = append(columns, columnBytes{c.Column.String(), c.Bytes})
	}
	return columns, err
}

func (f *gnoccoFormat) decode(s *archiveSplit) (int, error) {
	f.decoded.Reset(s.key.Granularity, s.groups.Columns)
	if err := carbonara.DecodeSplit(f.split, s.key, s.groups.Columns, 0, carbonara.MaxTimestamp,
		&f.decoded); err != nil {
		return 0, err
	}
	return f.decoded.Len() * len(f.decoded.Columns), nil
}

// verify compares the split decoded last with s, bit by bit.
func (f *gnoccoFormat) verify(s *archiveSplit) error {
	for c, column := range s.groups.Columns {
		for i, v := range s.groups.Values[c] {
			if got := f.decoded.Values[c][i]; math.Float64bits(got) != math.Float64bits(v) {
				return fmt.Errorf("%v of group %d: %v came back as %v", column, i, v, got)
			}
		}
	}
	return nil
}

// methodBlocks is what formats have that store each method by itself.
type methodBlocks [][]byte

// at returns the block of method m.
func (b *methodBlocks) at(m int) *[]byte {
	if m == len(*b) {
		*b = append(*b, nil)
	}
	return &(*b)[m]
}

func (b *methodBlocks) columns(s *archiveSplit) (columns []columnBytes, err error) {
	for m, method := range s.methods {
		columns = append(columns, columnBytes{method.String(), len((*b)[m])})
	}
	return columns, nil
}

// gnocchiFormat is Gnocchi's: for each method the distances of the groups in 16 bits and the values in 64, by LZ4.
type gnocchiFormat struct {
	methodBlocks
	compressor lz4.Compressor
	payload    []byte
}

func (f *gnocchiFormat) name() string { return "gnocchi" }

// gnocchiBlockHeader is a byte that says "compressed" and the size of the payload.
const gnocchiBlockHeader = 1 + 4

func (f *gnocchiFormat) encode(s *archiveSplit) (size int, err error) {
	for m := range s.methods {
		f.payload = f.payload[:0]
		before := s.key.Start
		for _, t := range s.starts[m] {
			f.payload = binary.LittleEndian.AppendUint16(f.payload,
				uint16((t-before)/carbonara.Timestamp(s.key.Granularity)))
			before = t
		}
		f.payload = appendFloats(f.payload, s.values[m])
		block := f.at(m)
		if bound := gnocchiBlockHeader + lz4.CompressBlockBound(len(f.payload)); cap(*block) < bound {
			*block = make([]byte, bound)
		}
		n, err := f.compressor.CompressBlock(f.payload, (*block)[gnocchiBlockHeader:cap(*block)])
		if err != nil {
			return 0, err
		}
		*block = (*block)[:gnocchiBlockHeader+n]
		size += len(*block)
	}
	return size, nil
}

func (f *gnocchiFormat) decode(s *archiveSplit) (values int, err error) {
	for m := range s.methods {
		n := len(s.values[m])
		f.payload = append(f.payload[:0], make([]byte, 10*n)...)
		if n == 0 {
			continue
		}
		if _, err := lz4.UncompressBlock((*f.at(m))[gnocchiBlockHeader:], f.payload); err != nil {
			return 0, err
		}
		values += n
	}
	return values, nil
}

func appendFloats(dst []byte, values []float64) []byte {
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
	}
	return dst
}

// zstdFormat is the values of each method as float64, by zstd's fastest level. The times of the groups are not stored.
type zstdFormat struct {
	methodBlocks
	encoder *zstd.Encoder
	decoder *zstd.Decoder
	payload []byte
}

func newZstdFormat() (*zstdFormat, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	return &zstdFormat{encoder: encoder, decoder: decoder}, err
}

func (f *zstdFormat) name() string { return "float64+zstd1" }

func (f *zstdFormat) encode(s *archiveSplit) (size int, err error) {
	for m := range s.methods {
		f.payload = appendFloats(f.payload[:0], s.values[m])
		block := f.at(m)
		*block = f.encoder.EncodeAll(f.payload, (*block)[:0])
		size += len(*block)
	}
	return size, nil
}

func (f *zstdFormat) decode(s *archiveSplit) (values int, err error) {
	for m := range s.methods {
		if f.payload, err = f.decoder.DecodeAll(*f.at(m), f.payload[:0]); err != nil {
			return 0, err
		}
		values += len(f.payload) / 8
	}
	return values, nil
}

// gorillaFormat is Prometheus' XOR chunks, a chunk for each method and split; times in milliseconds.
type gorillaFormat struct {
	methodBlocks
	chunk chunkenc.XORChunk
	time  int64 // decoded last
	value float64
}

func (f *gorillaFormat) name() string { return "gorilla" }

func (f *gorillaFormat) encode(s *archiveSplit) (size int, err error) {
	for m := range s.methods {
		block := f.at(m)
		f.chunk.Reset(append((*block)[:0], 0, 0)) // the number of samples
		appender, err := f.chunk.Appender()
		if err != nil {
			return 0, err
		}
		for i, t := range s.starts[m] {
			appender.Append(0, int64(t)/1e6, s.values[m][i])
		}
		*block = f.chunk.Bytes()
		size += len(*block)
	}
	return size, nil
}

func (f *gorillaFormat) decode(s *archiveSplit) (values int, err error) {
	var iterator chunkenc.Iterator
	for m := range s.methods {
		f.chunk.Reset(*f.at(m))
		iterator = f.chunk.Iterator(iterator)
		for iterator.Next() != chunkenc.ValNone {
			f.time, f.value = iterator.At()
			values++
		}
		if err := iterator.Err(); err != nil {
			return 0, err
		}
	}
	return values, nil
}
