package csv

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Dialect says how the lines of a text are records.
type Dialect struct {
	Comma   byte
	Leading int      // lines before the header, or the first record
	Comment bool     // lines that begin with # are none
	Header  [][]byte // of a comment before the records; nil: the first record
	Above   [][]byte // the record before the header, nil for none
}

// delimiters are tried in this order; of several that cut all lines alike, the first counts.
var delimiters = []byte{'\t', ';', '|', ','}

// DialectOf looks at the beginning of a text. Comma is the user's, 0 to find it.
func DialectOf(text []byte, comma byte, complete bool) Dialect {
	const most = 200
	lines := bytes.SplitN(text, []byte{'\n'}, most+2)
	if len(lines) == 1 {
		lines = bytes.SplitN(text, []byte{'\r'}, most+2)
	}
	if !complete && len(lines) > 1 || len(lines) > most+1 {
		lines = lines[:len(lines)-1] // cut off
	}
	for i, line := range lines {
		lines[i] = bytes.TrimSuffix(line, []byte{'\r'})
	}
	d := Dialect{Comma: comma}
	if len(lines) > 0 && len(lines[0]) == len("sep=,") && bytes.HasPrefix(lines[0], []byte("sep=")) {
		d.Comma, d.Leading, lines = lines[0][4], 1, lines[1:]
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
	d.findHeader(lines)
	return d
}

// Begin brings a reader of the text from its beginning to the header, or to the first record.
func (d *Dialect) Begin(r *Reader) error {
	r.comments = d.Comment
	if err := r.skipLines(d.Leading); err != io.EOF {
		return err
	}
	return nil
}

// findHeader finds the header: the last line before the first one with numbers, of the lines that have as many fields
// as most. Where there is none before, it is that line, or a comment above it, or R's names of all columns but the
// first.
func (d *Dialect) findHeader(lines [][]byte) {
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
		if hasNumbers(line, d.Comma) {
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
		header, above = i, header
	}
	if header < 0 {
		return
	}
	if !numbers {
		header, above = first, -1
	}
	d.Leading += header
	if above >= 0 {
		d.Above = splitNames(lines[above], d.Comma)
	}
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
		parts = append(parts, fmt.Sprintf("%d leading lines skipped", d.Leading))
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
		names[i] = strings.TrimSpace(string(field))
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
