package csvimport_test

import (
	stdcsv "encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/cmd/gnocco/internal/csvimport"
	"github.com/gnocco-db/gnocco/correlate/csv"
)

// A record of two columns is read, or refused, by import csv, by correlate and by encoding/csv alike.
func TestQuotes(t *testing.T) {
	for _, record := range []string{
		`1,2`, `"1",2`, `1,"2"`, `"1","2"`, `1,"2"""`, `"1""",2`, `"1"2,3`, `1,"2"3`, `1,"2" `, `"1" ,2`, `1 "2",3`,
		`1,2"`, `1,"2"3"4"`,
		"\"1\n\",2", "\"1,\",2", `"",2`, `1,""`, `"1"""2,3`,
	} {
		text := "a,b\n0,0\n" + record + "\n"
		reference := stdcsv.NewReader(strings.NewReader(text))
		records, err := reference.ReadAll()
		valid := err == nil

		r := csvimport.NewReader(strings.NewReader(text), ',')
		var last []string
		var rejected bool
		for {
			fields, _, err := r.Read()
			if err == io.EOF {
				break
			}
			rejected = rejected || err != nil
			last = nil
			for _, field := range fields {
				last = append(last, string(field))
			}
		}
		if rejected == valid || valid && !slices.Equal(last, records[2]) {
			t.Errorf("%q: import csv reads %q, rejected %t; encoding/csv %q, %v", record, last, rejected, records, err)
		}

		columns, bad := correlated(t, text)
		if !valid {
			if bad == 0 {
				t.Errorf("%q: correlate reads %v, encoding/csv %v", record, columns, err)
			}
			continue
		}
		for i, field := range records[2] {
			want, err := strconv.ParseFloat(field, 64)
			if got := columns[i][1]; err == nil && got != want || err != nil && got == got {
				t.Errorf("%q: correlate reads %v in column %d, encoding/csv %q", record, got, i, field)
			}
		}
	}
}

// correlated returns the columns that correlate reads, and how many cells are bad.
func correlated(t *testing.T, text string) (columns [][]float64, bad int64) {
	t.Helper()
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	r, err := csv.Open(open, csv.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	columns = make([][]float64, r.Columns())
	err = r.Read(t.Context(), func(part [][]float64) error {
		for j := range columns {
			columns[j] = append(columns[j], part[j]...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return columns, r.Bad()
}
