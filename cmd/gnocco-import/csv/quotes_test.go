package csv_test

import (
	stdcsv "encoding/csv"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/cmd/gnocco-import/csv"
)

// A record of two columns is read, or refused, by import csv and by encoding/csv alike. A test of gnocco-correlate's
// reader has the same records.
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

		r := csv.NewReader(strings.NewReader(text), ',')
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
	}
}
