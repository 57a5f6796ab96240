package api

import (
	"encoding/json"
	"net/http"

	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/query/aggregates"
)

// rowWriter writes results of aggregates. Lines have columns for the attributes of groups, and of operations the
// resource, the metric and the aggregation of a series that is not aggregated.
type rowWriter struct {
	text.Writer
	header  http.Header
	values  []float64 // scratch
	groupBy []string
	group   []any // values of the attributes
}

func newRowWriter(w http.ResponseWriter, r *http.Request, columns ...string) *rowWriter {
	o := &rowWriter{Writer: text.NewWriter(w, nil), header: w.Header(), groupBy: parseGroupBy(r.URL.Query())}
	names := make([]string, len(o.groupBy), len(o.groupBy)+len(columns))
	for i, attribute := range o.groupBy {
		names[i] = "group_" + attribute
	}
	useAccepted(&o.Writer, w, r, append(names, columns...)...)
	return o
}

// seriesColumns are the columns of the results of operations.
var seriesColumns = []string{"resource", "metric", "aggregation"}

// startGroup begins a group, whose attributes are shown in JSON.
func (o *rowWriter) startGroup(shown []byte) {
	o.Raw(`{"group": `)
	o.Raw(string(shown))
	o.Raw(`, "measures": `)
	if !o.Lines() {
		return
	}
	var values map[string]any
	if err := json.Unmarshal(shown, &values); err != nil {
		o.Fail(err)
	}
	o.group = o.group[:0]
	for _, attribute := range o.groupBy {
		o.group = append(o.group, values[attribute])
	}
	o.Columns(o.group...)
}

// startSeries sets the seriesColumns of the next rows, all nil if these are aggregated.
func (o *rowWriter) startSeries(columns ...any) {
	if o.Lines() {
		o.Columns(append(o.group[:len(o.group):len(o.group)], columns...)...)
	}
}

// warnOfSketches says, before the first row, that percentiles are approximate.
func (o *rowWriter) warnOfSketches(approximate bool) {
	if approximate {
		o.header.Set("Warning", ofSketches)
	}
}

// column writes the rows of column j of a result.
func (o *rowWriter) column(result *aggregates.Result, j int) {
	if o.Err() != nil {
		return
	}
	var err error
	if o.values, err = result.Column(j, o.values); err != nil {
		o.Fail(err)
		return
	}
	o.Rows(result.Times, o.values, result.Shows)
}

// aggregated writes the rows that an aggregation across metrics gave. label stands for a granularity that is no
// timespan.
func (o *rowWriter) aggregated(results []*aggregates.Result, label []byte) {
	o.StartRows()
	for _, result := range results {
		if result.Columns() > 0 {
			o.Label(granularityLabel(result, label))
			o.column(result, 0)
		}
	}
	o.EndRows()
}

func granularityLabel(result *aggregates.Result, label []byte) []byte {
	if result.Granularity == 0 {
		return label
	}
	return text.AppendFloat(nil, result.Granularity.Seconds())
}

// results writes what an operation gave: {"aggregated": rows}, else for each metric {its ID: {aggregation: rows}}, or
// {its resource's ID: {its name: {aggregation: rows}}}.
func (o *rowWriter) results(found []query.Operand, results []*aggregates.Result) {
	if results[0].Aggregated {
		o.Raw(`{"aggregated": `)
		o.startSeries(nil, nil, nil)
		o.aggregated(results, nil)
		o.Raw("}")
		return
	}
	tree := newNameTree()
	for series := range found {
		f := &found[series]
		path := []string{f.Name(), f.Aggregation}
		if f.Resource != nil {
			path = []string{f.Resource.ID.String(), f.Metric.Name, f.Aggregation}
		}
		tree.add(path, series)
	}
	columns := make([][]int, len(results)) // of each result: by series, column+1
	for i, result := range results {
		columns[i] = make([]int, len(found))
		for j := range result.Columns() {
			columns[i][result.Series(j)] = j + 1
		}
	}
	o.tree(tree, found, results, columns)
}

// nameTree is an object in an answer, its members in the order in which they were added.
type nameTree struct {
	names    []string
	children map[string]*nameTree
	series   []int // of a leaf: the series that are shown there
}

func newNameTree() *nameTree { return &nameTree{children: map[string]*nameTree{}} }

func (t *nameTree) add(path []string, series int) {
	for _, name := range path {
		child, ok := t.children[name]
		if !ok {
			child = newNameTree()
			t.children[name] = child
			t.names = append(t.names, name)
		}
		t = child
	}
	t.series = append(t.series, series)
}

func (o *rowWriter) tree(t *nameTree, found []query.Operand, results []*aggregates.Result, columns [][]int) {
	if len(t.series) == 0 {
		o.Raw("{")
		for i, name := range t.names {
			if i > 0 {
				o.Raw(", ")
			}
			o.JSON(name)
			o.Raw(": ")
			o.tree(t.children[name], found, results, columns)
		}
		o.Raw("}")
		return
	}
	if f := &found[t.series[0]]; f.Resource != nil {
		o.startSeries(f.Resource.OriginalID, f.Metric.Name, f.Aggregation)
	} else {
		o.startSeries(nil, f.Name(), f.Aggregation)
	}
	o.StartRows()
	for i, result := range results {
		o.Label(granularityLabel(result, nil))
		for _, series := range t.series {
			if column := columns[i][series]; column > 0 {
				o.column(result, column-1)
			}
		}
	}
	o.EndRows()
}
