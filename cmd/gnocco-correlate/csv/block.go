package csv

import (
	"bytes"
	"fmt"
	"math"
)

// maxTold is how many bad cells of a block are told one by one.
const maxTold = 100

// block is a piece of the file on its way: text, then columns.
type block struct {
	text   []byte
	line   int           // of its first byte
	parsed chan struct{} // gets a value when columns are ready

	values  []float64
	columns [][]float64
	rows    int
	bad     int64
	told    []BadCell // the first of them
}

// parse fills columns from text. It needs nothing but the layout, which is not written to.
func (b *block) parse(l *layout, comma byte) {
	most := bytes.Count(b.text, newline) + 1
	// One column after the other, each at another place of its memory page, so that caches hold the ends of all.
	stride := most + 8
	if stride%16 == 0 {
		stride += 8
	}
	if size := stride * len(l.names); cap(b.values) < size {
		b.values = make([]float64, size)
	} else {
		b.values = b.values[:size]
	}
	b.rows, b.bad, b.told = 0, 0, b.told[:0]
	s := scanner{text: b.text, comma: comma, line: b.line}
	for s.skipBlank(); len(s.text) > 0; s.skipBlank() {
		line := s.line
		at := b.rows
		b.rows++
		fields := 0
		for last := false; !last; fields++ {
			var field []byte
			field, last = s.field()
			if fields >= len(l.columns) {
				continue
			}
			j := l.columns[fields]
			if j < 0 {
				continue
			}
			v, ok := parseNumber(field)
			if !ok {
				v = b.odd(l, line, fields, field)
			}
			b.values[j*stride+at] = v
		}
		if fields != len(l.columns) {
			b.tell(BadCell{Line: line, Column: min(fields, len(l.columns)) + 1,
				Reason: fmt.Sprintf("has %d fields, not %d", fields, len(l.columns))})
			for _, j := range l.columns[min(fields, len(l.columns)):] {
				if j >= 0 {
					b.values[j*stride+at] = math.NaN()
				}
			}
		}
	}
	if b.columns == nil {
		b.columns = make([][]float64, len(l.names))
	}
	for j := range b.columns {
		b.columns[j] = b.values[j*stride : j*stride+b.rows]
	}
}

// odd returns the value of a field that is no plain number: one with blanks around it, or missing, or bad.
func (b *block) odd(l *layout, line, column int, field []byte) float64 {
	plain := trim(field)
	if v, ok := parseNumber(plain); ok {
		return v
	}
	if !isMissing(plain) {
		b.tell(BadCell{Line: line, Column: column + 1, Name: l.names[l.columns[column]],
			Text: string(field[:min(len(field), 40)]), Reason: "is not a number"})
	}
	return math.NaN()
}

func (b *block) tell(cell BadCell) {
	b.bad++
	if len(b.told) < maxTold {
		b.told = append(b.told, cell)
	}
}
