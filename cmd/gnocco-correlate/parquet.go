package main

import (
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"

	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/correlate/pairs"
)

// formats are the names that newWriter takes.
const formats = pairs.Formats + ", or parquet"

// newWriter is pairs.New for one format more.
func newWriter(format string, out io.Writer, names []string, lags bool) (pairs.Writer, error) {
	if format == "parquet" {
		return newParquetWriter(out, names), nil
	}
	w, err := pairs.New(format, out, names, lags)
	if err != nil {
		return nil, fmt.Errorf("--format: %w, or parquet", err)
	}
	return w, nil
}

// row is a pair in Parquet. R is null where there is no coefficient.
type row struct {
	I       int32    `parquet:"i"`
	J       int32    `parquet:"j"`
	X       string   `parquet:"x,dict"`
	Y       string   `parquet:"y,dict"`
	R       *float64 `parquet:"r,optional"`
	Lag     int32    `parquet:"lag"`
	Overlap int64    `parquet:"overlap"`
}

// rowsAtOnce are gathered before they are encoded; rowsOfGroup bounds the memory of a row group.
const (
	rowsAtOnce  = 4096
	rowsOfGroup = 1 << 20
)

// parquetWriter writes rows with the names of columns as a dictionary.
type parquetWriter struct {
	out   *parquet.GenericWriter[row]
	names []string
	rows  []row
	r     [rowsAtOnce]float64
}

func newParquetWriter(out io.Writer, names []string) *parquetWriter {
	return &parquetWriter{
		out: parquet.NewGenericWriter[row](out,
			parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(rowsOfGroup)),
		names: names,
		rows:  make([]row, 0, rowsAtOnce),
	}
}

// Write implements pairs.Writer.
func (w *parquetWriter) Write(p correlate.Pair) error {
	next := row{I: int32(p.I), J: int32(p.J), X: w.names[p.I], Y: w.names[p.J], Lag: int32(p.Lag), Overlap: p.Overlap}
	if !math.IsNaN(p.R) {
		r := &w.r[len(w.rows)]
		*r = p.R
		next.R = r
	}
	if w.rows = append(w.rows, next); len(w.rows) < rowsAtOnce {
		return nil
	}
	return w.flush()
}

func (w *parquetWriter) flush() error {
	_, err := w.out.Write(w.rows)
	w.rows = w.rows[:0]
	return err
}

// Close implements pairs.Writer.
func (w *parquetWriter) Close() error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.out.Close()
}
