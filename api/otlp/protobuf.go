package otlp

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	maxNesting    = 16       // of the values of attributes
	maxValueBytes = 16 << 10 // of an attribute's value that is a list or a map
	maxParts      = 10_000   // attributes, quantiles and exemplars of a point
	maxIDBytes    = 64       // of an exemplar, which may have 128 characters
)

var (
	errNesting = errors.New("otlp: an attribute's value is nested too deep")
	errParts   = errors.New("otlp: a point has too many attributes, quantiles or exemplars")
)

// A field is one field of a message.
type field struct {
	number protowire.Number
	kind   protowire.Type
	bits   uint64 // of a number
	bytes  []byte // of text, messages and packed numbers
}

// each calls visit for each field of a message.
func each(message []byte, visit func(f field) error) error {
	for len(message) > 0 {
		var f field
		var n int
		if f.number, f.kind, n = protowire.ConsumeTag(message); n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		switch f.kind {
		case protowire.VarintType:
			f.bits, n = protowire.ConsumeVarint(message)
		case protowire.Fixed64Type:
			f.bits, n = protowire.ConsumeFixed64(message)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(message)
		default:
			n = protowire.ConsumeFieldValue(f.number, f.kind, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

func (f *field) double() float64 { return math.Float64frombits(f.bits) }

// text refers to the body.
func (f *field) text() string { return asText(f.bytes) }

func asText(content []byte) string { return unsafe.String(unsafe.SliceData(content), len(content)) }

// is reports whether f is a field of a message with this number and type. Fields of other types are unknown ones.
func (f *field) is(number protowire.Number, kind protowire.Type) bool {
	return f.number == number && f.kind == kind
}

// decodeProtobuf visits the points of message ExportMetricsServiceRequest.
func decodeProtobuf(body []byte, v visitor) error {
	return each(body, func(f field) error {
		if !f.is(1, protowire.BytesType) {
			return nil
		}
		return decodeResource(f.bytes, v)
	})
}

// decodeResource decodes a message ResourceMetrics. Its resource may stand behind its metrics.
func decodeResource(message []byte, v visitor) error {
	var attributes []attribute
	err := each(message, func(f field) error {
		if !f.is(1, protowire.BytesType) {
			return nil
		}
		return each(f.bytes, func(f field) (err error) {
			if f.is(1, protowire.BytesType) {
				attributes, err = appendAttribute(attributes, f.bytes)
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	if err := v.resource(attributes); err != nil {
		return err
	}
	var p point
	return each(message, func(f field) error {
		if !f.is(2, protowire.BytesType) {
			return nil
		}
		return each(f.bytes, func(f field) error { // of ScopeMetrics
			if !f.is(2, protowire.BytesType) {
				return nil
			}
			return decodeMetric(f.bytes, v, &p)
		})
	})
}

// decodeMetric decodes a message Metric, whose fields may stand behind its points.
func decodeMetric(message []byte, v visitor, p *point) error {
	var m metric
	var data []byte
	err := each(message, func(f field) error {
		switch {
		case f.kind != protowire.BytesType:
		case f.number == 1:
			m.name = f.text()
		case f.number == 2:
			m.description = f.text()
		case f.number == 3:
			m.unit = f.text()
		case f.number == 5 || f.number == 7 || f.number >= 9 && f.number <= 11:
			if m.kind == kind(f.number) { // protobuf merges the two, which is a concatenation
				data = append(data[:len(data):len(data)], f.bytes...)
			} else {
				m.kind, data = kind(f.number), f.bytes
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = each(data, func(f field) error {
		switch {
		case f.is(2, protowire.VarintType):
			m.temporality = int(f.bits)
		case f.is(3, protowire.VarintType):
			m.monotonic = f.bits != 0
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := v.metric(&m); err != nil {
		return err
	}
	return each(data, func(f field) error {
		if !f.is(1, protowire.BytesType) {
			return nil
		}
		*p = point{attributes: p.attributes[:0], buckets: p.buckets[:0], bounds: p.bounds[:0],
			quantiles: p.quantiles[:0], exemplars: p.exemplars[:0]}
		if err := p.decode(m.kind, f.bytes); err != nil {
			return err
		}
		return v.point(p)
	})
}

// decode decodes a point of a kind.
func (p *point) decode(of kind, message []byte) error {
	return each(message, func(f field) (err error) {
		if len(p.attributes)+len(p.quantiles)+len(p.exemplars) > maxParts {
			return errParts
		}
		if f.is(3, protowire.Fixed64Type) {
			p.at = f.bits
			return nil
		}
		switch of {
		case gauge, sum:
			err = p.number(f)
		case histogram:
			err = p.histogram(f)
		case exponentialHistogram:
			err = p.exponentialHistogram(f)
		case summary:
			err = p.summary(f)
		}
		return err
	})
}

func (p *point) number(f field) (err error) {
	switch {
	case f.is(4, protowire.Fixed64Type):
		p.value, p.hasValue = f.double(), true
	case f.is(6, protowire.Fixed64Type):
		p.value, p.hasValue = float64(int64(f.bits)), true
	case f.is(5, protowire.BytesType):
		err = p.exemplar(f.bytes)
	case f.is(7, protowire.BytesType):
		p.attributes, err = appendAttribute(p.attributes, f.bytes)
	case f.is(8, protowire.VarintType):
		p.flags = f.bits
	}
	return err
}

func (p *point) histogram(f field) (err error) {
	switch {
	case f.is(4, protowire.Fixed64Type):
		p.count = f.bits
	case f.is(5, protowire.Fixed64Type):
		p.value, p.hasValue = f.double(), true
	case f.number == 6:
		return fixed64s(f, func(bits uint64) { p.buckets = append(p.buckets, bits) })
	case f.number == 7:
		return fixed64s(f, func(bits uint64) { p.bounds = append(p.bounds, math.Float64frombits(bits)) })
	case f.is(8, protowire.BytesType):
		err = p.exemplar(f.bytes)
	case f.is(9, protowire.BytesType):
		p.attributes, err = appendAttribute(p.attributes, f.bytes)
	case f.is(10, protowire.VarintType):
		p.flags = f.bits
	}
	return err
}

func (p *point) exponentialHistogram(f field) (err error) {
	switch {
	case f.is(1, protowire.BytesType):
		p.attributes, err = appendAttribute(p.attributes, f.bytes)
	case f.is(4, protowire.Fixed64Type):
		p.count = f.bits
	case f.is(5, protowire.Fixed64Type):
		p.value, p.hasValue = f.double(), true
	case f.is(6, protowire.VarintType):
		p.scale = int32(protowire.DecodeZigZag(f.bits))
	case f.is(7, protowire.Fixed64Type):
		p.zeroCount = f.bits
	case f.is(8, protowire.BytesType):
		err = p.positive.decode(f.bytes)
	case f.is(9, protowire.BytesType):
		err = p.negative.decode(f.bytes)
	case f.is(10, protowire.VarintType):
		p.flags = f.bits
	case f.is(11, protowire.BytesType):
		err = p.exemplar(f.bytes)
	case f.is(14, protowire.Fixed64Type):
		p.zeroThreshold = f.double()
	}
	return err
}

// exemplar decodes a message Exemplar.
func (p *point) exemplar(message []byte) error {
	var e exemplar
	err := each(message, func(f field) (err error) {
		switch {
		case f.is(2, protowire.Fixed64Type):
			e.at = f.bits
		case f.is(3, protowire.Fixed64Type):
			e.value = f.double()
		case f.is(6, protowire.Fixed64Type):
			e.value = float64(int64(f.bits))
		case f.is(4, protowire.BytesType):
			e.span = hex.EncodeToString(f.bytes[:min(len(f.bytes), maxIDBytes)])
		case f.is(5, protowire.BytesType):
			e.trace = hex.EncodeToString(f.bytes[:min(len(f.bytes), maxIDBytes)])
		case f.is(7, protowire.BytesType):
			e.attributes, err = appendAttribute(e.attributes, f.bytes)
		}
		return err
	})
	p.exemplars = append(p.exemplars, e)
	return err
}

// decode decodes a message Buckets.
func (b *exponentialBuckets) decode(message []byte) error {
	return each(message, func(f field) error {
		switch {
		case f.is(1, protowire.VarintType):
			b.offset = int32(protowire.DecodeZigZag(f.bits))
		case f.is(2, protowire.VarintType):
			b.counts = append(b.counts, f.bits)
		case f.is(2, protowire.BytesType):
			for rest := f.bytes; len(rest) > 0; {
				count, n := protowire.ConsumeVarint(rest)
				if n < 0 {
					return protowire.ParseError(n)
				}
				b.counts, rest = append(b.counts, count), rest[n:]
			}
		}
		if len(b.counts) > maxParts {
			return errParts
		}
		return nil
	})
}

func (p *point) summary(f field) (err error) {
	switch {
	case f.is(4, protowire.Fixed64Type):
		p.count = f.bits
	case f.is(5, protowire.Fixed64Type):
		p.value, p.hasValue = f.double(), true
	case f.is(6, protowire.BytesType):
		var q quantile
		err = each(f.bytes, func(f field) error {
			switch {
			case f.is(1, protowire.Fixed64Type):
				q.quantile = f.double()
			case f.is(2, protowire.Fixed64Type):
				q.value = f.double()
			}
			return nil
		})
		p.quantiles = append(p.quantiles, q)
	case f.is(7, protowire.BytesType):
		p.attributes, err = appendAttribute(p.attributes, f.bytes)
	case f.is(8, protowire.VarintType):
		p.flags = f.bits
	}
	return err
}

var errPacked = errors.New("otlp: packed numbers are cut off")

// fixed64s calls visit for numbers, which may be packed.
func fixed64s(f field, visit func(bits uint64)) error {
	switch f.kind {
	case protowire.Fixed64Type:
		visit(f.bits)
	case protowire.BytesType:
		if len(f.bytes)%8 != 0 {
			return errPacked
		}
		for at := 0; at < len(f.bytes); at += 8 {
			visit(binary.LittleEndian.Uint64(f.bytes[at:]))
		}
	}
	return nil
}

// cutShort cuts a field of less than 128 bytes off a message. nil: it begins with another one.
func cutShort(message []byte, number byte) (content, rest []byte) {
	if len(message) < 2 || message[0] != number<<3|byte(protowire.BytesType) || int(message[1]) > len(message)-2 ||
		message[1] >= 0x80 {
		return nil, nil
	}
	end := 2 + int(message[1])
	return message[2:end:end], message[end:]
}

// appendAttribute decodes a message KeyValue.
func appendAttribute(dst []attribute, message []byte) ([]attribute, error) {
	if len(dst) >= maxParts {
		return dst, errParts
	}
	key, value := cutShort(message, 1)
	inner, rest := cutShort(value, 2)
	if text, more := cutShort(inner, 1); text != nil && len(rest)+len(more) == 0 { // as most are: key and text
		return append(dst, attribute{asText(key), asText(text)}), nil
	}
	a, err := decodeAttribute(message, 0)
	return append(dst, attribute{a.key, textOf(a.value)}), err
}

// A keyValue is an attribute whose value may be a list or a map.
type keyValue struct {
	key   string
	value any
}

func decodeAttribute(message []byte, depth int) (a keyValue, err error) {
	err = each(message, func(f field) (err error) {
		switch {
		case f.is(1, protowire.BytesType):
			a.key = f.text()
		case f.is(2, protowire.BytesType) && len(f.bytes) > maxValueBytes:
			a.value = f.text() // too long for a label, which refuses the series
		case f.is(2, protowire.BytesType):
			a.value, err = decodeValue(f.bytes, depth)
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
	err = each(message, func(f field) error {
		switch {
		case f.is(1, protowire.BytesType):
			v = f.text()
		case f.is(2, protowire.VarintType):
			v = f.bits != 0
		case f.is(3, protowire.VarintType):
			v = int64(f.bits)
		case f.is(4, protowire.Fixed64Type):
			v = f.double()
		case f.is(5, protowire.BytesType):
			list := []any{}
			err := each(f.bytes, func(f field) error {
				if !f.is(1, protowire.BytesType) {
					return nil
				}
				item, err := decodeValue(f.bytes, depth+1)
				list = append(list, item)
				return err
			})
			v = list
			return err
		case f.is(6, protowire.BytesType):
			fields := map[string]any{}
			err := each(f.bytes, func(f field) error {
				if !f.is(1, protowire.BytesType) {
					return nil
				}
				a, err := decodeAttribute(f.bytes, depth+1)
				fields[a.key] = a.value
				return err
			})
			v = fields
			return err
		case f.is(7, protowire.BytesType):
			v = f.bytes
		}
		return nil
	})
	return v, err
}
