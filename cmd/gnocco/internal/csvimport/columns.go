package csvimport

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gnocco/correlate/csv"
	"gnocco/model"
)

// columns says what the fields of a file's records are.
type columns struct {
	fields    int // of each record
	timestamp int // index of the field
	values    []valueColumn
}

// valueColumn is a field that holds a metric's values.
type valueColumn struct {
	index int
	name  string // of the metric
}

// newColumns reads a file's first record: its header, or without one, its first measures.
func (o *Options) newColumns(file string, record [][]byte) (*columns, error) {
	names := make([]string, len(record))
	for i, field := range record {
		names[i] = strings.TrimSpace(string(field))
		if o.NoHeader {
			names[i] = strconv.Itoa(i + 1)
		}
	}
	names[0] = strings.TrimPrefix(names[0], "\ufeff")
	c := &columns{fields: len(names), timestamp: o.timestampIndex(names)}
	if c.timestamp < 0 {
		return nil, fmt.Errorf("has no column %q: its columns are %s", o.TimestampColumn, strings.Join(names, ", "))
	}
	if _, err := model.ParseTimestamp(names[c.timestamp], 0); err == nil && !o.NoHeader {
		return nil, fmt.Errorf("has no header: its first line holds the timestamp %s (see --no-header)",
			names[c.timestamp])
	}
	for i, name := range names {
		if i == c.timestamp || slices.Contains(o.Ignore, name) {
			continue
		}
		if name == "" {
			return nil, fmt.Errorf("has no name for column %d", i+1)
		}
		c.values = append(c.values, valueColumn{i, metricName(name)})
	}
	switch {
	case len(c.values) == 0:
		return nil, fmt.Errorf("has no column of values: its columns are %s", strings.Join(names, ", "))
	case len(c.values) > 1 && o.Metric != "":
		return nil, fmt.Errorf("has %d columns of values, which cannot all be metric %s", len(c.values), o.Metric)
	case len(c.values) == 1 && o.Metric != "":
		c.values[0].name = o.Metric
	case len(c.values) == 1 && file != "-":
		base := filepath.Base(file)
		c.values[0].name = metricName(strings.TrimSuffix(base, filepath.Ext(base)))
	}
	seen := make(map[string]bool)
	for _, value := range c.values {
		if seen[value.name] {
			return nil, fmt.Errorf("has two columns for metric %s", value.name)
		}
		seen[value.name] = true
	}
	return c, nil
}

// timestampIndex returns which column holds timestamps, -1 for none.
func (o *Options) timestampIndex(names []string) int {
	if o.TimestampColumn != "" {
		return slices.Index(names, o.TimestampColumn)
	}
	return max(csv.TimestampColumn(names), 0)
}

// metricName returns a name that the API accepts: without slashes.
func metricName(name string) string { return strings.ReplaceAll(name, "/", "_") }
