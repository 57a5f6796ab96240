package csv_test

import (
	stdcsv "encoding/csv"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/cmd/gnocco-correlate/csv"
)

// A record of two columns is read, or has a bad cell, as encoding/csv reads or refuses it. A test of csvimport, the
// reader of import csv, has the same records.
func TestQuotes(t *testing.T) {
	for _, record := range []string{
		`1,2`, `"1",2`, `1,"2"`, `"1","2"`, `1,"2"""`, `"1""",2`, `"1"2,3`, `1,"2"3`, `1,"2" `, `"1" ,2`, `1 "2",3`,
		`1,2"`, `1,"2"3"4"`,
		"\"1\n\",2", "\"1,\",2", `"",2`, `1,""`, `"1"""2,3`,
	} {
		text := "a,b\n0,0\n" + record + "\n"
		records, err := stdcsv.NewReader(strings.NewReader(text)).ReadAll()
		valid := err == nil
		columns, bad := correlated(t, text)
		if !valid {
			if bad == 0 {
				t.Errorf("%q: we read %v, encoding/csv %v", record, columns, err)
			}
			continue
		}
		for i, field := range records[2] {
			want, err := strconv.ParseFloat(field, 64)
			if got := columns[i][1]; err == nil && got != want || err != nil && got == got {
				t.Errorf("%q: we read %v in column %d, encoding/csv %q", record, got, i, field)
			}
		}
	}
}

// correlated returns the columns that are read, and how many cells are bad.
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
