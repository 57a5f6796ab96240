package keyspace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Values in keys sort by their bytes as they are compared: that is what makes ranges and orders of them.

// AppendText appends text so that no other begins with it: 0 becomes 0 ff, and 0 1 ends it.
func AppendText[T string | []byte](dst []byte, text T) []byte {
	return append(AppendTextPrefix(dst, text), 0, 1)
}

// AppendTextPrefix is AppendText without the end: the common prefix of the keys of all texts that begin so.
func AppendTextPrefix[T string | []byte](dst []byte, text T) []byte {
	for i := range len(text) {
		if dst = append(dst, text[i]); text[i] == 0 {
			dst = append(dst, 0xff)
		}
	}
	return dst
}

// TextOfKey is the inverse of AppendText: the text of a whole value. It is a piece of value, or of scratch, which it
// returns grown.
func TextOfKey(value, scratch []byte) (text, grown []byte) {
	if end := bytes.IndexByte(value, 0); end >= 0 && end >= len(value)-2 {
		return value[:end], scratch
	}
	scratch = scratch[:0]
	for i := 0; i < len(value); i++ {
		if value[i] == 0 {
			if i++; i == len(value) || value[i] != 0xff {
				break
			}
			scratch = append(scratch, 0)
			continue
		}
		scratch = append(scratch, value[i])
	}
	return scratch, scratch
}

// AppendTime appends t to the microsecond: that is what filters and orders see of it.
func AppendTime(dst []byte, t carbonara.Timestamp) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(t.Floor(time.Microsecond))^1<<63)
}

func AppendNumber(dst []byte, f float64) []byte {
	bits := math.Float64bits(f + 0) // of the two zeroes, which are equal, the positive one
	if bits>>63 != 0 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	return binary.BigEndian.AppendUint64(dst, bits)
}

// AppendValue appends a value of an attribute that is neither null nor a bool: two values are not worth an index.
func AppendValue(dst []byte, value any) []byte {
	switch v := value.(type) {
	case string:
		return AppendText(dst, v)
	case uuid.UUID:
		return append(dst, v[:]...)
	case float64:
		return AppendNumber(dst, v)
	case carbonara.Timestamp:
		return AppendTime(dst, v)
	}
	panic(fmt.Sprintf("index: a key of a %T", value))
}
