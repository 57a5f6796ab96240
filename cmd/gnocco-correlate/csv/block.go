package csv

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/gnocco-db/gnocco/cmd/gnocco-import/csv"
	"github.com/gnocco-db/gnocco/internal/counted"
)

// maxTold is how many bad cells of a block are told one by one.
const maxTold = 100

// block is a piece of the file on its way: text, then columns.
type block struct {
	text   []byte
	line   int           // of its first byte
	parsed chan struct{} // gets a value when columns are ready

	reader  *csv.Reader
	values  []float64
	columns [][]float64
	rows    int
	ended   bool // at the header of other records
	bad     int64
	told    []BadCell // the first of them
}

// parse fills columns from text. It needs nothing but the layout, which is not written to.
func (b *block) parse(l *layout) {
	most := l.reader.Lines(b.text) + 1
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
	if b.reader == nil {
		b.reader = l.reader.BlockReader(nil, 0)
	}
	b.reader.Reset(b.text, b.line)
	for {
		fields, line, err := b.reader.Read()
		if err == io.EOF {
			break
		}
		var named []int // the fields that are the names of their columns
		for i, field := range fields[:min(len(fields), len(l.columns))] {
			j := l.columns[i]
			if j < 0 {
				continue
			}
			v, ok := parseNumber(field)
			if !ok || !l.plain && l.forms[j] != (csv.NumberForm{}) {
				var name bool
				v, name = b.odd(l, line, i, field)
				if name {
					named = append(named, i)
				}
			}
			b.values[j*stride+b.rows] = v
		}
		if len(named) > 0 && len(named) == len(l.names) { // the header, as in files that were joined
			continue
		}
		for _, i := range named {
			b.tellField(l, line, i, fields[i])
		}
		if err != nil || len(fields) != len(l.columns) {
			reason := fmt.Sprintf("has %s, not %d", counted.Of(len(fields), "field"), len(l.columns))
			if err != nil {
				reason = err.(*csv.LineError).Reason
			}
			b.tell(BadCell{Line: line, Column: min(len(fields), len(l.columns)) + 1, Reason: reason})
			for _, j := range l.columns[min(len(fields), len(l.columns)):] {
				if j >= 0 {
					b.values[j*stride+b.rows] = math.NaN()
				}
			}
		}
		b.rows++
	}
	if b.ended = b.reader.NextHeader != nil; b.ended {
		_, line := b.reader.Position()
		b.tell(BadCell{Line: line - 1, Reason: "is the header of other columns: the file is not read from here on"})
	}
	if b.columns == nil {
		b.columns = make([][]float64, len(l.names))
	}
	for j := range b.columns {
		b.columns[j] = b.values[j*stride : j*stride+b.rows]
	}
}

// odd returns the value of a field that is no plain number: one of another form, or missing, or bad. It may also be the
// column's name.
func (b *block) odd(l *layout, line, column int, field []byte) (v float64, name bool) {
	plain := bytes.TrimSpace(field)
	if csv.IsGap(plain) {
		return math.NaN(), false
	}
	j := l.columns[column]
	if v, ok := l.forms[j].Parse(plain); ok && !math.IsInf(v, 0) {
		return v, false
	}
	if name = string(plain) == l.names[j]; !name {
		b.tellField(l, line, column, field)
	}
	return math.NaN(), name
}

func (b *block) tellField(l *layout, line, column int, field []byte) {
	b.tell(BadCell{Line: line, Column: column + 1, Name: l.names[l.columns[column]],
		Text: string(field[:min(len(field), 40)]), Reason: "is not a number"})
}

func (b *block) tell(cell BadCell) {
	b.bad++
	if len(b.told) < maxTold {
		b.told = append(b.told, cell)
	}
}
