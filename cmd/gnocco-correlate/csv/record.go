package csv

import (
	"bytes"
	"strings"
)

// scanner takes fields out of a block, one after the other.
type scanner struct {
	text    []byte
	comma   byte
	line    int // of the next byte
	scratch []byte
}

// field returns the next field and whether the record ends with it. It is valid until the next call. At the end of the
// text there is none to be asked for.
func (s *scanner) field() (field []byte, last bool) {
	if len(s.text) > 0 && s.text[0] == '"' {
		return s.quoted()
	}
	for i, c := range s.text {
		if c == s.comma {
			field, s.text = s.text[:i], s.text[i+1:]
			return field, false
		}
		if c == '\n' {
			field, s.text = s.text[:i], s.text[i+1:]
			s.line++
			return bytes.TrimSuffix(field, carriage), true
		}
	}
	field, s.text = s.text, nil
	return bytes.TrimSuffix(field, carriage), true
}

var carriage = []byte{'\r'}

// quoted reads a field that begins with a quote. If text follows the closing quote, the field is malformed: it keeps
// that quote, so that it is no number, and ends with the next comma or line.
func (s *scanner) quoted() (field []byte, last bool) {
	s.scratch = s.scratch[:0]
	inside := true
	for i := 1; i < len(s.text); i++ {
		c := s.text[i]
		switch {
		case c == '"' && inside && i+1 < len(s.text) && s.text[i+1] == '"':
			s.scratch = append(s.scratch, c)
			i++
		case c == '"' && inside:
			inside = false
			if i+1 < len(s.text) && s.text[i+1] != s.comma && s.text[i+1] != '\n' && s.text[i+1] != '\r' {
				s.scratch = append(s.scratch, c)
			}
		case c == s.comma && !inside:
			s.text = s.text[i+1:]
			return s.scratch, false
		case c == '\n' && !inside:
			s.text = s.text[i+1:]
			s.line++
			return bytes.TrimSuffix(s.scratch, carriage), true
		default:
			if c == '\n' {
				s.line++
			}
			s.scratch = append(s.scratch, c)
		}
	}
	s.text = nil
	return bytes.TrimSuffix(s.scratch, carriage), true
}

// skipBlank passes over empty lines, which are no records.
func (s *scanner) skipBlank() {
	for len(s.text) > 0 {
		switch {
		case s.text[0] == '\n':
			s.text = s.text[1:]
		case s.text[0] == '\r' && (len(s.text) == 1 || s.text[1] == '\n'):
			s.text = s.text[min(2, len(s.text)):]
		default:
			return
		}
		s.line++
	}
}

// record returns the fields of the next record as text; nil at the end.
func (s *scanner) record() []string {
	s.skipBlank()
	if len(s.text) == 0 {
		return nil
	}
	var fields []string
	for {
		field, last := s.field()
		fields = append(fields, string(field))
		if last {
			return fields
		}
	}
}

// trim takes blanks off both ends.
func trim(field []byte) []byte {
	for len(field) > 0 && (field[0] == ' ' || field[0] == '\t') {
		field = field[1:]
	}
	for n := len(field); n > 0 && (field[n-1] == ' ' || field[n-1] == '\t'); n = len(field) {
		field = field[:n-1]
	}
	return field
}

// isMissing reports whether a field that is no number says that there is no value.
func isMissing(field []byte) bool {
	if len(field) > 4 {
		return false
	}
	switch strings.ToLower(string(field)) {
	case "", "na", "nan", "n/a", "#n/a", "null", "none", "nil", "-", "?", `\n`:
		return true
	}
	return false
}
