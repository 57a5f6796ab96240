package otlp

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/api/wire"
)

const (
	maxNesting    = 16       // of the values of attributes
	maxValueBytes = 16 << 10 // of an attribute's value that is a list or a map
	maxParts      = 10_000   // attributes, quantiles and exemplars of a point
	maxIDBytes    = 64       // of an exemplar, which may have 128 characters
)

var (
	errNesting = errors.New("an attribute's value is nested too deep")
	errParts   = errors.New("too many attributes, quantiles or exemplars")
	errValue   = errors.New("an attribute's value is of no known kind")
	errKind    = errors.New("its points are of no known kind")
	errKinds   = errors.New("its points are of several kinds")
	errValues  = errors.New("it has several values")
)

// odd tells an element that is refused by itself from a body that does not decode.
func odd(err error) (fault, broken error) {
	if errors.Is(err, errNesting) || errors.Is(err, errParts) || errors.Is(err, errValue) || errors.Is(err, errValues) {
		return err, nil
	}
	return nil, err
}

// decodeProtobuf visits the points of message ExportMetricsServiceRequest.
func decodeProtobuf(body []byte, v visitor) error {
	return eachMessage(body, 1, func(message []byte) error { return decodeResource(message, v) })
}

// eachMessage visits the fields of a number that are messages.
func eachMessage(message []byte, number protowire.Number, visit func(message []byte) error) error {
	return wire.Each(message, func(f wire.Field) error {
		if !f.Is(number, protowire.BytesType) {
			return nil
		}
		return visit(f.Bytes())
	})
}

// decodeResource decodes a message ResourceMetrics. Its resource may stand behind its metrics.
func decodeResource(message []byte, v visitor) error {
	var attributes []attribute
	err := eachMessage(message, 1, func(resource []byte) error {
		return eachMessage(resource, 1, func(attribute []byte) (err error) {
			attributes, err = appendAttribute(attributes, attribute)
			return err
		})
	})
	fault, err := odd(err)
	if err == nil {
		err = v.resource(attributes)
	}
	if err != nil {
		return err
	}
	var p point
	return eachMessage(message, 2, func(scope []byte) error {
		s, err := decodeScope(scope)
		more, err := odd(err)
		if err == nil {
			err = v.scope(&s)
		}
		if err != nil {
			return err
		}
		fault := cmp.Or(fault, more)
		return eachMessage(scope, 2, func(metric []byte) error { return decodeMetric(metric, v, &p, fault) })
	})
}

// decodeScope decodes the scope of a message ScopeMetrics, which may stand behind its metrics.
func decodeScope(message []byte) (s scope, err error) {
	err = wire.Each(message, func(f wire.Field) error {
		if f.Is(3, protowire.BytesType) {
			s.schemaURL = f.Text()
		}
		if !f.Is(1, protowire.BytesType) {
			return nil
		}
		return wire.Each(f.Bytes(), func(f wire.Field) (err error) {
			switch {
			case f.Is(1, protowire.BytesType):
				s.name = f.Text()
			case f.Is(2, protowire.BytesType):
				s.version = f.Text()
			case f.Is(3, protowire.BytesType):
				s.attributes, err = appendAttribute(s.attributes, f.Bytes())
			}
			return err
		})
	})
	return s, err
}

// decodeMetric decodes a message Metric, whose fields may stand behind its points. fault, if not nil, refuses these.
func decodeMetric(message []byte, v visitor, p *point, fault error) error {
	var m metric
	var data []byte
	err := wire.Each(message, func(f wire.Field) error {
		switch {
		case f.Kind != protowire.BytesType:
		case f.Number == 1:
			m.name = f.Text()
		case f.Number == 2:
			m.description = f.Text()
		case f.Number == 3:
			m.unit = f.Text()
		case f.Number == 5 || f.Number == 7 || f.Number >= 9 && f.Number <= 11:
			if data == nil {
				m.kind, data = kind(f.Number), f.Bytes()
				break
			}
			if m.kind != kind(f.Number) {
				fault = cmp.Or(fault, errKinds)
			}
			data = append(data[:len(data):len(data)], f.Bytes()...) // protobuf merges two so
		case m.kind == 0 && f.Number != 12: // metadata
			m.kind = unknown
		}
		return nil
	})
	if err != nil {
		return err
	}
	if m.kind == unknown {
		fault = cmp.Or(fault, errKind)
	}
	err = wire.Each(data, func(f wire.Field) error {
		switch {
		case f.Is(2, protowire.VarintType):
			m.temporality = int(f.Bits)
		case f.Is(3, protowire.VarintType):
			m.monotonic = f.Bits != 0
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := v.metric(&m); err != nil {
		return err
	}
	points := 0
	p.attributes, p.tail = p.attributes[:0], nil
	err = wire.Each(data, func(f wire.Field) error {
		if !f.Is(1, protowire.BytesType) {
			return nil
		}
		if points++; fault != nil {
			return nil
		}
		tail := f.Bytes()
		for len(tail) >= 9 && tail[0]&0x87 == byte(protowire.Fixed64Type) { // a time, or a number
			tail = tail[9:]
		}
		*p = point{attributes: p.attributes, tail: tail, same: bytes.Equal(tail, p.tail), buckets: p.buckets[:0],
			bounds: p.bounds[:0], quantiles: p.quantiles[:0], exemplars: p.exemplars[:0]}
		if !p.same {
			p.attributes = p.attributes[:0]
		}
		of, err := odd(p.decode(m.kind, f.Bytes()))
		switch {
		case err != nil:
			return err
		case of != nil:
			p.attributes, p.tail = p.attributes[:0], nil
			v.refuse(1, fmt.Errorf("%.200s: dataPoints[%d]: %w", m.name, points-1, of))
			return nil
		}
		return v.point(p)
	})
	if err == nil && fault != nil {
		v.refuse(max(1, points), fmt.Errorf("%.200s: %w", m.name, fault))
	}
	return err
}

// Fields of points by kind. The others have one number in all that have them.
var (
	attributeFields = map[kind]protowire.Number{gauge: 7, sum: 7, histogram: 9, exponentialHistogram: 1, summary: 7}
	exemplarFields  = map[kind]protowire.Number{gauge: 5, sum: 5, histogram: 8, exponentialHistogram: 11}
	flagsFields     = map[kind]protowire.Number{gauge: 8, sum: 8, histogram: 10, exponentialHistogram: 10, summary: 8}
)

// decode decodes a point of a kind. Its attributes are there if they are the same.
func (p *point) decode(of kind, message []byte) error {
	attributes, exemplars, flags := attributeFields[of], exemplarFields[of], flagsFields[of]
	number := of == gauge || of == sum
	return wire.Each(message, func(f wire.Field) (err error) {
		if len(p.attributes)+len(p.quantiles)+len(p.exemplars) > maxParts {
			return errParts
		}
		switch {
		case f.Is(3, protowire.Fixed64Type):
			p.at = f.Bits
		case f.Is(attributes, protowire.BytesType):
			if !p.same {
				p.attributes, err = appendAttribute(p.attributes, f.Bytes())
			}
		case f.Is(exemplars, protowire.BytesType):
			err = p.exemplar(f.Bytes())
		case f.Is(flags, protowire.VarintType):
			p.flags = f.Bits
		case number && f.Is(6, protowire.Fixed64Type):
			err = p.setValue(float64(int64(f.Bits)))
		case !number && f.Is(4, protowire.Fixed64Type):
			p.count = f.Bits
		case number && f.Is(4, protowire.Fixed64Type):
			err = p.setValue(f.Double())
		case !number && f.Is(5, protowire.Fixed64Type): // a sum, which is in no oneof
			p.value, p.hasValue = f.Double(), true
		case of == histogram && f.Number == 6:
			p.buckets, err = f.Fixed64s(p.buckets)
		case of == histogram && f.Number == 7:
			p.bounds, err = f.Doubles(p.bounds)
		case of == exponentialHistogram:
			err = p.exponentialHistogram(f)
		case of == summary && f.Is(6, protowire.BytesType):
			err = p.quantile(f.Bytes())
		}
		return err
	})
}

// setValue sets the value, which a point has once.
func (p *point) setValue(value float64) error {
	if p.hasValue && math.Float64bits(value) != math.Float64bits(p.value) {
		return errValues
	}
	p.value, p.hasValue = value, true
	return nil
}

func (p *point) exponentialHistogram(f wire.Field) (err error) {
	switch {
	case f.Is(6, protowire.VarintType):
		p.scale = int32(protowire.DecodeZigZag(f.Bits))
	case f.Is(7, protowire.Fixed64Type):
		p.zeroCount = f.Bits
	case f.Is(8, protowire.BytesType):
		err = p.positive.decode(f.Bytes())
	case f.Is(9, protowire.BytesType):
		err = p.negative.decode(f.Bytes())
	case f.Is(14, protowire.Fixed64Type):
		p.zeroThreshold = f.Double()
	}
	return err
}

// exemplar decodes a message Exemplar.
func (p *point) exemplar(message []byte) error {
	var e exemplar
	err := wire.Each(message, func(f wire.Field) (err error) {
		switch {
		case f.Is(2, protowire.Fixed64Type):
			e.at = f.Bits
		case f.Is(3, protowire.Fixed64Type):
			e.value = f.Double()
		case f.Is(6, protowire.Fixed64Type):
			e.value = float64(int64(f.Bits))
		case f.Is(4, protowire.BytesType):
			e.span = hex.EncodeToString(f.Bytes()[:min(len(f.Bytes()), maxIDBytes)])
		case f.Is(5, protowire.BytesType):
			e.trace = hex.EncodeToString(f.Bytes()[:min(len(f.Bytes()), maxIDBytes)])
		case f.Is(7, protowire.BytesType):
			e.attributes, err = appendAttribute(e.attributes, f.Bytes())
		}
		return err
	})
	p.exemplars = append(p.exemplars, e)
	return err
}

// decode decodes a message Buckets.
func (b *exponentialBuckets) decode(message []byte) error {
	return wire.Each(message, func(f wire.Field) (err error) {
		switch {
		case f.Is(1, protowire.VarintType):
			b.offset = int32(protowire.DecodeZigZag(f.Bits))
		case f.Number == 2:
			b.counts, err = f.Varints(b.counts)
		}
		if err == nil && len(b.counts) > maxParts {
			err = errParts
		}
		return err
	})
}

// quantile decodes a message ValueAtQuantile.
func (p *point) quantile(message []byte) error {
	var q quantile
	err := wire.Each(message, func(f wire.Field) error {
		switch {
		case f.Is(1, protowire.Fixed64Type):
			q.quantile = f.Double()
		case f.Is(2, protowire.Fixed64Type):
			q.value = f.Double()
		}
		return nil
	})
	p.quantiles = append(p.quantiles, q)
	return err
}

// appendAttribute decodes a message KeyValue.
func appendAttribute(dst []attribute, message []byte) ([]attribute, error) {
	if len(dst) >= maxParts {
		return dst, errParts
	}
	key, value := wire.CutShort(message, 1)
	inner, rest := wire.CutShort(value, 2)
	if text, more := wire.CutShort(inner, 1); text != nil && len(rest)+len(more) == 0 { // as most are: key and text
		return append(dst, attribute{wire.Text(key), wire.Text(text)}), nil
	}
	a, err := decodeAttribute(message, 0)
	if err != nil {
		return dst, fmt.Errorf("attribute %.60q: %w", a.key, err)
	}
	return append(dst, attribute{a.key, textOf(a.value)}), nil
}

// A keyValue is an attribute whose value may be a list or a map.
type keyValue struct {
	key   string
	value any
}

func decodeAttribute(message []byte, depth int) (a keyValue, err error) {
	err = wire.Each(message, func(f wire.Field) (err error) {
		switch {
		case f.Is(1, protowire.BytesType):
			a.key = f.Text()
		case f.Is(2, protowire.BytesType) && len(f.Bytes()) > maxValueBytes:
			a.value = f.Text() // too long for a label, which refuses the series
		case f.Is(2, protowire.BytesType):
			a.value, err = decodeValue(f.Bytes(), depth)
		}
		return err
	})
	return a, err
}

// decodeValue decodes a message AnyValue.
func decodeValue(message []byte, depth int) (v any, err error) {
	if depth > maxNesting {
		return nil, errNesting
	}
	err = wire.Each(message, func(f wire.Field) error {
		switch {
		case v != nil:
			return errValues
		case f.Is(1, protowire.BytesType):
			v = f.Text()
		case f.Is(2, protowire.VarintType):
			v = f.Bits != 0
		case f.Is(3, protowire.VarintType):
			v = int64(f.Bits)
		case f.Is(4, protowire.Fixed64Type):
			v = f.Double()
		case f.Is(5, protowire.BytesType):
			list := []any{}
			err := eachMessage(f.Bytes(), 1, func(message []byte) error {
				item, err := decodeValue(message, depth+1)
				list = append(list, item)
				return err
			})
			v = list
			return err
		case f.Is(6, protowire.BytesType):
			fields := map[string]any{}
			err := eachMessage(f.Bytes(), 1, func(message []byte) error {
				a, err := decodeAttribute(message, depth+1)
				fields[a.key] = a.value
				return err
			})
			v = fields
			return err
		case f.Is(7, protowire.BytesType):
			v = f.Bytes()
		default:
			return errValue
		}
		return nil
	})
	return v, err
}
