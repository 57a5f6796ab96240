package csv_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/cmd/gnocco-correlate/csv"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A file that `gnocco import csv` takes is taken here as well, with the same values. Its own test reads the same files.
func TestForms(t *testing.T) {
	file, err := os.Open("../../../cmd/gnocco-import/csv/testdata/forms.jsonl")
	fatal.If(t, err)
	defer file.Close()
	n := 0
	for d := json.NewDecoder(file); ; n++ {
		var form struct {
			Name, Text string
			Base64     []byte
			Options    struct {
				TimestampColumn string
				Decimal         byte
				NoHeader        bool
			}
			Want []string
		}
		if err := d.Decode(&form); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		o := form.Options
		var bad []string
		r, err := csv.Open(opener(form.Text+string(form.Base64)), csv.Options{Decimal: o.Decimal, NoHeader: o.NoHeader,
			TimestampColumn: o.TimestampColumn, Report: func(b csv.BadCell) { bad = append(bad, b.Error()) }})
		if err != nil {
			t.Errorf("%s: %q: %v", form.Name, form.Text, err)
			continue
		}
		columns, err := read(t, r)
		if form.Name == "sadf -d" { // the second of its tables has other columns, which are named
			if len(bad) != 1 || !strings.Contains(bad[0], "line 4: is the header of other columns") {
				t.Errorf("%s: %q", form.Name, bad)
			}
			continue
		}
		unnamed := form.Name == "R's write.table"
		if err != nil || len(bad) > 0 || r.Timestamps() == "" && !unnamed {
			t.Errorf("%s: %q: %v, %q, times %q", form.Name, form.Text, err, bad, r.Timestamps())
		}
		var got, want []string
		for _, column := range columns {
			for _, v := range column {
				if !math.IsNaN(v) {
					got = append(got, fmt.Sprint(v))
				}
			}
		}
		for _, line := range form.Want {
			if v := line[strings.LastIndexByte(line, ' ')+1:]; v != "NaN" {
				want = append(want, v)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if form.Name == "annotated CSV of InfluxDB" { // the number of the table is a column of numbers
			want = append([]string{"0", "1"}, want...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q: got %v, want %v", form.Name, form.Text, got, want)
		}
	}
	if n < 100 {
		t.Errorf("%d forms", n)
	}
}
