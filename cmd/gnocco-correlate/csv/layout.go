package csv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/cmd/gnocco-import/csv"
)

// layout says what the fields of a record are.
type layout struct {
	columns  []int            // by field: which data column it is, -1 for none
	names    []string         // of data columns
	forms    []csv.NumberForm // of their numbers
	plain    bool             // all forms are
	text     []string         // names of columns left out because they hold no numbers
	nameless int              // columns left out because they have no name
	times    string           // names of the columns left out because they hold timestamps; "" for none
	reader   *csv.Reader      // has the rules of records
	body     int              // where records begin, in bytes
	line     int              // and on which line
	mean     float64          // bytes of a line
}

// sampleRows are looked at to see which columns hold numbers.
const sampleRows = 1000

// newLayout reads the header, or without one the first record, and the first rows, from the file's beginning.
func newLayout(head []byte, complete bool, o *Options) (*layout, error) {
	dialect := csv.DialectOf(head, o.Comma, complete)
	r := csv.NewReader(nil, dialect.Comma)
	r.Reset(head, 1)
	if err := dialect.Begin(r); err != nil {
		return nil, fmt.Errorf("csv: %w", err)
	}
	l := &layout{reader: r}
	l.body, l.line = r.Position()
	header := dialect.Header
	if header == nil {
		first, _, err := r.Read()
		if err == io.EOF {
			return nil, errors.New("csv: the file is empty")
		}
		if err != nil {
			return nil, fmt.Errorf("csv: the header: %w", err)
		}
		if end, line := r.Position(); end == len(head) && !complete {
			return nil, errors.New("csv: the header is longer than a mebibyte")
		} else if !o.NoHeader {
			l.body, l.line = end, line
		}
		header = first
	}
	r.ExpectHeaders(header)
	names := csv.Names(header, dialect.Above, o.NoHeader)
	for range dialect.Beneath {
		if _, _, err := r.Read(); err != nil {
			return nil, fmt.Errorf("csv: below the header: %w", err)
		}
		l.body, l.line = r.Position()
	}
	for _, name := range o.Skip {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("csv: there is no column %q to skip: the columns are %s", name, list(names))
		}
	}
	cells, rest := make([][][]byte, len(names)), head[l.body:]
	if !complete {
		rest = rest[:r.WholeRecords(rest)]
	}
	lines := max(1, r.Lines(rest))
	l.mean = float64(len(rest)) / float64(lines)
	sample, rows := r.BlockReader(rest, l.line), min(lines, sampleRows)
	kept := make([]byte, 0, int(l.mean)*rows)
	for i := range cells {
		cells[i] = make([][]byte, 0, rows)
	}
	for range sampleRows {
		record, _, err := sample.Read()
		if err == io.EOF {
			break
		}
		for i, field := range record[:min(len(record), len(names))] {
			if field = bytes.TrimSpace(field); len(field) > 0 {
				kept = append(kept, field...)
				cells[i] = append(cells[i], kept[len(kept)-len(field):])
			}
		}
	}
	return l, l.choose(names, cells, o)
}

// choose says which columns hold numbers, by a sample of their cells.
func (l *layout) choose(names []string, cells [][][]byte, o *Options) error {
	times, err := csv.LikelyTimes(names, cells, o.TimestampColumn, o.Skip)
	if err != nil {
		return fmt.Errorf("csv: the file %w", err)
	}
	l.times = (&csv.Times{Columns: times}).Names(names)
	l.columns, l.plain = make([]int, len(names)), true
	var samples [][][]byte
	for i, name := range names {
		l.columns[i] = -1
		if slices.Contains(o.Skip, name) || slices.Contains(times, i) {
			continue
		}
		if name == "" {
			l.nameless++
			continue
		}
		form, err := csv.NumberFormOf(cells[i], o.Decimal)
		if errors.Is(err, csv.ErrNoNumbers) {
			l.text = append(l.text, name)
			continue
		}
		if err != nil {
			return fmt.Errorf("csv: column %s: %w", name, err)
		}
		l.columns[i], l.plain = len(l.names), l.plain && form == (csv.NumberForm{})
		l.names, l.forms, samples = append(l.names, name), append(l.forms, form), append(samples, cells[i])
	}
	if err := csv.CheckPoints(l.names, samples, l.forms); err != nil {
		return fmt.Errorf("csv: %w", err)
	}
	if len(l.names) == 0 {
		return fmt.Errorf("csv: no column holds numbers that are not timestamps: the columns are %s", list(names))
	}
	return nil
}

// list shows the first names.
func list(names []string) string {
	const most = 20
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " …"
	}
	return strings.Join(names, ", ")
}
