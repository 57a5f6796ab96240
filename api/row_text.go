package api

import (
	"gnocco/carbonara"
	"gnocco/model"
)

// rowText writes the rows of a list, [timestamp, granularity, value], with commas between them. Each is the text of the one before, in
// which only what differs is written anew. The zero value is ready for the first label.
type rowText struct {
	head    []byte // of a row, up to the value
	stamp   model.TimestampText
	started bool
}

const rowStart = `, ["`

// label says what stands for the granularity in the rows that follow.
func (r *rowText) label(label []byte) {
	if r.head == nil {
		r.head = make([]byte, 0, 64)
	}
	r.head = model.AppendTimestamp(append(r.head[:0], rowStart...), 0)
	end := len(r.head)
	r.head = append(append(append(r.head, `", `...), label...), ", "...)
	r.stamp = model.NewTimestampText(r.head[len(rowStart):end], 0)
}

// append appends a row.
func (r *rowText) append(body []byte, t carbonara.Timestamp, v float64) []byte {
	r.stamp.Set(t)
	head := r.head
	if !r.started {
		head, r.started = head[len(", "):], true
	}
	return append(appendFloat(append(body, head...), v), ']')
}
