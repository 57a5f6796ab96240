package csvimport

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/correlate"
)

// columns says what the fields of a file's records are.
type columns struct {
	fields   int // of each record
	names    []string
	times    []int // the field of times, or those of dates and times of day
	form     timeForm
	metric   []int // the fields that name the metric of a record
	resource int   // the field that names its resource, or -1
	labels   []int // the fields that hold its labels
	exported bool  // columns are those of an export
	values   []valueColumn
	far      int      // times of the sample in years that are not kept
	nameless int      // columns without a name, left out
	text     []string // columns left out, since no cell is a number
	leftOut  []string // columns left out by name

	joined []byte // scratch of two time fields
}

// valueColumn is a field that holds a metric's values.
type valueColumn struct {
	index int
	name  string // of the metric, or of the last part of its name
	form  numberForm
}

// newColumns decides by a file's header, or the names of its columns, and a sample of its records.
func (o *Options) newColumns(file string, names []string, sample []record) (*columns, error) {
	listed := strings.Join(names, ", ")
	c := &columns{fields: len(names), names: names, resource: -1}
	cells := make([][][]byte, len(names)) // of the sample, by column
	for _, r := range sample {
		if len(r.fields) != len(names) {
			continue
		}
		for i, field := range r.fields {
			if field = bytes.TrimSpace(field); len(field) > 0 {
				cells[i] = append(cells[i], field)
			}
		}
	}
	c.exported = o.isExport(names)
	if err := c.findTimes(o, cells, listed); err != nil {
		return nil, err
	}
	for _, cell := range c.joinedCells(cells) {
		if _, err := c.form.parse(cell); errors.Is(err, errRange) {
			c.far++
		}
	}
	c.form.last = 0
	named := func(option, name string) (int, error) {
		i := slices.Index(names, name)
		if i < 0 {
			return 0, fmt.Errorf("has no column %q for %s: its columns are %s", name, option, listed)
		}
		return i, nil
	}
	for _, name := range o.metricColumns(names) {
		i, err := named("--metric-column", name)
		if err != nil {
			return nil, err
		}
		c.metric = append(c.metric, i)
	}
	for _, name := range o.LabelColumns {
		i, err := named("--label-column", name)
		if err != nil {
			return nil, err
		}
		c.labels = append(c.labels, i)
	}
	if len(c.labels) > 0 && o.ResourceColumn != "" {
		return nil, errors.New("cannot be series with labels and belong to resources: leave out --resource-column")
	}
	if o.ResourceColumn != "" {
		var err error
		if c.resource, err = named("--resource-column", o.ResourceColumn); err != nil {
			return nil, err
		}
	}
	if err := c.findValues(o, cells); err != nil {
		return nil, err
	}
	switch {
	case len(c.values) == 0:
		return nil, fmt.Errorf("has no column of values: its columns are %s", listed)
	case len(c.values) > 1 && o.Metric != "":
		return nil, fmt.Errorf("has %d columns of values, which cannot all be metric %s", len(c.values), o.Metric)
	case len(c.values) == 1 && o.Metric != "":
		c.values[0].name = o.Metric
	case len(c.values) == 1 && len(c.metric) > 0:
		c.values[0].name = ""
	case c.exported:
	case len(c.values) == 1 && file != "-":
		c.values[0].name = metricName(stem(file))
	}
	seen := make(map[string]bool)
	for _, value := range c.values {
		if seen[value.name] {
			return nil, fmt.Errorf("has two columns for metric %s: leave both out by --ignore '%s', or say --no-header if the "+
				"first line is no header", value.name, c.names[value.index])
		}
		seen[value.name] = true
	}
	return c, c.requireOneSeries(sample)
}

// exportHeader has the columns of gnocco export csv. Its values come last.
var exportHeader = []string{"timestamp", "resource", "metric", "unit", "archive_policy", "value"}

// isExport reports whether the columns are those of an export, and the options say nothing else of metrics.
func (o *Options) isExport(names []string) bool {
	return slices.Equal(names, exportHeader) && len(o.MetricColumns) == 0 && len(o.LabelColumns) == 0 &&
		o.ResourceColumn == "" && o.Metric == "" && !o.NoHeader
}

// stem is a file's name without its folders and endings, also that of a compressed one.
func stem(file string) string {
	base := filepath.Base(file)
	switch ext := filepath.Ext(base); ext {
	case ".gz", ".zst", ".bz2", ".xz":
		base = strings.TrimSuffix(base, ext)
	}
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// metricColumns returns the columns that name metrics: the user's, or those of InfluxDB's annotated CSV.
func (o *Options) metricColumns(names []string) []string {
	has := func(name string) bool { return slices.Contains(names, name) }
	if len(o.MetricColumns) > 0 || !has("_time") || !has("_value") || !has("_field") {
		return o.MetricColumns
	}
	var all []string
	for _, name := range names {
		switch {
		case name == "_measurement" || name == "_field":
		case name == "" || name[0] == '_' || name == "result" || name == "table" || slices.Contains(o.Ignore, name):
			continue
		}
		all = append(all, name) // a tag
	}
	slices.SortStableFunc(all, func(a, b string) int { return influxOrder(a) - influxOrder(b) })
	return all
}

// influxOrder puts the measurement first, then the field, then tags.
func influxOrder(name string) int {
	return cmp.Or(map[string]int{"_measurement": 1, "_field": 2}[name], 3)
}

// findTimes finds the column of times, and their form.
func (c *columns) findTimes(o *Options, cells [][][]byte, listed string) error {
	switch wanted := o.timestampColumns(); {
	case len(wanted) > 0:
		for _, name := range wanted {
			i := slices.Index(c.names, name)
			if i < 0 {
				return fmt.Errorf("has no column %q: its columns are %s", name, listed)
			}
			c.times = append(c.times, i)
		}
	default:
		var err error
		if c.times, err = guessTimes(c.names, cells, o); err != nil {
			return err
		}
		if c.times == nil {
			if i := slices.IndexFunc(cells, func(column [][]byte) bool { return allMatch(column, isYear) }); i >= 0 {
				return fmt.Errorf("has no column of times: its columns are %s; if %s holds years, say --timestamp-column '%[2]s' "+
					"--time-format %%Y", listed, c.names[i])
			}
			return fmt.Errorf("has no column of times: its columns are %s (see --timestamp-column)", listed)
		}
	}
	sample := c.joinedCells(cells)
	var err error
	if o.TimeFormat != "" {
		c.form, err = namedTimeForm(o.TimeFormat, o.zone)
		return err
	}
	fit := 0
	if len(c.times) > 1 {
		var names []string
		for _, i := range c.times {
			names = append(names, c.names[i])
		}
		if c.form, fit = calendarForm(names, sample, o.zone); fit > 0 {
			return nil
		}
	}
	if c.form, fit, err = timeFormOf(c.names[c.times[0]], sample, o.zone,
		o.TimestampColumn != "" || c.times[0] == namedTimes(c.names), o.TimestampColumn != ""); err != nil {
		return fmt.Errorf("column %s: %w", c.timeNames(), err)
	}
	if fit == 0 && len(sample) > 0 {
		return fmt.Errorf("column %s: %q is no known form of a time: name it by --time-format", c.timeNames(), sample[0])
	}
	return nil
}

// joinedCells returns the cells of times, those of several columns with a blank between.
func (c *columns) joinedCells(cells [][][]byte) [][]byte {
	joined := cells[c.times[0]]
	for _, i := range c.times[1:] {
		var longer [][]byte
		for j := range min(len(joined), len(cells[i])) {
			longer = append(longer, slices.Concat(joined[j], []byte{' '}, cells[i][j]))
		}
		joined = longer
	}
	return joined
}

func (c *columns) timeNames() string {
	var names []string
	for _, i := range c.times {
		names = append(names, c.names[i])
	}
	return strings.Join(names, " and ")
}

// timestampColumns returns the names that TimestampColumn holds, with commas between.
func (o *Options) timestampColumns() []string {
	if o.TimestampColumn == "" {
		return nil
	}
	return strings.Split(o.TimestampColumn, ",")
}

// guessTimes returns the column in which most cells are times. Of columns with equally many, those with times of day
// come before those of dates alone; then the first with the name of a column of times, then the first. A column of
// dates takes one of times of day to it.
func guessTimes(names []string, cells [][][]byte, o *Options) ([]int, error) {
	named := namedTimes(names)
	var doubt error
	empty := true
	best, most := -1, 0
	dates := false // best holds dates alone
	for i := range names {
		empty = empty && len(cells[i]) == 0
		if slices.Contains(o.Ignore, names[i]) {
			continue
		}
		sample := cells[i][:min(len(cells[i]), 100)]
		times := 0
		if o.TimeFormat != "" {
			if form, err := namedTimeForm(o.TimeFormat, nil); err == nil {
				times = form.fits(sample)
			}
		} else {
			var err error
			if _, times, err = timeFormOf(names[i], sample, nil, i == named, false); err != nil && doubt == nil {
				doubt = fmt.Errorf("column %s: %w", names[i], err)
			}
		}
		onlyDates := allMatch(sample, isDate)
		if times > most || times == most && times > 0 && (dates && !onlyDates || dates == onlyDates && i == named) {
			best, most, dates = i, times, onlyDates
		}
	}
	if best < 0 && empty {
		return []int{max(named, 0)}, nil
	}
	if best < 0 {
		return nil, doubt
	}
	if clock := clockColumn(cells); clock >= 0 && dates {
		return []int{best, clock}, nil
	}
	if strings.EqualFold(names[best], "year") {
		return append([]int{best}, partsOfYear(names)...), nil
	}
	return []int{best}, nil
}

// partsOfYear returns the column of quarters beside one of years, or those of months, days and so on.
func partsOfYear(names []string) (parts []int) {
	called := func(name string) int {
		return slices.IndexFunc(names, func(other string) bool { return strings.EqualFold(other, name) })
	}
	if i := called("quarter"); i >= 0 {
		return []int{i}
	}
	for _, part := range calendar[1:] {
		i := called(part.name)
		if i < 0 {
			break
		}
		parts = append(parts, i)
	}
	return parts
}

// isYear reports whether a cell may be a year of our time.
func isYear(cell []byte) bool { return len(cell) == 4 && view(cell) >= "1900" && view(cell) <= "2100" }

// namedTimes returns the first column with the name of a column of times, -1 for none.
func namedTimes(names []string) int {
	if i := slices.Index(names, "_time"); i >= 0 {
		return i
	}
	return correlate.TimestampColumn(names)
}

// clockColumn returns the first column whose cells are times of day, -1 for none.
func clockColumn(cells [][][]byte) int {
	return slices.IndexFunc(cells, func(column [][]byte) bool { return allMatch(column, isClock) })
}

func allMatch(cells [][]byte, is func([]byte) bool) bool {
	return len(cells) > 0 && !slices.ContainsFunc(cells, func(cell []byte) bool { return !is(cell) })
}

func isClock(cell []byte) bool {
	for _, layout := range clockLayouts {
		f := timeForm{layout: "2006 " + layout}
		if _, err := f.parse(append([]byte("2026 "), cell...)); err == nil && bytes.IndexByte(cell, ':') > 0 {
			return true
		}
	}
	return false
}

// isDate reports whether a cell that may be a time is a date, without a time of day.
func isDate(cell []byte) bool {
	return len(cell) <= len("September 10, 2026") && bytes.ContainsAny(cell, "-/. ") &&
		bytes.IndexByte(cell, ':') < 0
}

// findValues finds the columns of values and the forms of their numbers.
func (c *columns) findValues(o *Options, cells [][][]byte) error {
	influx := len(o.MetricColumns) == 0 && len(c.metric) > 0
	for i, name := range c.names {
		switch {
		case slices.Contains(slices.Concat(c.times, c.metric, c.labels), i) || i == c.resource:
		case c.exported && name != exportHeader[len(exportHeader)-1]:
		case name == "":
			c.nameless++
		case slices.Contains(o.Ignore, name):
			c.leftOut = append(c.leftOut, name)
		case influx && name != "_value":
		default:
			form, err := numberFormOf(cells[i], o.Decimal)
			if errors.Is(err, errNoNumbers) {
				c.text = append(c.text, name)
				continue
			}
			if err != nil {
				return fmt.Errorf("column %s: %w", name, err)
			}
			c.values = append(c.values, valueColumn{i, metricName(name), form})
		}
	}
	return nil
}

// requireOneSeries refuses a file whose rows of one time in one metric differ in a column of text: they belong to
// several metrics.
func (c *columns) requireOneSeries(sample []record) error {
	if len(c.text) == 0 {
		return nil
	}
	type timeOfMetric struct {
		time   carbonara.Timestamp
		metric string
	}
	first := make(map[timeOfMetric]record)
	differ := make(map[string]int)
	for _, r := range sample {
		if len(r.fields) != c.fields {
			continue
		}
		t, err := c.time(r)
		if err != nil {
			continue
		}
		key := timeOfMetric{t, string(c.appendKey(nil, r))}
		other, ok := first[key]
		if !ok {
			first[key] = r
			continue
		}
		for _, name := range c.text {
			if i := slices.Index(c.names, name); !bytes.Equal(other.fields[i], r.fields[i]) {
				differ[name]++
			}
		}
	}
	for _, name := range c.text {
		if differ[name]*10 > len(sample) {
			also := ""
			if len(c.metric) > 0 || len(c.labels) > 0 || c.resource >= 0 {
				also = "also "
			}
			return fmt.Errorf("has rows of one time that differ in column %s: %sname it by --metric-column, "+
				"--resource-column or --label-column, or leave it out by --ignore", name, also)
		}
	}
	return nil
}

// appendKey appends the cells that say to which metrics a record belongs.
func (c *columns) appendKey(key []byte, r record) []byte {
	for _, i := range c.metric {
		key = append(append(key, bytes.TrimSpace(r.fields[i])...), 0)
	}
	for _, i := range c.labels {
		key = append(append(key, bytes.TrimSpace(r.fields[i])...), 0)
	}
	if c.resource >= 0 {
		key = append(key, bytes.TrimSpace(r.fields[c.resource])...)
	}
	if c.exported {
		key = append(append(append(key, r.fields[1]...), 0), r.fields[2]...)
	}
	return key
}

// time returns the time of a record.
func (c *columns) time(r record) (carbonara.Timestamp, error) {
	text := bytes.TrimSpace(r.fields[c.times[0]])
	if len(c.times) > 1 {
		c.joined = append(c.joined[:0], text...)
		for _, i := range c.times[1:] {
			c.joined = append(append(c.joined, ' '), bytes.TrimSpace(r.fields[i])...)
		}
		text = c.joined
	}
	return c.form.parse(text)
}

// namesOf returns the names of columns, from the header or as numbers.
func (o *Options) namesOf(header [][]byte, above [][]byte) []string {
	names := make([]string, len(header))
	for i, field := range header {
		names[i] = strings.TrimSpace(string(field))
		if o.NoHeader {
			names[i] = strconv.Itoa(i + 1)
		}
	}
	if len(above) != len(header) || o.NoHeader || unique(names) {
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

// metricName returns a name that the API accepts: without slashes.
func metricName(name string) string { return strings.ReplaceAll(name, "/", "_") }
