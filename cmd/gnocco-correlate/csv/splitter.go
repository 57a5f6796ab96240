package csv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxRecordBytes is the longest record that is not taken for a quote that nobody closed.
const maxRecordBytes = 64 << 20

// splitter cuts text into blocks of whole records. Within quotes, a line's end does not end a record.
type splitter struct {
	in    io.Reader
	comma byte
	size  int
	rest  []byte // read, but not part of a block yet
	line  int    // of the first byte of rest
	end   bool
}

func newSplitter(in io.Reader, comma byte, size int) *splitter {
	return &splitter{in: in, comma: comma, size: size, line: 1}
}

// next appends a block to text and returns it with the number of its first line; io.EOF after the last.
func (s *splitter) next(text []byte) ([]byte, int, error) {
	text = append(text[:0], s.rest...)
	s.rest = s.rest[:0]
	line := s.line
	for want := s.size; ; want = 2 * len(text) {
		if err := s.fill(&text, want); err != nil {
			return nil, 0, err
		}
		cut := len(text)
		if !s.end {
			cut = lastRecordEnd(text, s.comma)
		}
		if cut == 0 && !s.end {
			if len(text) >= maxRecordBytes {
				return nil, 0, fmt.Errorf("csv: the record at line %d is longer than %d MiB", line, maxRecordBytes>>20)
			}
			continue
		}
		if cut == 0 {
			return nil, 0, io.EOF
		}
		s.rest = append(s.rest, text[cut:]...)
		text = text[:cut]
		s.line += bytes.Count(text, newline)
		return text, line, nil
	}
}

var newline = []byte{'\n'}

// fill reads until text has so many bytes, or all there are.
func (s *splitter) fill(text *[]byte, want int) error {
	if cap(*text) < want {
		*text = append(make([]byte, 0, want), *text...)
	}
	for len(*text) < want && !s.end {
		n, err := s.in.Read((*text)[len(*text):want])
		*text = (*text)[:len(*text)+n]
		if errors.Is(err, io.EOF) {
			s.end = true
		} else if err != nil {
			return fmt.Errorf("csv: read: %w", err)
		}
	}
	return nil
}

// lastRecordEnd returns the length of the whole records at the start of text, which begins with a record. As in
// scanner, quotes count only in a field that begins with one.
func lastRecordEnd(text []byte, comma byte) int {
	if bytes.IndexByte(text, '"') < 0 {
		return bytes.LastIndexByte(text, '\n') + 1
	}
	end := 0
	start := true   // at a field's first byte
	quoted := false // in a field that began with a quote
	inside := false // within its quotes
	for i, c := range text {
		switch {
		case start && c == '"':
			start, quoted, inside = false, true, true
			continue
		case quoted && c == '"':
			inside = !inside // and back again, if there are two
		case inside:
		case c == comma:
			start, quoted = true, false
			continue
		case c == '\n':
			start, quoted = true, false
			end = i + 1
			continue
		default:
			quoted = false // text after the closing quote: further quotes are also text
		}
		start = false
	}
	return end
}
