package prometheus

import (
	"errors"
	"fmt"
	"math"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/value"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/api/wire"
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
	at int64 // ms

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
	if err := wire.Each(message, func(f wire.Field) error {
		if f.Kind == protowire.BytesType {
			return h.decodeBuckets(f)
		}
		switch f.Number {
		case fieldCountInt:
			h.count = f.Bits
		case fieldCountFloat:
			h.Count, h.floats = f.Double(), true
		case fieldSum:
			h.Sum = f.Double()
		case fieldSchema:
			schema = protowire.DecodeZigZag(f.Bits)
		case fieldZeroThreshold:
			h.ZeroThreshold = f.Double()
		case fieldZeroCountInt:
			h.zeroCount = f.Bits
		case fieldZeroCountFloat:
			h.ZeroCount, h.floats = f.Double(), true
		case fieldResetHint:
			if f.Bits == hintGauge {
				h.CounterResetHint = histogram.GaugeType
			}
		case fieldHistogramTime:
			h.at = int64(f.Bits)
		}
		return nil
	}); err != nil {
		return err
	}
	if h.Schema = int32(schema); int64(h.Schema) != schema {
		return fmt.Errorf("%w: schema %d", errHistogram, schema)
	}
	return h.validate()
}

// decodeBuckets decodes a field of spans, of counts or of custom bounds.
func (h *nativeHistogram) decodeBuckets(f wire.Field) (err error) {
	side, field, spans, counts := 0, f.Number-fieldNegative, &h.NegativeSpans, &h.NegativeBuckets
	if f.Number >= fieldPositive {
		side, field, spans, counts = 1, f.Number-fieldPositive, &h.PositiveSpans, &h.PositiveBuckets
	}
	switch {
	case f.Number == fieldCustomValues:
		h.CustomValues, err = f.Doubles(h.CustomValues)
	case field == 0:
		var span histogram.Span
		err = wire.Each(f.Bytes(), func(f wire.Field) error {
			if f.Number == 1 {
				span.Offset = int32(protowire.DecodeZigZag(f.Bits))
			} else if f.Number == 2 {
				span.Length = uint32(f.Bits)
			}
			return nil
		})
		*spans = append(*spans, span)
	case field == 1:
		var deltas []uint64
		deltas, err = f.Varints(nil)
		for _, delta := range deltas {
			h.deltas[side] = append(h.deltas[side], protowire.DecodeZigZag(delta))
		}
	case field == 2:
		*counts, err = f.Doubles(*counts)
	}
	return err
}

// validate checks the histogram by upstream's rules, and makes float64 of integers.
func (h *nativeHistogram) validate() error {
	if value.IsStaleNaN(h.Sum) {
		return nil
	}
	if n := len(h.CustomValues) + len(h.NegativeBuckets) + len(h.PositiveBuckets) + len(h.deltas[0]) +
		len(h.deltas[1]); n > maxBuckets {
		return fmt.Errorf("%w: too many buckets: %d, at most %d", errHistogram, n, maxBuckets)
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
