package csv

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gnocco-db/gnocco/internal/counted"
)

// Dialect says how the lines of a text are records.
type Dialect struct {
	Comma   byte
	Leading int      // lines before the header, or the first record
	Beneath int      // records between the header and the measures: units and the like
	Comment bool     // lines that begin with # are none
	Header  [][]byte // of a comment before the records; nil: the first record
	Above   [][]byte // the record before the header, nil for none
}

// delimiters are tried in this order; of several that cut all lines alike, the first counts.
var delimiters = []byte{'\t', ';', '|', ','}

// DialectOf looks at the beginning of a text. Comma is the user's, 0 to find it.
func DialectOf(text []byte, comma byte, complete bool) Dialect {
	const most = 200
	lines, starts := recordsOf(text, most+1, complete)
	d := Dialect{Comma: comma}
	if len(lines) > 0 && len(lines[0]) == len("sep=,") && bytes.HasPrefix(lines[0], []byte("sep=")) {
		d.Comma, lines, starts = lines[0][4], lines[1:], starts[1:]
	}
	lines = lines[:min(len(lines), most)]
	if d.Comma == 0 {
		best := 0
		d.Comma = ','
		for _, c := range delimiters {
			if _, n := commonFields(lines, c); n > best {
				d.Comma, best = c, n
			}
		}
	}
	header := d.findHeader(lines)
	if len(starts) > 0 {
		d.Leading = starts[header]
	}
	return d
}

// recordsOf splits a text into the lines of records, which quotes may join, and says on which line each starts, from 0
// on. The last one is left out where it is cut off.
func recordsOf(text []byte, most int, complete bool) (records [][]byte, starts []int) {
	end := []byte{'\n'}
	if bytes.IndexByte(text, '\n') < 0 {
		end = []byte{'\r'}
	}
	lines := bytes.SplitN(text, end, 4*most)
	if !complete && len(lines) > 1 || len(lines) == 4*most {
		lines = lines[:len(lines)-1]
	}
	for i := 0; i < len(lines) && len(records) < most; {
		n := linesOfRecord(lines[i:])
		record := bytes.Join(lines[i:i+n], end)
		records, starts = append(records, bytes.TrimRight(record, "\r")), append(starts, i)
		i += n
	}
	return records, starts
}

// linesOfRecord returns of how many lines the first record is: 1 if its quote is never closed.
func linesOfRecord(lines [][]byte) int {
	quoted := false
	for n, line := range lines {
		begins := true // a field
		for i := 0; i < len(line); i++ {
			c := line[i]
			switch {
			case c != '"':
			case quoted && i+1 < len(line) && line[i+1] == '"':
				i++
			case quoted || begins && n == 0 || begins && i > 0:
				quoted = !quoted
			}
			begins = bytes.IndexByte(delimiters, c) >= 0
		}
		if !quoted {
			return n + 1
		}
	}
	return 1
}

// Begin brings a reader of the text from its beginning to the header, or to the first record.
func (d *Dialect) Begin(r *Reader) error {
	r.comments = d.Comment
	if err := r.skipLines(d.Leading); err != io.EOF {
		return err
	}
	return nil
}

// findHeader returns the number of the header's line: the last one before the first one with numbers, of the lines that
// have as many fields as most, but for lines of units. Where there is none before, it is that line, or a comment above
// it, or R's names of all columns but the first.
func (d *Dialect) findHeader(lines [][]byte) int {
	fields, _ := commonFields(lines, d.Comma)
	header, above := -1, -1 // of the lines that have the fields, the last one and the one before
	first, numbers := -1, false
	comment := []byte(nil)
	for i, line := range lines {
		if len(line) > 0 && line[0] == '#' {
			d.Comment = true
			if fieldsOf(line, d.Comma) == fields {
				comment = line
			}
			continue
		}
		if len(bytes.TrimSpace(line)) == 0 || fields > 1 && fieldsOf(line, d.Comma) != fields {
			continue
		}
		if first < 0 {
			first = i
		}
		if header >= 0 && isBeneath(splitNames(lines[header], d.Comma), splitNames(line, d.Comma)) {
			d.Beneath++
			continue
		}
		if hasNumbers(line, d.Comma) {
			if header < 0 && i+1 < len(lines) && fieldsOf(lines[i+1], d.Comma) == fields && fields > 2 &&
				!hasNumbers(lines[i+1], d.Comma) {
				continue // of a preamble that has as many fields
			}
			numbers = true
			if header < 0 {
				header = i
				if comment != nil {
					d.Header = splitComment(comment, d.Comma)
				} else if i == 1 && fields > 2 && fieldsOf(lines[0], d.Comma) == fields-1 &&
					!hasNumbers(lines[0], d.Comma) {
					d.Header = append([][]byte{nil}, splitNames(lines[0], d.Comma)...)
				}
			}
			break
		}
		header, above, d.Beneath = i, header, 0
	}
	if header < 0 {
		return 0
	}
	if !numbers {
		header, above, d.Beneath = first, -1, 0
	}
	if d.Header != nil {
		d.Beneath = 0
	}
	if above >= 0 {
		d.Above = splitNames(lines[above], d.Comma)
	}
	return header
}

// commonFields returns the number of fields that most lines have, two at least, and how many lines have it.
func commonFields(lines [][]byte, comma byte) (fields, n int) {
	counts := make(map[int]int)
	for _, line := range lines {
		if len(line) > 0 {
			counts[fieldsOf(line, comma)]++
		}
	}
	for count, lines := range counts {
		if count > 1 && (lines > n || lines == n && count > fields) {
			fields, n = count, lines
		}
	}
	return fields, n
}

// fieldsOf counts the fields of a line, whose quotes may hold separators.
func fieldsOf(line []byte, comma byte) int {
	n, quoted := 1, false
	for _, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
		case c == comma && !quoted:
			n++
		}
	}
	return n
}

// hasNumbers reports whether a field of the line begins with a digit: then it is no header.
func hasNumbers(line []byte, comma byte) bool {
	for field := range bytes.SplitSeq(line, []byte{comma}) {
		if field = bytes.Trim(field, ` "`); len(field) > 0 && field[0] >= '0' && field[0] <= '9' {
			return true
		}
	}
	return false
}

func splitComment(line []byte, comma byte) [][]byte {
	return splitNames(bytes.TrimSpace(bytes.TrimLeft(line, "#")), comma)
}

// splitNames returns the fields of a header, which holds no separators in quotes.
func splitNames(line []byte, comma byte) [][]byte {
	return bytes.Split(bytes.ReplaceAll(line, []byte{'"'}, nil), []byte{comma})
}

// String says what is unusual.
func (d Dialect) String() string {
	var parts []string
	if d.Comma != ',' {
		parts = append(parts, fmt.Sprintf("fields separated by %q", d.Comma))
	}
	if d.Leading > 0 {
		parts = append(parts, counted.Of(d.Leading, "leading line")+" skipped")
	}
	if d.Beneath > 0 {
		parts = append(parts, counted.Of(d.Beneath, "line")+" of units and the like below the header")
	}
	if d.Comment && d.Header == nil {
		parts = append(parts, "lines with # skipped")
	}
	return strings.Join(parts, ", ")
}

// Names returns the names of columns: from the header, with the record above unless they are unique, or numbers.
func Names(header, above [][]byte, noHeader bool) []string {
	names := make([]string, len(header))
	for i, field := range header {
		names[i] = strings.Join(strings.Fields(string(field)), " ")
		if noHeader {
			names[i] = strconv.Itoa(i + 1)
		}
	}
	if len(above) != len(header) || noHeader || unique(names) {
		return names
	}
	group := ""
	for i, field := range above { // of several columns each, over the first of them
		if text := strings.TrimSpace(string(field)); text != "" {
			group = text
		}
		if names[i] != "" && group != "" && group != names[i] {
			names[i] = group + "." + names[i]
		}
	}
	return names
}

func unique(names []string) bool {
	sorted := slices.Sorted(slices.Values(names))
	return len(slices.Compact(sorted)) == len(names)
}
