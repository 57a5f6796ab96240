package csv

import (
	"errors"
	"fmt"
	"io"

	"github.com/gnocco-db/gnocco/cmd/gnocco-import/csv"
)

// maxRecordBytes is the longest record.
const maxRecordBytes = 64 << 20

// splitter cuts text into blocks of whole records.
type splitter struct {
	in    io.Reader
	rules *csv.Reader
	size  int
	rest  []byte // read, but not part of a block yet
	line  int    // of the first byte of rest
	end   bool
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
			cut = s.rules.WholeRecords(text)
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
		s.line += s.rules.Lines(text)
		return text, line, nil
	}
}

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
