package api

import (
	"net/http"
	"strconv"

	"gnocco/api/aggregates"
)

// rowWriter writes an answer of many rows piece by piece. Nothing is sent before the first flushSize bytes: until then
// its error can still be answered. After an error it writes nothing more.
type rowWriter struct {
	w       http.ResponseWriter
	body    []byte
	flushed bool
	err     error
	values  []float64
}

func (o *rowWriter) raw(text string) { o.body = append(o.body, text...) }

func (o *rowWriter) json(v any) {
	o.body = appendJSON(o.body, v)
	o.flush(flushSize)
}

// flush sends what has gathered, if that is least bytes.
func (o *rowWriter) flush(least int) {
	if len(o.body) < least || o.err != nil {
		return
	}
	if !o.flushed {
		o.w.Header()["Content-Type"] = jsonContentType
		o.flushed = true
	}
	_, o.err = o.w.Write(o.body)
	o.body = o.body[:0]
}

// finish sends the rest. An error once a part was sent means that the client is gone, or gave up: there is nobody to tell.
func (o *rowWriter) finish() error {
	if o.flushed {
		o.flush(1)
		return nil
	}
	if o.err != nil {
		return o.err
	}
	o.w.Header()["Content-Type"] = jsonContentType
	o.w.Header()["Content-Length"] = []string{strconv.Itoa(len(o.body))}
	_, _ = o.w.Write(o.body)
	return nil
}

// column writes the rows of column j of a result.
func (o *rowWriter) column(result *aggregates.Result, j int, rows *rowText) {
	if o.err != nil {
		return
	}
	if o.values, o.err = result.Column(j, o.values); o.err != nil {
		return
	}
	for i, v := range o.values {
		if !result.Shows(v) {
			continue
		}
		o.body = rows.append(o.body, result.Times[i], v)
		if len(o.body) >= flushSize {
			if o.flush(flushSize); o.err != nil {
				return
			}
		}
	}
}

// aggregated writes the rows of what an aggregation across metrics gave. label stands for a granularity that is no
// timespan.
func (o *rowWriter) aggregated(results []*aggregates.Result, label []byte) {
	o.raw("[")
	var rows rowText
	for _, result := range results {
		if result.Columns() > 0 {
			rows.label(granularityLabel(result, label))
			o.column(result, 0, &rows)
		}
	}
	o.raw("]")
}

func granularityLabel(result *aggregates.Result, label []byte) []byte {
	if result.Granularity == 0 {
		return label
	}
	return appendFloat(nil, result.Granularity.Seconds())
}

// results writes what an operation gave: {"aggregated": rows}, else for each metric {its ID: {aggregation: rows}}, or
// {its resource's ID: {its name: {aggregation: rows}}}.
func (o *rowWriter) results(found []foundMetric, results []*aggregates.Result) {
	if results[0].Aggregated {
		o.raw(`{"aggregated": `)
		o.aggregated(results, nil)
		o.raw("}")
		return
	}
	tree := newNameTree()
	for series := range found {
		f := &found[series]
		path := []string{f.name(), f.aggregation}
		if f.resource != nil {
			path = []string{f.resource.ID.String(), f.metric.Name, f.aggregation}
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
	o.tree(tree, results, columns)
}

// nameTree is an object in an answer, its members in the order in which they were added.
type nameTree struct {
	names    []string
	children map[string]*nameTree
	series   []int // of a leaf: what is shown there
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

func (o *rowWriter) tree(t *nameTree, results []*aggregates.Result, columns [][]int) {
	if len(t.series) == 0 {
		o.raw("{")
		for i, name := range t.names {
			if i > 0 {
				o.raw(", ")
			}
			o.json(name)
			o.raw(": ")
			o.tree(t.children[name], results, columns)
		}
		o.raw("}")
		return
	}
	o.raw("[")
	var rows rowText
	for i, result := range results {
		rows.label(granularityLabel(result, nil))
		for _, series := range t.series {
			if column := columns[i][series]; column > 0 {
				o.column(result, column-1, &rows)
			}
		}
	}
	o.raw("]")
}
