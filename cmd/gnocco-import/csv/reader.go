package csv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// maxRecord is the longest record, in bytes: a quote that is never closed must not bring a whole file into memory.
const maxRecord = 1 << 20

// LineError says why a record cannot be taken. Reading goes on with the line after.
type LineError struct {
	Line   int // counted from 1
	Reason string
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Reader reads records by the rules of encoding/csv: a field that begins with a quote ends with the next one and may
// hold commas, line ends and doubled quotes, which stand for one. Fields are slices of its buffer.
//
// After a malformed record it goes on with the next line, even if a quote was left open. There encoding/csv would read
// the rest of the file into memory, and lose it.
type Reader struct {
	source     io.Reader
	comma      byte
	buf        []byte
	start, end int // what of buf is not consumed yet
	readErr    error
	line       int  // of start
	eol        byte // ends a line: \n, or \r in a source without \n
	eolKnown   bool
	fields     [][]byte
	unquoted   []byte // the fields of a record that has quotes

	comments   bool     // lines that begin with # are no records
	header     [][]byte // of the records, if a comment may be another one; nil if not
	NextHeader [][]byte // the comment at which reading ended
}

// NewReader returns a reader of records whose fields are separated by comma, an ASCII character.
func NewReader(source io.Reader, comma byte) *Reader {
	return &Reader{source: source, comma: comma, buf: make([]byte, 256<<10), line: 1, eol: '\n'}
}

// Read returns the fields of the next record that is not empty and the line on which it starts. The fields stay valid
// until the next call. The error is a *LineError where reading may go on, io.EOF at the end, else what the source
// returned.
func (r *Reader) Read() (fields [][]byte, line int, err error) {
	for {
		raw, err := r.peekLine(r.start)
		line := r.line
		if err != nil {
			if errors.Is(err, errTooLong) {
				err = r.skipLine()
				if err == nil {
					err = &LineError{line, "is longer than a mebibyte"}
				}
			}
			return nil, line, err
		}
		text := trimEnd(raw)
		if r.NextHeader != nil {
			return nil, line, io.EOF
		}
		if len(text) == 0 || r.comments && text[0] == '#' {
			if len(text) > 0 && r.header != nil {
				r.NextHeader = r.anotherHeader(text)
			}
			r.consume(len(raw), 1)
			continue
		}
		if bytes.IndexByte(text, '"') >= 0 {
			fields, err = r.readQuoted(len(raw))
			return fields, line, err
		}
		r.consume(len(raw), 1)
		r.fields = r.fields[:0]
		for {
			i := bytes.IndexByte(text, r.comma)
			if i < 0 {
				r.fields = append(r.fields, text)
				return r.fields, line, nil
			}
			r.fields = append(r.fields, text[:i])
			text = text[i+1:]
		}
	}
}

// ExpectHeaders makes a comment end the records that is another header than theirs.
func (r *Reader) ExpectHeaders(header [][]byte) {
	r.header = make([][]byte, len(header))
	for i, field := range header {
		r.header[i] = bytes.Clone(field)
	}
}

// anotherHeader returns a comment's fields if it is a header: it begins with the same name as that of the records, and
// another form of records follows.
func (r *Reader) anotherHeader(comment []byte) [][]byte {
	fields := splitComment(comment, r.comma)
	if bytes.Equal(fields[0], r.header[0]) && !slices.EqualFunc(fields, r.header, bytes.Equal) {
		return fields
	}
	return nil
}

const neverClosed = "has a quote that is never closed"

// readQuoted reads the record at start, whose first line has length bytes with its end.
func (r *Reader) readQuoted(length int) ([][]byte, error) {
	first := length
	reject := func(reason string) ([][]byte, error) {
		line := r.line
		r.consume(first, 1)
		return nil, &LineError{line, reason}
	}
	// The fields' text goes to unquoted, which may move as it grows: their ends are kept, and cut at last.
	r.unquoted = r.unquoted[:0]
	var ends []int
	at, lines := 0, 1
	text := trimEnd(r.buf[r.start : r.start+length])
	for {
		if at == len(text) || text[at] != '"' {
			field := text[at:]
			i := bytes.IndexByte(field, r.comma)
			if i >= 0 {
				field = field[:i]
			}
			if bytes.IndexByte(field, '"') >= 0 {
				return reject("has a quote inside a field without quotes")
			}
			r.unquoted = append(r.unquoted, field...)
			ends = append(ends, len(r.unquoted))
			if i < 0 {
				break
			}
			at += i + 1
			continue
		}
		at++
		for {
			i := bytes.IndexByte(text[at:], '"')
			if i >= 0 {
				r.unquoted = append(r.unquoted, text[at:at+i]...)
				at += i + 1
				if at < len(text) && text[at] == '"' {
					r.unquoted = append(r.unquoted, '"')
					at++
					continue
				}
				break
			}
			// The field goes on in the next line.
			r.unquoted = append(append(r.unquoted, text[at:]...), '\n')
			next, err := r.peekLine(r.start + length)
			if err != nil && err != io.EOF && !errors.Is(err, errTooLong) {
				return nil, err
			}
			if err != nil || length+len(next) > maxRecord {
				return reject(neverClosed)
			}
			length += len(next)
			lines++
			text, at = trimEnd(next), 0
		}
		ends = append(ends, len(r.unquoted))
		if at == len(text) {
			break
		}
		if text[at] != r.comma {
			return reject("has text after a closing quote")
		}
		at++
	}
	r.consume(length, lines)
	r.fields = r.fields[:0]
	from := 0
	for _, end := range ends {
		r.fields = append(r.fields, r.unquoted[from:end])
		from = end
	}
	return r.fields, nil
}

var errTooLong = errors.New("csv: line too long")

// peekLine returns the line that begins at from, an offset in buf at or after start, with its end. It may move the
// buffer, start with it.
func (r *Reader) peekLine(from int) ([]byte, error) {
	offset := from - r.start
	searched := offset
	for {
		if i := bytes.IndexByte(r.buf[r.start+searched:r.end], r.eol); i >= 0 {
			r.eolKnown = true
			return r.buf[r.start+offset : r.start+searched+i+1], nil
		}
		if !r.eolKnown && (r.readErr != nil || r.end >= firstLine) {
			r.eolKnown = true
			if r.endsLinesByReturn() {
				r.eol, searched = '\r', offset
				continue
			}
		}
		searched = r.end - r.start
		if r.readErr != nil {
			if r.readErr == io.EOF && searched > offset {
				return r.buf[r.start+offset : r.end], nil
			}
			return nil, r.readErr
		}
		if searched-offset > maxRecord {
			return nil, errTooLong
		}
		r.fill()
	}
}

// firstLine is how long the first line may be, in bytes, before a carriage return is taken for the end of a line.
const firstLine = 64 << 10

// endsLinesByReturn reports whether lines end by \r alone: the buffered text has one, and no \n.
func (r *Reader) endsLinesByReturn() bool {
	i := bytes.IndexByte(r.buf[:r.end], '\r')
	return i >= 0 && i < r.end-1 && bytes.IndexByte(r.buf[:r.end], '\n') < 0
}

// fill reads more behind end, after making room there.
func (r *Reader) fill() {
	if r.end == len(r.buf) {
		if r.start > len(r.buf)/2 {
			copy(r.buf, r.buf[r.start:r.end])
		} else {
			grown := make([]byte, 2*len(r.buf))
			copy(grown, r.buf[r.start:r.end])
			r.buf = grown
		}
		r.end -= r.start
		r.start = 0
	}
	for range 100 {
		n, err := r.source.Read(r.buf[r.end:])
		r.end += n
		r.readErr = err
		if n > 0 || err != nil {
			return
		}
	}
	r.readErr = io.ErrNoProgress
}

// skipLines consumes so many lines.
func (r *Reader) skipLines(n int) error {
	for range n {
		raw, err := r.peekLine(r.start)
		if err != nil {
			return err
		}
		r.consume(len(raw), 1)
	}
	return nil
}

// skipLine consumes a line of any length. At the end of the source that is no error.
func (r *Reader) skipLine() error {
	for {
		if i := bytes.IndexByte(r.buf[r.start:r.end], r.eol); i >= 0 {
			r.consume(i+1, 1)
			return nil
		}
		r.start, r.end = 0, 0
		if r.readErr != nil {
			if r.readErr == io.EOF {
				return nil
			}
			return r.readErr
		}
		r.fill()
	}
}

func (r *Reader) consume(bytes, lines int) {
	r.start += bytes
	r.line += lines
}

// trimEnd cuts off the line's end: \n, \r, or \n after any number of \r, as a file that was converted twice has.
func trimEnd(line []byte) []byte {
	return bytes.TrimRight(bytes.TrimSuffix(line, []byte{'\n'}), "\r")
}
