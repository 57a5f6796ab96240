package csvimport

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/model"
)

// columns says what the fields of a file's records are.
type columns struct {
	fields    int  // of each record
	timestamp int  // index of the field
	guessed   bool // Options.TimestampColumn does not name it
	values    []valueColumn
	nameless  int      // columns without a name, left out
	leftOut   []string // columns left out by name
}

// valueColumn is a field that holds a metric's values.
type valueColumn struct {
	index int
	name  string // of the metric
}

// newColumns reads a file's first record: its header, or without one, its first measures. Sample holds the first
// records of measures.
func (o *Options) newColumns(file string, first [][]byte, sample []record) (*columns, error) {
	names := make([]string, len(first))
	for i, field := range first {
		names[i] = strings.TrimSpace(string(field))
		if o.NoHeader {
			names[i] = strconv.Itoa(i + 1)
		}
	}
	names[0] = strings.TrimPrefix(names[0], "\ufeff")
	listed := strings.Join(names, ", ")
	c := &columns{fields: len(names), guessed: o.TimestampColumn == ""}
	if c.guessed {
		c.timestamp = guessTimestampColumn(names, sample)
	} else {
		c.timestamp = slices.Index(names, o.TimestampColumn)
	}
	switch {
	case c.timestamp < 0 && c.guessed:
		return nil, fmt.Errorf("has no column of times: its columns are %s (see --timestamp-column)", listed)
	case c.timestamp < 0:
		return nil, fmt.Errorf("has no column %q: its columns are %s", o.TimestampColumn, listed)
	}
	if _, err := model.ParseTimestamp(names[c.timestamp], 0); err == nil && !o.NoHeader {
		return nil, fmt.Errorf("has no header: its first line holds the timestamp %s (see --no-header)",
			names[c.timestamp])
	}
	for i, name := range names {
		switch {
		case i == c.timestamp:
		case name == "":
			c.nameless++
		case slices.Contains(o.Ignore, name):
			c.leftOut = append(c.leftOut, name)
		default:
			c.values = append(c.values, valueColumn{i, metricName(name)})
		}
	}
	switch {
	case len(c.values) == 0:
		return nil, fmt.Errorf("has no column of values: its columns are %s", listed)
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

// guessTimestampColumn returns the index of the column in which most cells of the sample are times, -1 if there are
// none. Of columns with equally many, the first with the name of a column of times counts, else the first. The name
// alone decides where the sample is empty.
func guessTimestampColumn(names []string, sample []record) int {
	named := correlate.TimestampColumn(names)
	if len(sample) == 0 {
		return max(named, 0)
	}
	best, most := -1, 0
	for i := range names {
		times := 0
		for _, r := range sample {
			if i < len(r.fields) {
				if _, err := parseTimestamp(bytes.TrimSpace(r.fields[i]), true); err == nil {
					times++
				}
			}
		}
		if times > most || times == most && times > 0 && i == named {
			best, most = i, times
		}
	}
	return best
}

// metricName returns a name that the API accepts: without slashes.
func metricName(name string) string { return strings.ReplaceAll(name, "/", "_") }
