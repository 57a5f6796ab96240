package csv

import (
	"bytes"
	"errors"
	"io"
)

// BlockReader returns a reader with the rules of r for a part of its source: whole records, the first of them at line.
func (r *Reader) BlockReader(text []byte, line int) *Reader {
	part := &Reader{comma: r.comma, eol: r.eol, eolKnown: true, comments: r.comments, header: r.header}
	part.Reset(text, line)
	return part
}

// Reset makes the reader one of text, which it keeps until it has read all of it.
func (r *Reader) Reset(text []byte, line int) {
	r.buf, r.start, r.end, r.readErr, r.line, r.NextHeader = text, 0, len(text), io.EOF, line, nil
}

// Lines counts the lines of a part of the source.
func (r *Reader) Lines(text []byte) int { return bytes.Count(text, []byte{r.eol}) }

// Position returns where in the text of Reset the next record is looked for, in bytes, and on which line.
func (r *Reader) Position() (offset, line int) { return r.start, r.line }

// WholeRecords returns the length of the records that end in text, a part of the source that begins with a record.
func (r *Reader) WholeRecords(text []byte) int {
	end := bytes.LastIndexByte(text, r.eol) + 1
	if bytes.IndexByte(text, '"') < 0 {
		return end
	}
	part := r.BlockReader(text, 1)
	part.header = nil
	for {
		before := part.start
		_, _, err := part.Read()
		var malformed *LineError
		switch {
		case err == io.EOF:
			return min(part.start, end) // behind empty lines and comments
		case part.start > end, // it may go on behind text
			errors.As(err, &malformed) && malformed.Reason == neverClosed && len(text)-part.start <= maxRecord:
			return before
		}
	}
}
