package csvimport

import (
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/cmd/gnocco-import/csv"
)

// The column of times is the one whose cells are times, with any name and in any place.
func TestTimestampColumn(t *testing.T) {
	f := func(want, text string) {
		t.Helper()
		var first [][]byte
		var sample []record
		for i, line := range strings.Split(text, "\n") {
			var fields [][]byte
			for field := range strings.SplitSeq(line, ",") {
				fields = append(fields, []byte(field))
			}
			if i == 0 {
				first = fields
			} else {
				sample = append(sample, record{fields, i + 1})
			}
		}
		options := Options{}
		names := csv.Names(first, nil, false)
		c, err := options.newColumns("-", names, sample)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = c.times.Names(names)
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	f("time", "time,a")
	f("a", "a,b") // without records only names are known
	f("time", "a,time\n2026-01-01,2026-01-01")
	f("when", "value,when\n1,2026-01-01\n2,2026-01-02")
	f("last_changed", "entity_id,state,last_changed\nsensor.t1,99,2026-01-01T00:00:00Z")
	f("stamp", "date,stamp,a\n1/15/2026,1767225600,1")
	f("t", "t,a\nnoon,1\n2026-01-01,2")
	f("has no column of times: its columns are centroid_lat, centroid_lon, car_hours",
		"centroid_lat,centroid_lon,car_hours\n45.47,-73.58,1772\n45.50,-73.61,986")
	f("Year", "Rank,Year\n1,2014")
	f("time", "time,a\n46023.5,1") // a spreadsheet's days
	f("read_at", "meter_id,read_at,value\n1000000001,2026-01-01,1\n1000000001,2026-01-02,2")
}
