package text

import (
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// rows are the rows of a list, [timestamp, granularity, value], with commas between them. The text up to the value is
// kept from row to row, and only the part of the timestamp that changes is written anew.
type rows struct {
	head    []byte // of a row, up to the value
	end     int    // of the timestamp in head
	stamp   model.TimestampText
	started bool // the list has a row
}

const rowStart = `, ["`

// label sets the text that stands for the granularity in the rows that follow.
func (r *rows) label(label []byte) {
	if r.head == nil {
		r.head = make([]byte, 0, 64)
	}
	r.head = model.AppendTimestamp(append(r.head[:0], rowStart...), 0)
	r.end = len(r.head)
	r.head = append(append(append(r.head, `", `...), label...), ", "...)
	r.stamp = model.NewTimestampText(r.head[len(rowStart):r.end], 0)
}

// append appends a row.
func (r *rows) append(dst []byte, t carbonara.Timestamp, v float64) []byte {
	r.stamp.Set(t)
	head, end := r.head, r.end
	if !r.started {
		head, end, r.started = head[len(", "):], end-len(", "), true
	}
	if t%1e9 == 0 {
		dst = append(dst, head...)
	} else {
		dst = model.AppendTimestamp(append(dst, head[:end-r.stamp.Len()]...), t)
		dst = append(dst, head[end:]...)
	}
	return append(AppendFloat(dst, v), ']')
}
