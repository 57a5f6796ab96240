package measures

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/idset"
	"github.com/gnocco-db/gnocco/internal/decimal"
	"github.com/gnocco-db/gnocco/model"
)

// The scanner reads the usual shape only: measures of exactly a timestamp and a value, in either order; ISO timestamps
// as model.ParseISO takes them, or numbers without exponent; values that are plain numbers; metrics as 36 characters;
// white space anywhere. At any other input it gives up, and the content of dst then means nothing.

// bytesPerMetric is the least that a metric with one measure takes in a body that we expect.
const bytesPerMetric = 96

// scanMetric reads a list of measures; false if it gave up.
func scanMetric(body []byte, id uuid.UUID, dst *model.Measures) bool {
	s := scanner{body: body}
	dst.Metrics = append(dst.Metrics, id)
	dst.Offsets = append(dst.Offsets, 0)
	if !s.list(dst) || s.next() != 0 || s.at != len(body) {
		return false
	}
	dst.Offsets = append(dst.Offsets, len(dst.Values))
	return true
}

// scanBatch reads lists of measures by metric; false if it gave up.
func scanBatch(body []byte, ids *idset.Set, dst *model.Measures) bool {
	s := scanner{body: body}
	if s.next() != '{' {
		return false
	}
	s.at++
	ids.Reset(len(body) / bytesPerMetric)
	dst.Offsets = append(dst.Offsets, 0)
	if s.next() == '}' {
		s.at++
		return s.next() == 0 && s.at == len(body)
	}
	for {
		if s.next() != '"' || !s.metricID(dst) || ids.Add(dst.Metrics) != len(dst.Metrics)-1 || s.next() != ':' {
			return false
		}
		s.at++
		if !s.list(dst) {
			return false
		}
		dst.Offsets = append(dst.Offsets, len(dst.Values))
		switch s.next() {
		case ',':
			s.at++
		case '}':
			s.at++
			return s.next() == 0 && s.at == len(body)
		default:
			return false
		}
	}
}

// scanner is a place in a body. Its methods consume; when one gives up, the place means nothing.
type scanner struct {
	body []byte
	at   int

	// lastText is the last ISO timestamp, quotes included: clients repeat them.
	lastText []byte
	last     carbonara.Timestamp
}

// next skips white space and returns the byte after it, without consuming that; 0 at the end.
func (s *scanner) next() byte {
	for s.at < len(s.body) {
		c := s.body[s.at]
		if !isSpace(c) {
			return c
		}
		s.at++
	}
	return 0
}

// metricID reads a quoted UUID of 36 characters.
func (s *scanner) metricID(dst *model.Measures) bool {
	const size = len(`"00000000-0000-0000-0000-000000000000"`)
	if len(s.body)-s.at < size {
		return false
	}
	b := s.body[s.at+1 : s.at+size]
	if b[8] != '-' || b[13] != '-' || b[18] != '-' || b[23] != '-' || b[36] != '"' {
		return false
	}
	s.at += size
	// 32 digits in four loads; the last two of the groups of 4-4-4-12 are joined across their hyphens.
	l0 := binary.LittleEndian.Uint64(b)
	l1 := uint64(binary.LittleEndian.Uint32(b[9:])) | uint64(binary.LittleEndian.Uint32(b[14:]))<<32
	l2 := uint64(binary.LittleEndian.Uint32(b[19:])) | uint64(binary.LittleEndian.Uint32(b[24:]))<<32
	l3 := binary.LittleEndian.Uint64(b[28:])
	h0, bad0 := hex8(l0)
	h1, bad1 := hex8(l1)
	h2, bad2 := hex8(l2)
	h3, bad3 := hex8(l3)
	if bad0|bad1|bad2|bad3 != 0 {
		return false
	}
	dst.Metrics = append(dst.Metrics, uuid.UUID{})
	id := &dst.Metrics[len(dst.Metrics)-1]
	binary.LittleEndian.PutUint32(id[0:], h0)
	binary.LittleEndian.PutUint32(id[4:], h1)
	binary.LittleEndian.PutUint32(id[8:], h2)
	binary.LittleEndian.PutUint32(id[12:], h3)
	return true
}

// hex8 turns eight hexadecimal digits, first in the lowest byte, into four bytes in the same order. bad is 0 if all of
// them are digits.
func hex8(x uint64) (b uint32, bad uint64) {
	const (
		ones  = 0x0101010101010101
		lows  = 0x0f * ones
		highs = 0xf0 * ones
	)
	letter := x >> 6 & ones              // 1 for a-f and A-F
	v := x&lows + 9*letter               // each digit's value, if it is one
	again := v + 0x30*ones + 0x27*letter // the digit that has this value, in lower case
	// A byte is a digit if its value gives it back (for a letter: but for the bit of its case) and the value is at
	// most 9, or 10 to 15 for a letter.
	bad = (again ^ (x | letter<<5)) | v&highs | ((v+6*ones)>>4&ones ^ letter)
	v = v<<4 | v>>8
	v &= 0x00ff00ff00ff00ff
	v |= v >> 8
	v &= 0x0000ffff0000ffff
	return uint32(v | v>>16), bad
}

// list reads a list of measures.
func (s *scanner) list(dst *model.Measures) bool {
	if s.next() != '[' {
		return false
	}
	s.at++
	if s.next() == ']' {
		s.at++
		return true
	}
	var form byte // of the list's timestamps: '"' for ISO, '0' for numbers
	for {
		t, v, ok := s.measure(&form)
		if !ok {
			return false
		}
		dst.Timestamps = append(dst.Timestamps, t)
		dst.Values = append(dst.Values, v)
		switch s.next() {
		case ',':
			s.at++
		case ']':
			s.at++
			return true
		default:
			return false
		}
	}
}

const (
	timestampKey = `"timestamp"`
	valueKey     = `"value"`
)

// measure reads one measure, whose timestamp has to have form, unless that is 0.
func (s *scanner) measure(form *byte) (t carbonara.Timestamp, v float64, ok bool) {
	if s.next() != '{' {
		return 0, 0, false
	}
	s.at++
	switch s.next(); {
	case s.key(timestampKey):
		if t, ok = s.timestamp(form); !ok || s.next() != ',' {
			return 0, 0, false
		}
		s.at++
		if s.next(); !s.key(valueKey) {
			return 0, 0, false
		}
		v, ok = s.number()
	case s.key(valueKey):
		if v, ok = s.number(); !ok || s.next() != ',' {
			return 0, 0, false
		}
		s.at++
		if s.next(); !s.key(timestampKey) {
			return 0, 0, false
		}
		t, ok = s.timestamp(form)
	}
	if !ok || s.next() != '}' {
		return 0, 0, false
	}
	s.at++
	return t, v, true
}

// key reads a key with its quotes, the colon, and white space up to the value.
func (s *scanner) key(key string) bool {
	end := s.at + len(key)
	if end > len(s.body) || string(s.body[s.at:end]) != key {
		return false
	}
	s.at = end
	if s.next() != ':' {
		return false
	}
	s.at++
	s.next()
	return true
}

// timestamp reads a timestamp of form; if that is 0, of either, which form becomes.
func (s *scanner) timestamp(form *byte) (carbonara.Timestamp, bool) {
	rest := s.body[s.at:]
	if n := len(s.lastText); n > 0 && n <= len(rest) && string(rest[:n]) == string(s.lastText) && *form != '0' {
		s.at += n
		*form = '"'
		return s.last, true
	}
	if len(rest) == 0 || rest[0] != '"' {
		if *form == '"' {
			return 0, false
		}
		*form = '0'
		return s.seconds()
	}
	const shortest, longest = len("2006-01-02T15:04:05"), len("2006-01-02T15:04:05.999999999+01:00")
	end := 1 + shortest
	for end < len(rest) && end <= longest && rest[end] != '"' {
		end++
	}
	if *form == '0' || end >= len(rest) || rest[end] != '"' {
		return 0, false
	}
	// A view of the body as a string, which nobody keeps.
	t, ok := model.ParseISO(unsafe.String(&rest[1], end-1))
	if !ok {
		return 0, false
	}
	*form = '"'
	s.at += end + 1
	s.lastText, s.last = rest[:end+1], t
	return t, true
}

// seconds reads a timestamp that is a number of at most 10 digits and 9 more after the point.
func (s *scanner) seconds() (carbonara.Timestamp, bool) {
	var t, digits uint64
	at := s.at
	for ; at < len(s.body) && isDigit(s.body[at]); at++ {
		t = t*10 + uint64(s.body[at]-'0')
		if digits++; digits > 10 {
			return 0, false
		}
	}
	if digits == 0 {
		return 0, false
	}
	scale := uint64(1e9)
	if at < len(s.body) && s.body[at] == '.' {
		for at++; at < len(s.body) && isDigit(s.body[at]); at++ {
			t = t*10 + uint64(s.body[at]-'0')
			if scale /= 10; scale == 0 {
				return 0, false
			}
		}
	}
	s.at = at
	if t > math.MaxInt64/scale {
		return 0, false
	}
	return carbonara.Timestamp(t * scale), true
}

// number reads a value.
func (s *scanner) number() (float64, bool) {
	start, at := s.at, s.at
	b := s.body
	negative := false
	if at < len(b) && b[at] == '-' {
		negative = true
		at++
	}
	first := at
	var mantissa uint64
	for ; at < len(b) && isDigit(b[at]); at++ {
		mantissa = mantissa*10 + uint64(b[at]-'0')
	}
	digits := at - first
	if digits == 0 {
		return 0, false
	}
	exponent := 0
	integer := true
	if at < len(b) && b[at] == '.' {
		integer = false
		at++
		point := at
		for ; at < len(b) && isDigit(b[at]); at++ {
			mantissa = mantissa*10 + uint64(b[at]-'0')
		}
		exponent = point - at
		digits -= exponent
	}
	if at < len(b) && b[at]|0x20 == 'e' {
		integer = false
		at++
		below := false
		if at < len(b) && (b[at] == '-' || b[at] == '+') {
			below = b[at] == '-'
			at++
		}
		from, e := at, 0
		for ; at < len(b) && isDigit(b[at]); at++ {
			e = min(e*10+int(b[at]-'0'), 1<<20)
		}
		if at == from {
			return 0, false
		}
		if below {
			e = -e
		}
		exponent += e
	}
	s.at = at
	f, ok := decimal.Float(mantissa, exponent)
	if !ok || digits > 19 { // 19 digits do not overflow
		return parseNumber(unsafe.String(&b[start], at-start))
	}
	if negative && !(integer && mantissa == 0) {
		f = -f
	}
	return f, true
}
