package text

import (
	"strings"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// Form is how an answer writes its rows.
type Form struct {
	Type []string // Content-Type

	begin, end string // of all rows
	lines      bool   // the answer has nothing but rows, each with its columns
	row        string // begins a row; columns and the timestamp follow
	skipped    int    // bytes of row that the first one lacks
	stamp      string // before the timestamp
	label      string // between timestamp and granularity
	value      string // between granularity and value
	rowEnd     string
}

// The forms of rows. Lines of CSV and JSON are for programs that read one row after the other.
var (
	Lists = Form{Type: jsonType, begin: "[", end: "]", row: `, ["`, skipped: len(", "), label: `", `, value: ", ",
		rowEnd: "]"}
	CSV = Form{Type: []string{"text/csv; charset=utf-8"}, begin: "timestamp,granularity,value\n", lines: true,
		label: ",", value: ",", rowEnd: "\n"}
	JSONLines = Form{Type: []string{"application/x-ndjson"}, lines: true, row: "{", stamp: `"timestamp": "`,
		label: `", "granularity": `, value: `, "value": `, rowEnd: "}\n"}
)

// rows are the rows of an answer. The text up to the value is kept from row to row, and only the part of the timestamp
// that changes is written anew.
type rows struct {
	form    *Form
	names   []string // of the columns
	columns []byte   // their text in the rows of a series
	head    []byte   // of a row, up to the value
	end     int      // of the timestamp in head
	stamp   model.TimestampText
	started bool // there is a row
}

// label sets the text that stands for the granularity in the rows that follow.
func (r *rows) label(label []byte) {
	if r.head == nil {
		r.head = make([]byte, 0, 96)
	}
	r.head = append(append(append(r.head[:0], r.form.row...), r.columns...), r.form.stamp...)
	start := len(r.head)
	r.head = model.AppendTimestamp(r.head, 0)
	r.end = len(r.head)
	r.head = append(append(append(r.head, r.form.label...), label...), r.form.value...)
	r.stamp = model.NewTimestampText(r.head[start:r.end], 0)
}

// setColumns sets the values of the columns in the rows after the next label.
func (r *rows) setColumns(values []any) {
	r.columns = r.columns[:0]
	for i, value := range values {
		if r.form.row != "" {
			r.columns = append(AppendJSON(r.columns, r.names[i]), ": "...)
			r.columns = append(AppendJSON(r.columns, value), ", "...)
			continue
		}
		text, ok := value.(string)
		if !ok && value != nil {
			text = string(AppendJSON(nil, value))
		}
		if strings.ContainsAny(text, "\",\r\n") {
			text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
		}
		r.columns = append(append(r.columns, text...), ',')
	}
}

// append appends a row.
func (r *rows) append(dst []byte, t carbonara.Timestamp, v float64) []byte {
	whole := r.stamp.Set(t)
	head, end := r.head, r.end
	if !r.started {
		head, end, r.started = head[r.form.skipped:], end-r.form.skipped, true
	}
	if whole {
		dst = append(dst, head...)
	} else {
		dst = model.AppendTimestamp(append(dst, head[:end-r.stamp.Len()]...), t)
		dst = append(dst, head[end:]...)
	}
	return append(AppendFloat(dst, v), r.form.rowEnd...)
}
