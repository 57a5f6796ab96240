package csv

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gnocco-db/gnocco/correlate"
)

// layout says what the fields of a record are.
type layout struct {
	columns []int    // by field: which data column it is, -1 for none
	names   []string // of data columns
	text    []string // names of columns left out because they hold no numbers
	times   string   // name of the column left out because it holds timestamps, as numbers; "" for none
}

// sampleRows are looked at to see which columns hold numbers.
const sampleRows = 1000

// newLayout reads the header, or without one the first record, and the first rows, from the file's first block.
func newLayout(first []byte, o *Options) (*layout, error) {
	s := scanner{text: first, comma: o.Comma}
	header := s.record()
	if header == nil {
		return nil, errors.New("csv: the file is empty")
	}
	if o.NoHeader {
		s = scanner{text: first, comma: o.Comma}
		for i := range header {
			header[i] = strconv.Itoa(i + 1)
		}
	}
	for i, name := range header {
		header[i] = strings.TrimSpace(name)
	}
	for _, name := range o.Skip {
		if !slices.Contains(header, name) {
			return nil, fmt.Errorf("csv: there is no column %q to skip: the columns are %s", name, list(header))
		}
	}
	timestamps := correlate.TimestampColumn(header)
	if o.TimestampColumn != "" {
		if timestamps = slices.Index(header, o.TimestampColumn); timestamps < 0 {
			return nil, fmt.Errorf("csv: there is no column %q of timestamps: the columns are %s",
				o.TimestampColumn, list(header))
		}
	}
	var ofFirst []float64 // the numbers of the first column
	numbers, words := make([]bool, len(header)), make([]bool, len(header))
	for range sampleRows {
		record := s.record()
		if record == nil {
			break
		}
		for i, field := range record[:min(len(record), len(header))] {
			plain := trim([]byte(field))
			if number, ok := parseNumber(plain); ok {
				numbers[i] = true
				if i == 0 {
					ofFirst = append(ofFirst, number)
				}
			} else if !isMissing(plain) {
				words[i] = true
			}
		}
	}
	if timestamps < 0 && areTimes(ofFirst) && !words[0] {
		timestamps = 0
	}
	l := &layout{columns: make([]int, len(header))}
	for i, name := range header {
		l.columns[i] = -1
		switch {
		case slices.Contains(o.Skip, name):
		case words[i] && !numbers[i]:
			l.text = append(l.text, name)
		case i == timestamps:
			l.times = name
		default:
			l.columns[i] = len(l.names)
			l.names = append(l.names, name)
		}
	}
	if len(l.names) == 0 {
		return nil, fmt.Errorf("csv: no column holds numbers that are not timestamps: the columns are %s", list(header))
	}
	return l, nil
}

// list shows the first names.
func list(names []string) string {
	const most = 20
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " …"
	}
	return strings.Join(names, ", ")
}
