package main

import (
	"bytes"
	"math"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestParquet(t *testing.T) {
	type read struct {
		I       int32    `parquet:"i"`
		J       int32    `parquet:"j"`
		X       string   `parquet:"x"`
		Y       string   `parquet:"y"`
		R       *float64 `parquet:"r"`
		Lag     int32    `parquet:"lag"`
		Overlap int64    `parquet:"overlap"`
	}
	written := []correlate.Pair{{I: 0, J: 1, R: 0.1, Overlap: 10}, {I: 0, J: 2, R: math.NaN(), Overlap: 1},
		{I: 1, J: 2, R: -1, Lag: -3, Overlap: 7}}
	var out bytes.Buffer
	w, err := newWriter("parquet", &out, []string{"a", "b\"", "c,d"}, false)
	fatal.If(t, err)
	for _, p := range written {
		fatal.If(t, w.Write(p))
	}
	fatal.If(t, w.Close())
	file := out.Bytes()
	rows, err := parquet.Read[read](bytes.NewReader(file), int64(len(file)))
	if err != nil || len(rows) != len(written) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, r := range rows {
		p := written[i]
		got := r
		if int(got.I) != p.I || int(got.J) != p.J || int(got.Lag) != p.Lag || got.Overlap != p.Overlap ||
			(got.R == nil) != math.IsNaN(p.R) || got.R != nil && *got.R != p.R ||
			got.X != []string{"a", "b\"", "c,d"}[p.I] {
			t.Errorf("row %d is %+v, want %+v", i, got, p)
		}
	}
}
