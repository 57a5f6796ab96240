package csvimport

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/csv"
	"github.com/gnocco-db/gnocco/internal/counted"
)

// Result counts what an import did.
type Result struct {
	Files, Metrics     int
	Measures, Rejected int64 // measures sent; records and fields not taken
	Dropped            int64 // measures older than the back window, by the server's count
	Older              int64 // measures older than the back window, which went in as history
	Refused            int64 // such measures where the metric has others
	Expired            int64 // measures too old for every granularity of their metric's archive policy
	Merged             int64 // measures that share a group with others at the finest granularity that keeps them
	Replaced           int64 // measures of which a later line has another value

	Groups   int64 // of Thanos' aggregates, put into archives or there already
	Occupied int64 // periods of such groups in which a metric has other measures: they stayed as they were
	Unkept   int   // metrics that took none: their archive policy has no granularity that is made of them, or rates
}

// Whole reports whether the archives have all measures of the files, each by itself. If not, the exit status says so.
func (r *Result) Whole() bool {
	return r.Rejected+r.Dropped+r.Refused+r.Expired+r.Merged+r.Replaced == 0 && r.Unkept == 0
}

// Refusal is the error of a file that is not taken: its text says why, and by which option it would be.
type Refusal struct{ error }

func (r Refusal) Unwrap() error { return r.error }

func refusal(format string, args ...any) error { return Refusal{fmt.Errorf(format, args...)} }

// Importer reads the measures of files and then sends them. It is for one goroutine.
type Importer struct {
	options  Options
	numbers  map[seriesName]uint32 // of metrics
	metrics  []*metric
	ignored  map[string]bool     // names of options.Ignore that a column has
	latest   carbonara.Timestamp // measures may have
	rows     spool
	natives  map[seriesName]*native
	removed  int64    // rows, by later native histograms
	removing bool     // whether there are such rows
	blocks   []*block // of aggregates
	ofBlocks bool
	create   *newPolicy // to be created; nil for none
	result   Result

	mu       sync.Mutex // guards policies
	policies map[string]*archivePolicy
}

// New returns an importer without measures. The caller closes it.
func New(options Options) (*Importer, error) {
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return nil, err
	}
	return &Importer{options: options, numbers: make(map[seriesName]uint32), ignored: make(map[string]bool),
		latest: carbonara.FromTime(time.Now()).Add(maxFuture),
		rows:   spool{runRows: rowsInMemory}, policies: make(map[string]*archivePolicy),
		natives: make(map[seriesName]*native)}, nil
}

// maxFuture is how far ahead of the clock a measure may be: a file has no forecasts, but may have a wrong year.
const maxFuture = 24 * time.Hour

// Close removes temporary files, and closes blocks.
func (i *Importer) Close() error {
	err := i.rows.close()
	for _, b := range i.blocks {
		err = errors.Join(err, b.close())
	}
	return err
}

// File reads a file to its end. Its name is for messages, and for its metric, if it has one column of values; "-" is
// none.
func (i *Importer) File(name string, source io.Reader) error {
	text, how, err := csv.TextOf(source)
	if err != nil {
		return refusal("%s %w", name, err)
	}
	head, err := text.Peek(csv.Peeked)
	if len(head) == 0 {
		return refusal("%s is empty", name)
	}
	if isJSON(head) {
		if isSeriesJSON(head) {
			return refusal("%s has series as JSON lines: gnocco import jsonl reads them", name)
		}
		return i.records(name, how, newJSONReader(text))
	}
	d := csv.DialectOf(head, i.options.Comma, err != nil)
	reader := csv.NewReader(text, d.Comma)
	f := &file{Importer: i, name: name, reader: reader, beneath: d.Beneath}
	if how = strings.TrimPrefix(strings.Join([]string{how, d.String()}, ", "), ", "); how != "" && how != ", " {
		i.options.Note(name + ": " + strings.TrimSuffix(how, ", "))
	}
	if err := d.Begin(reader); err != nil {
		return fmt.Errorf("csvimport: read %s: %w", name, err)
	}
	header, above := d.Header, d.Above
	for more := true; more; more = header != nil {
		if header == nil {
			first, err := f.next()
			if err == io.EOF {
				return refusal("%s is empty", f.name)
			}
			if err != nil {
				return err
			}
			header = first.clone().fields
			if i.options.NoHeader {
				f.first = append(f.first, first.clone())
			}
		}
		reader.ExpectHeaders(header)
		if err := f.section(header, csv.Names(header, above, i.options.NoHeader)); err != nil {
			return err
		}
		header, above, reader.NextHeader = reader.NextHeader, nil, nil
	}
	i.result.Files++
	return nil
}

// sampleRecords is the number of records that decide about the columns.
const sampleRecords = 10_000

// section reads the records below a header, or with columns of such names, up to the next header or the end.
func (f *file) section(header [][]byte, names []string) (err error) {
	var units []string
	for ; f.beneath > 0; f.beneath-- {
		r, err := f.next()
		if err != nil {
			return err
		}
		row := csv.Beneath(r.clone().fields)
		if f.below = append(f.below, row); len(row) == len(names) {
			if !row.Distinguish(names) && units == nil {
				units = row.Units()
			}
		}
	}
	f.header = nil
	for _, field := range header {
		f.header = append(f.header, bytes.Clone(field))
	}
	sample := f.first
	ended := false
	for len(sample) < sampleRecords {
		r, err := f.next()
		if err == io.EOF {
			ended = true
			break
		}
		if err != nil {
			return err
		}
		sample = append(sample, r.clone())
	}
	if f.columns, err = f.options.newColumns(f.name, names, sample); err != nil {
		return refusal("%s %w", f.name, err)
	}
	if header != nil && !f.options.NoHeader {
		if t, _, err := f.times.Form.Parse(bytes.TrimSpace(header[f.times.Columns[0]])); err == nil {
			return refusal("%s has no header: its first line holds the timestamp %s (see --no-header)",
				f.name, t.Time().UTC().Format(time.RFC3339))
		}
	}
	for _, name := range f.leftOut {
		f.ignored[name] = true
	}
	f.units = units
	f.describe()
	f.known = make(map[string][]uint32)
	for _, r := range sample {
		if err := f.add(r); err != nil {
			return err
		}
	}
	for !ended {
		r, err := f.next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = f.add(r)
		}
		if err != nil {
			return err
		}
	}
	if f.first = nil; f.earlier+f.later > 0 {
		f.options.Note(fmt.Sprintf("%s: %s of an hour that clocks in %s show twice, %d taken for the first, "+
			"%d for the second", f.name, counted.Of(f.earlier+f.later, "time"), f.options.zone, f.earlier, f.later))
		f.earlier, f.later = 0, 0
	}
	return nil
}

// number returns the number of a metric in i.metrics. If it is new there, describe says more of it.
func (i *Importer) number(name seriesName, describe func(*metric)) uint32 {
	n, ok := i.numbers[name]
	if !ok {
		n = uint32(len(i.metrics))
		i.numbers[name] = n
		m := &metric{seriesName: name, policy: i.options.ArchivePolicy, before: -1}
		if describe != nil {
			describe(m)
		}
		i.metrics = append(i.metrics, m)
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
	name           string
	reader         recordReader
	header         [][]byte            // as it stands in the file; nil: there is none
	beneath        int                 // records below the header that are still to be read
	below          []csv.Beneath       // those that were read
	first          []record            // read already
	units          []string            // of columns; nil: not known
	known          map[string][]uint32 // metrics of a record's values, by the cells that name them
	key            []byte
	earlier, later int // how many times that clocks show twice were taken for the first, and for the second
}

// recordReader reads records: see csv.Reader.
type recordReader interface {
	Read() (fields [][]byte, line int, err error)
}

// record is one record of a file, and the line on which it starts.
type record struct {
	fields [][]byte
	line   int
}

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
		var rejected *csv.LineError
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
		f.reject(r.line, fmt.Sprintf("has %s, not %d", counted.Of(len(r.fields), "field"), f.fields))
		return nil
	}
	t, again, err := f.times.Parse(r.fields)
	if err != nil {
		switch again, same := f.isHeaderAgain(r); {
		case !again:
			f.reject(r.line, fmt.Sprintf("timestamp %q: %v", r.fields[f.times.Columns[0]], err))
		case !same:
			return refusal("%s has another header on line %d: its parts have to be files of their own", f.name, r.line)
		}
		return nil
	}
	if t > f.latest {
		f.reject(r.line, fmt.Sprintf("timestamp %q is more than %v ahead of the clock", r.fields[f.times.Columns[0]], maxFuture))
		return nil
	}
	numbers, err := f.metricsOf(r)
	if err != nil {
		f.reject(r.line, err.Error())
		return nil
	}
	ordered := f.metrics[numbers[0]]
	if again > 0 {
		if t, err = f.once(ordered, t, again); err != nil {
			f.reject(r.line, fmt.Sprintf("timestamp %q: %v", r.fields[f.times.Columns[0]], err))
			return nil
		}
	}
	ordered.read = t
	for j := range f.values {
		column := &f.values[j]
		text := bytes.TrimSpace(r.fields[column.index])
		if slices.Contains(f.options.Gaps, view(text)) {
			continue
		}
		if csv.IsGap(text) && !((f.options.NaN || f.exported) && strings.EqualFold(view(text), "nan")) {
			continue
		}
		value, ok := column.form.Parse(text)
		if !ok {
			f.reject(r.line, fmt.Sprintf("value %q of metric %s is not a number", text, f.metrics[numbers[j]].name))
			continue
		}
		if err := f.Importer.add(numbers[j], t, value); err != nil {
			return err
		}
	}
	return nil
}

// once returns which of two times a record has that clocks show twice: the one that goes on from the record before.
func (f *file) once(m *metric, first, second carbonara.Timestamp) (carbonara.Timestamp, error) {
	const near = carbonara.Timestamp(24 * time.Hour)
	isNear := m.read > first-near && m.read < second+near
	takeFirst, takeSecond := !isNear || first > m.read, second > m.read
	if f.descending {
		takeFirst, takeSecond = first < m.read && second >= m.read, !isNear || second < m.read
	}
	switch {
	case takeFirst:
		f.earlier++
		return first, nil
	case takeSecond:
		f.later++
		return second, nil
	}
	return 0, fmt.Errorf("comes twice in %s, and its place among the others does not say which is meant", f.options.zone)
}

// isHeaderAgain reports whether a record is a header, or a line below one, as joined files have them, and whether it is
// the file's own.
func (f *file) isHeaderAgain(r record) (again, same bool) {
	equal := func(a, b []byte) bool { return bytes.Equal(bytes.TrimSpace(a), bytes.TrimSpace(b)) }
	if slices.ContainsFunc(f.below, func(row csv.Beneath) bool { return slices.EqualFunc(row, r.fields, equal) }) ||
		slices.EqualFunc(f.header, r.fields, equal) {
		return true, true
	}
	return !slices.ContainsFunc(f.times.Columns, func(i int) bool {
		return string(bytes.TrimSpace(r.fields[i])) != f.names[i]
	}), false
}

// metricsOf returns the numbers of the metrics that a record's values belong to.
func (f *file) metricsOf(r record) ([]uint32, error) {
	f.key = f.appendKey(f.key[:0], r)
	if n, ok := f.known[string(f.key)]; ok {
		return n, nil
	}
	if f.exported {
		return f.exportedMetric(r)
	}
	resource := f.options.Resource
	if f.resource >= 0 {
		if name := strings.TrimSpace(string(r.fields[f.resource])); name != "" {
			resource = name
		}
	}
	var parts []string
	for _, i := range f.columns.metric {
		if part := strings.TrimSpace(string(r.fields[i])); part != "" {
			parts = append(parts, metricName(part))
		}
	}
	numbers := make([]uint32, len(f.values))
	for j, column := range f.values {
		named := parts
		if column.name != "" {
			named = append(slices.Clone(parts), column.name)
		}
		name := seriesName{resource: resource, name: cmp.Or(strings.Join(named, "."), "value")}
		if len(f.labels) > 0 {
			name = withLabels(f.labelsOf(r, name.name))
		}
		if err := name.check(); err != nil {
			return nil, err
		}
		numbers[j] = f.number(name, func(m *metric) {
			if f.units != nil {
				m.unit = f.units[column.index]
			}
		})
	}
	f.known[string(f.key)] = numbers
	return numbers, nil
}

// labelsOf returns the labels of a record's series with this name.
func (f *file) labelsOf(r record, name string) map[string]string {
	labels := map[string]string{nameLabel: name}
	for _, i := range f.columns.labels {
		labels[f.names[i]] = strings.TrimSpace(string(r.fields[i]))
	}
	return labels
}

// exportedMetric returns the number of the metric that a record of an export belongs to, as a list.
func (f *file) exportedMetric(r record) ([]uint32, error) {
	cell := func(i int) string { return string(r.fields[i]) }
	name := seriesName{resource: cell(1), name: cell(2)}
	if name.resource == "" {
		labels, err := parseSeries(name.name)
		if err != nil {
			return nil, fmt.Errorf("metric %q %w", name.name, err)
		}
		name = withLabels(labels)
	}
	if err := name.check(); err != nil {
		return nil, err
	}
	numbers := []uint32{f.number(name, func(m *metric) {
		m.unit = cell(3)
		m.policy = cmp.Or(m.policy, cell(4))
	})}
	f.known[string(f.key)] = numbers
	return numbers, nil
}

func (f *file) reject(line int, reason string) {
	f.result.Rejected++
	f.options.Reject(f.name, line, reason)
}
