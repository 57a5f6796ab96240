package csvimport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// Result counts what an import did.
type Result struct {
	Files, Metrics     int
	Measures, Rejected int64 // measures sent; records and fields not taken
	EqualTimes         int64 // measures that another one of their metric and time, further back, replaces
	Dropped            int64 // measures older than the back window, by the server's count
	Refused            int64 // measures older than the back window, where the metric has others
	Expired            int64 // measures too old for every granularity of their metric's archive policy
	// Coarser counts the measures that are too old for the finest granularity of their metric's archive policy, by the
	// finest one that keeps them.
	Coarser map[time.Duration]int64
}

// Lost returns how many measures of the files the archives will not have, rejected ones aside.
func (r *Result) Lost() int64 { return r.Dropped + r.Refused + r.Expired }

// Importer reads the measures of files and then sends them. It is for one goroutine.
type Importer struct {
	options Options
	names   map[string]uint32 // of metrics
	metrics []*metric
	ignored map[string]bool     // names of options.Ignore that a column has
	latest  carbonara.Timestamp // measures may have
	rows    spool
	result  Result
}

// New returns an importer without measures. The caller closes it.
func New(options Options) (*Importer, error) {
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return nil, err
	}
	return &Importer{options: options, names: make(map[string]uint32), ignored: make(map[string]bool),
		latest: carbonara.FromTime(time.Now()).Add(maxFuture),
		rows:   spool{runRows: rowsInMemory}, result: Result{Coarser: make(map[time.Duration]int64)}}, nil
}

// maxFuture is how far ahead of the clock a measure may be: a file has no forecasts, but may have a wrong year.
const maxFuture = 24 * time.Hour

// Close removes temporary files.
func (i *Importer) Close() error { return i.rows.close() }

// File reads a file to its end. Its name is for messages, and for its metric, if it has one column of values; "-" is
// none.
func (i *Importer) File(name string, source io.Reader) error {
	f := &file{Importer: i, name: name, reader: NewReader(source, i.options.Comma)}
	first, err := f.next()
	if err == io.EOF {
		return fmt.Errorf("csvimport: %s is empty", name)
	}
	if err != nil {
		return err
	}
	header, sample := first.clone(), []record(nil)
	if i.options.NoHeader {
		sample = append(sample, header)
	}
	for len(sample) < sampleRecords {
		r, err := f.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		sample = append(sample, r.clone())
	}
	if f.columns, err = i.options.newColumns(name, header.fields, sample); err != nil {
		return fmt.Errorf("csvimport: %s %w", name, err)
	}
	for _, name := range f.leftOut {
		i.ignored[name] = true
	}
	if f.nameless > 0 {
		i.options.Note(fmt.Sprintf("%s: %d columns without a name are left out", name, f.nameless))
	}
	for _, column := range f.values {
		f.numbers = append(f.numbers, i.number(column.name))
	}
	for _, r := range sample {
		if err := f.add(r); err != nil {
			return err
		}
	}
	for {
		r, err := f.next()
		if err == io.EOF {
			i.result.Files++
			return nil
		}
		if err == nil {
			err = f.add(r)
		}
		if err != nil {
			return err
		}
	}
}

// number returns the number of a metric in i.metrics.
func (i *Importer) number(name string) uint32 {
	n, ok := i.names[name]
	if !ok {
		n = uint32(len(i.metrics))
		i.names[name] = n
		i.metrics = append(i.metrics, &metric{name: name})
	}
	return n
}

// unknownIgnored returns an error if Options.Ignore has a name that no column of any file has.
func (i *Importer) unknownIgnored() error {
	for _, name := range i.options.Ignore {
		if !i.ignored[name] {
			return fmt.Errorf("csvimport: no column to ignore is called %q", name)
		}
	}
	return nil
}

// file is one file of an import.
type file struct {
	*Importer
	*columns
	name    string
	reader  *Reader
	numbers []uint32 // of the metrics of columns.values
}

// record is one record of a file, and the line on which it starts.
type record struct {
	fields [][]byte
	line   int
}

// sampleRecords is the number of records that decide which column holds times.
const sampleRecords = 20

func (r record) clone() record {
	r.fields = slices.Clone(r.fields)
	for i, field := range r.fields {
		r.fields[i] = bytes.Clone(field)
	}
	return r
}

// next returns the next record, valid until the next call, and io.EOF at the end. It reports malformed ones.
func (f *file) next() (record, error) {
	for {
		fields, line, err := f.reader.Read()
		var rejected *LineError
		switch {
		case err == nil:
			return record{fields, line}, nil
		case err == io.EOF:
			return record{}, err
		case errors.As(err, &rejected):
			f.reject(rejected.Line, rejected.Reason)
		default:
			return record{}, fmt.Errorf("csvimport: read %s: %w", f.name, err)
		}
	}
}

// add adds the measures of a record.
func (f *file) add(r record) error {
	if len(r.fields) != f.fields {
		f.reject(r.line, fmt.Sprintf("has %d fields, not %d", len(r.fields), f.fields))
		return nil
	}
	t, err := parseTimestamp(bytes.TrimSpace(r.fields[f.timestamp]), f.guessed)
	if err != nil {
		f.reject(r.line, fmt.Sprintf("timestamp %q: %v", r.fields[f.timestamp], err))
		return nil
	}
	if t > f.latest {
		f.reject(r.line, fmt.Sprintf("timestamp %q is more than %v ahead of the clock", r.fields[f.timestamp],
			maxFuture))
		return nil
	}
	for j, column := range f.values {
		text := bytes.TrimSpace(r.fields[column.index])
		if len(text) == 0 {
			continue // a gap
		}
		value, ok := model.ParseNumber(view(text))
		if !ok {
			f.reject(r.line, fmt.Sprintf("value %q of metric %s is not a number", text, column.name))
			continue
		}
		m := f.metrics[f.numbers[j]]
		m.newest = max(m.newest, t)
		m.rows++
		if err := f.rows.add(t, value, f.numbers[j]); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) reject(line int, reason string) {
	f.result.Rejected++
	f.options.Reject(f.name, line, reason)
}

// leastNumber is the least number, in seconds since 1970, that is taken for a time where the user did not name the
// column: 1973. Latitudes, ranks and years are below.
const leastNumber = carbonara.Timestamp(100_000_000 * time.Second)

// parseTimestamp refuses what is relative to now, and where guessed, numbers that are rarely times.
func parseTimestamp(text []byte, guessed bool) (carbonara.Timestamp, error) {
	s := view(text)
	if t, ok := model.ParseISO(s); ok {
		return t, nil
	}
	form := model.TimestampFormOf(s)
	if form == model.TimestampRelative {
		return 0, errors.New("is not a time")
	}
	t, err := form.Parse(s, 0)
	if err == nil && guessed && form == model.TimestampNumber && t < leastNumber {
		err = errors.New("is a number before 1973; name the column by --timestamp-column if it is a time")
	}
	return t, err
}
