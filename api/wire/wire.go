package wire

import (
	"encoding/binary"
	"errors"
	"math"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// A Field is one field of a message, to which it refers. It fits into registers.
type Field struct {
	Number protowire.Number
	Kind   protowire.Type
	Bits   uint64 // of a number; else the length of Bytes
	first  *byte
}

var (
	errNumber = errors.New("invalid field number")
	errPacked = errors.New("packed numbers are cut off")
)

func bytesField(number protowire.Number, content []byte) Field {
	return Field{number, protowire.BytesType, uint64(len(content)), unsafe.SliceData(content)}
}

// Bytes returns text, a message or packed numbers, nil for a number.
func (f Field) Bytes() []byte {
	if f.Kind != protowire.BytesType {
		return nil
	}
	return unsafe.Slice(f.first, f.Bits)
}

// Next returns the field that a message begins with, and how many bytes it takes.
func Next(message []byte) (f Field, n int, err error) {
	if len(message) > 1 && message[0]&7 == byte(protowire.BytesType) && message[0] > 7 && message[0]|message[1] < 0x80 {
		if n := 2 + int(message[1]); n <= len(message) { // number and length take a byte each
			return bytesField(protowire.Number(message[0]>>3), message[2:n]), n, nil
		}
	}
	return next(message)
}

// next is Next for all fields.
func next(message []byte) (f Field, n int, err error) {
	f.Number, f.Kind, n = protowire.ConsumeTag(message)
	if n < 0 {
		return f, 0, protowire.ParseError(n)
	}
	if f.Number > protowire.MaxValidNumber {
		return f, 0, errNumber
	}
	var content int
	switch rest := message[n:]; f.Kind {
	case protowire.VarintType:
		f.Bits, content = protowire.ConsumeVarint(rest)
	case protowire.Fixed64Type:
		f.Bits, content = protowire.ConsumeFixed64(rest)
	case protowire.BytesType:
		var text []byte
		text, content = protowire.ConsumeBytes(rest)
		f = bytesField(f.Number, text)
	default:
		content = protowire.ConsumeFieldValue(f.Number, f.Kind, rest)
	}
	if content < 0 {
		return f, 0, protowire.ParseError(content)
	}
	return f, n + content, nil
}

// CutShort cuts a field of less than 128 bytes with a small number off a message. nil: it begins with another one.
func CutShort(message []byte, number byte) (content, rest []byte) {
	if len(message) < 2 || message[0] != number<<3|byte(protowire.BytesType) || int(message[1]) > len(message)-2 ||
		message[1] >= 0x80 {
		return nil, nil
	}
	end := 2 + int(message[1])
	return message[2:end:end], message[end:]
}

// Each calls visit for each field of a message.
func Each(message []byte, visit func(f Field) error) error {
	for len(message) > 0 {
		f, n, err := Next(message)
		if err == nil {
			err = visit(f)
		}
		if err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}

// Is reports whether f is a field of a message with this number and type. Fields of other types are unknown ones.
func (f Field) Is(number protowire.Number, kind protowire.Type) bool {
	return f.Number == number && f.Kind == kind
}

// Double returns the number of a double.
func (f Field) Double() float64 { return math.Float64frombits(f.Bits) }

// Text refers to the message.
func (f Field) Text() string { return Text(f.Bytes()) }

// Text returns content as a string that refers to it.
func Text(content []byte) string { return unsafe.String(unsafe.SliceData(content), len(content)) }

// Varints appends the numbers of a repeated field, which may be packed.
func (f Field) Varints(dst []uint64) ([]uint64, error) {
	if f.Kind == protowire.VarintType {
		return append(dst, f.Bits), nil
	}
	for rest := f.Bytes(); len(rest) > 0; {
		bits, n := protowire.ConsumeVarint(rest)
		if n < 0 {
			return dst, protowire.ParseError(n)
		}
		dst, rest = append(dst, bits), rest[n:]
	}
	return dst, nil
}

// Doubles appends the numbers of a repeated field, which may be packed.
func (f Field) Doubles(dst []float64) ([]float64, error) {
	return fixed64s(f, dst, math.Float64frombits)
}

// Fixed64s appends the numbers of a repeated field, which may be packed.
func (f Field) Fixed64s(dst []uint64) ([]uint64, error) {
	return fixed64s(f, dst, func(bits uint64) uint64 { return bits })
}

func fixed64s[T any](f Field, dst []T, of func(bits uint64) T) ([]T, error) {
	if f.Kind == protowire.Fixed64Type {
		return append(dst, of(f.Bits)), nil
	}
	if len(f.Bytes())%8 != 0 {
		return dst, errPacked
	}
	for rest := f.Bytes(); len(rest) > 0; rest = rest[8:] {
		dst = append(dst, of(binary.LittleEndian.Uint64(rest)))
	}
	return dst, nil
}
