package prometheus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/prometheus/prometheus/model/histogram"
	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of message Histogram, which both versions have.
const (
	fieldCountInt       = 1
	fieldCountFloat     = 2
	fieldSum            = 3
	fieldSchema         = 4
	fieldZeroThreshold  = 5
	fieldZeroCountInt   = 6
	fieldZeroCountFloat = 7
	fieldNegative       = 8 // spans, deltas and counts
	fieldPositive       = 11
	fieldResetHint      = 14
	fieldHistogramTime  = 15
	fieldCustomValues   = 16
	fieldHistogramStart = 17
)

// hintGauge is the reset hint of gauges.
const hintGauge = 3

// maxBuckets is the most buckets that a histogram may have, custom bounds included.
const maxBuckets = 10_000

// errHistogram says that a histogram is refused. Its message is otherwise right.
var errHistogram = errors.New("invalid native histogram")

// nativeHistogram is a decoded message Histogram.
type nativeHistogram struct {
	histogram.FloatHistogram
	at    int64 // ms
	start bool  // it has a start timestamp

	count, zeroCount uint64 // of integers
	deltas           [2][]int64
	floats           bool
}

// decode decodes a message. The error is errHistogram if the histogram is not valid, and then the time is known.
func (h *nativeHistogram) decode(message []byte) error {
	*h = nativeHistogram{}
	if most := 20 * maxBuckets; len(message) > most {
		return fmt.Errorf("%w: %d bytes, at most %d", errHistogram, len(message), most)
	}
	var schema int64
	if err := eachNumber(message, func(number protowire.Number, bits uint64) {
		switch number {
		case fieldCountInt:
			h.count = bits
		case fieldCountFloat:
			h.Count, h.floats = math.Float64frombits(bits), true
		case fieldSum:
			h.Sum = math.Float64frombits(bits)
		case fieldSchema:
			schema = protowire.DecodeZigZag(bits)
		case fieldZeroThreshold:
			h.ZeroThreshold = math.Float64frombits(bits)
		case fieldZeroCountInt:
			h.zeroCount = bits
		case fieldZeroCountFloat:
			h.ZeroCount, h.floats = math.Float64frombits(bits), true
		case fieldResetHint:
			if bits == hintGauge {
				h.CounterResetHint = histogram.GaugeType
			}
		case fieldHistogramTime:
			h.at = int64(bits)
		case fieldHistogramStart:
			h.start = bits != 0
		}
	}); err != nil {
		return err
	}
	if h.Schema = int32(schema); int64(h.Schema) != schema {
		return fmt.Errorf("%w: schema %d", errHistogram, schema)
	}
	sides := [2]struct {
		spans  *[]histogram.Span
		counts *[]float64
	}{{&h.NegativeSpans, &h.NegativeBuckets}, {&h.PositiveSpans, &h.PositiveBuckets}}
	if err := eachField(message, func(number protowire.Number, content []byte) (err error) {
		side, field := 0, number-fieldNegative
		if number >= fieldPositive {
			side, field = 1, number-fieldPositive
		}
		switch {
		case number == fieldCustomValues:
			h.CustomValues, err = appendDoubles(h.CustomValues, content)
		case field == 0:
			var span histogram.Span
			err = eachNumber(content, func(number protowire.Number, bits uint64) {
				if number == 1 {
					span.Offset = int32(protowire.DecodeZigZag(bits))
				} else if number == 2 {
					span.Length = uint32(bits)
				}
			})
			*sides[side].spans = append(*sides[side].spans, span)
		case field == 1:
			for len(content) > 0 && err == nil {
				bits, n := protowire.ConsumeVarint(content)
				if n < 0 {
					return protowire.ParseError(n)
				}
				h.deltas[side], content = append(h.deltas[side], protowire.DecodeZigZag(bits)), content[n:]
			}
		case field == 2:
			*sides[side].counts, err = appendDoubles(*sides[side].counts, content)
		}
		return err
	}); err != nil {
		return err
	}
	return h.validate()
}

// isStale reports whether the message says that the series ends.
func (h *nativeHistogram) isStale() bool { return math.Float64bits(h.Sum) == staleMarker }

// validate checks the histogram by upstream's rules, and makes float64 of integers.
func (h *nativeHistogram) validate() error {
	if h.isStale() {
		return nil
	}
	if n := len(h.CustomValues) + len(h.NegativeBuckets) + len(h.PositiveBuckets) + len(h.deltas[0]) +
		len(h.deltas[1]); n > maxBuckets {
		return fmt.Errorf("%w: %d buckets, at most %d", errHistogram, n, maxBuckets)
	}
	if !(h.ZeroThreshold >= 0) || math.IsInf(h.ZeroThreshold, 1) {
		return fmt.Errorf("%w: zero threshold %v", errHistogram, h.ZeroThreshold)
	}
	fine := h.Schema
	if fine > histogram.ExponentialSchemaMax && histogram.IsExponentialSchemaReserved(fine) {
		h.Schema = histogram.ExponentialSchemaMax // as which it is valid, and to which it is reduced
	}
	var err error
	if h.floats {
		err = h.FloatHistogram.Validate()
	} else {
		whole := histogram.Histogram{CounterResetHint: h.CounterResetHint, Schema: h.Schema, Count: h.count, Sum: h.Sum,
			ZeroThreshold: h.ZeroThreshold, ZeroCount: h.zeroCount, NegativeSpans: h.NegativeSpans,
			PositiveSpans: h.PositiveSpans, NegativeBuckets: h.deltas[0], PositiveBuckets: h.deltas[1],
			CustomValues: h.CustomValues}
		if err = whole.Validate(); err == nil {
			h.FloatHistogram = *whole.ToFloat(nil)
		}
	}
	if err == nil && fine > h.Schema {
		h.Schema = fine
		err = h.ReduceResolution(histogram.ExponentialSchemaMax)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errHistogram, err)
	}
	return nil
}

var errDoubles = errors.New("prometheus: packed numbers are cut off")

func appendDoubles(dst []float64, content []byte) ([]float64, error) {
	if len(content)%8 != 0 {
		return dst, errDoubles
	}
	for ; len(content) > 0; content = content[8:] {
		dst = append(dst, math.Float64frombits(binary.LittleEndian.Uint64(content)))
	}
	return dst, nil
}
