package csvimport

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/csv"
	"github.com/gnocco-db/gnocco/internal/counted"
)

// columns says what the fields of a file's records are.
type columns struct {
	fields     int // of each record
	names      []string
	times      csv.Times
	metric     []int // the fields that name the metric of a record
	resource   int   // the field that names its resource, or -1
	labels     []int // the fields that hold its labels
	exported   bool  // columns are those of an export
	values     []valueColumn
	nameless   int      // columns without a name, left out
	text       []string // columns left out, since no cell is a number
	ids        []string // of these, columns of whole numbers that identify something
	likelyGaps []string // columns with numbers that often stand for no value
	renamed    []string // metrics whose columns are called otherwise
	descending bool     // most times are before those of the record before
	leftOut    []string // columns left out by name
}

// valueColumn is a field that holds a metric's values.
type valueColumn struct {
	index int
	name  string // of the metric, or of the last part of its name
	form  csv.NumberForm
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
	var err error
	if c.times, err = csv.FindTimes(names, cells, csv.TimeOptions{Column: o.TimestampColumn, Format: o.TimeFormat,
		Zone: o.zone, Ignore: o.Ignore}); err != nil {
		return nil, err
	}
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
		return nil, fmt.Errorf("has %s of values, which cannot all be metric %s", counted.Of(len(c.values), "column"), o.Metric)
	case len(c.values) == 1 && o.Metric != "":
		c.values[0].name = o.Metric
	case len(c.values) == 1 && len(c.metric) > 0:
		c.values[0].name = ""
	case c.exported:
	case len(c.values) == 1 && file != "-":
		c.values[0].name = metricName(stem(file))
	}
	if err := c.nameApart(); err != nil {
		return nil, err
	}
	return c, c.requireOneSeries(sample)
}

// nameApart numbers the metrics of columns with the same name.
func (c *columns) nameApart() error {
	seen := make(map[string]bool)
	for j := range c.values {
		value := &c.values[j]
		name, column := value.name, c.names[value.index]
		if seen[name] && column != "" && column[0] >= '0' && column[0] <= '9' {
			return fmt.Errorf("has two columns called %s: say --no-header if the first line is no header", column)
		}
		for n := 2; seen[value.name]; n++ {
			value.name = fmt.Sprintf("%s.%d", name, n)
		}
		seen[value.name] = true
		if len(c.values) > 1 && value.name != column {
			c.renamed = append(c.renamed, fmt.Sprintf("%s (column %d, %s)", value.name, value.index+1, column))
		}
	}
	return nil
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

// findValues finds the columns of values and the forms of their numbers.
func (c *columns) findValues(o *Options, cells [][][]byte) error {
	influx := len(o.MetricColumns) == 0 && len(c.metric) > 0
	var names []string
	var samples [][][]byte
	var forms []csv.NumberForm
	for i, name := range c.names {
		switch {
		case slices.Contains(slices.Concat(c.times.Columns, c.metric, c.labels), i) || i == c.resource:
		case c.exported && name != exportHeader[len(exportHeader)-1]:
		case name == "":
			c.nameless++
		case slices.Contains(o.Ignore, name):
			c.leftOut = append(c.leftOut, name)
		case influx && name != "_value":
		case len(o.MetricColumns) == 0 && csv.IsIdentifier(name, cells[i]) && len(c.names) > len(c.times.Columns)+1:
			c.text, c.ids = append(c.text, name), append(c.ids, name)
		default:
			form, err := csv.NumberFormOf(cells[i], o.Decimal)
			if errors.Is(err, csv.ErrNoNumbers) {
				c.text = append(c.text, name)
				continue
			}
			if err != nil {
				return fmt.Errorf("column %s: %w", name, err)
			}
			c.values = append(c.values, valueColumn{i, metricName(name), form})
			names, samples, forms = append(names, name), append(samples, cells[i]), append(forms, form)
			for _, sign := range gapSigns {
				n := 0
				for _, cell := range cells[i] {
					if string(cell) == sign && !slices.Contains(o.Gaps, sign) {
						n++
					}
				}
				if n > 0 && n < len(cells[i]) {
					c.likelyGaps = append(c.likelyGaps, fmt.Sprintf("%s (%s %s)", name, counted.Of(n, "time"), sign))
				}
			}
		}
	}
	return csv.CheckPoints(names, samples, forms)
}

// requireOneSeries refuses a file whose rows of one time in one metric differ in a column of text: they belong to
// several metrics.
func (c *columns) requireOneSeries(sample []record) error {
	type timeOfMetric struct {
		time   carbonara.Timestamp
		metric string
	}
	first := make(map[timeOfMetric]record)
	differ := make(map[string]int)
	before, later, earlier := carbonara.Timestamp(0), 0, 0
	for _, r := range sample {
		if len(r.fields) != c.fields {
			continue
		}
		t, _, err := c.times.Parse(r.fields)
		if err != nil {
			continue
		}
		if t > before {
			later++
		} else if t < before {
			earlier++
		}
		before = t
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
	c.descending = earlier > later
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

// gapSigns are numbers that loggers and archives of weather write where they have none.
var gapSigns = []string{"-99", "-99.9", "-999", "-999.0", "-999.9", "-999.99", "-9999", "-9999.0", "-9999.9", "-99999",
	"-6999", "-7999", "9999", "9999.9", "99999", "999999"}

// metricName returns a name that the API accepts: without slashes.
func metricName(name string) string { return strings.ReplaceAll(name, "/", "_") }
