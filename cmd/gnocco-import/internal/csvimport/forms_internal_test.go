package csvimport

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/cmd/gnocco-import/internal/requests"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// readFile imports a file and returns its measures, "metric time value" each, and the text of rejects and notes, or of
// the error.
func readFile(t *testing.T, name, text string, change func(*Options)) (measures, said string) {
	t.Helper()
	var notes strings.Builder
	options := Options{Client: requests.New(new(client.Client)), Note: func(text string) { fmt.Fprintln(&notes, text) },
		Reject: func(_ string, line int, reason string) { fmt.Fprintf(&notes, "rejected %d: %s\n", line, reason) }}
	if change != nil {
		change(&options)
	}
	i, err := New(options)
	if err != nil {
		return "", err.Error()
	}
	defer i.Close()
	if err := i.File(name, strings.NewReader(text)); err != nil {
		return "", err.Error()
	}
	var all []string
	fatal.If(t, i.rows.each(func(r *row) error {
		m := i.metrics[r.metric]
		named := m.name
		if m.resource != "csv" {
			named = m.resource + ":" + m.name
		}
		all = append(all, fmt.Sprintf("%s %s %v", named, r.time.Time().UTC().Format("2006-01-02T15:04:05.999999999"), r.value))
		return nil
	}))
	return strings.Join(all, "\n"), notes.String()
}

// form is a file of cmd/gnocco-import/csv/testdata, whose files gnocco-correlate reads in its own test.
type form struct {
	Name, File, Text string
	Base64           []byte // a text that JSON cannot hold
	Options          Options
	Want             []string
}

// Files as people and programs write them are read whole, each value at its time.
func TestForms(t *testing.T) {
	file, err := os.Open("../../csv/testdata/forms.jsonl")
	fatal.If(t, err)
	defer file.Close()
	n := 0
	for d := json.NewDecoder(file); ; n++ {
		var f form
		if err := d.Decode(&f); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{f.Text + string(f.Base64), strings.ReplaceAll(f.Text, "\n", "\r\n")} {
			if text == "" {
				continue
			}
			got, said := readFile(t, cmp.Or(f.File, "f.csv"), text, func(o *Options) {
				f.Options.Client, f.Options.Note, f.Options.Reject = o.Client, o.Note, o.Reject
				*o = f.Options
			})
			if got != strings.Join(f.Want, "\n") || strings.Contains(said, "rejected") {
				t.Errorf("%s, %q: got\n%s\nwant\n%s\n%s", f.Name, text, got, strings.Join(f.Want, "\n"), said)
			}
		}
	}
	if n < 100 {
		t.Errorf("%d forms", n)
	}
}

// A first cell that is no time decides about its own line only.
func TestFirstCellIsNoTime(t *testing.T) {
	got, said := readFile(t, "f.csv", "date,v\n11:34,1\n2018/10/15,3\n2018/10/14,2\n", nil)
	if got != "f 2018-10-14T00:00:00 2\nf 2018-10-15T00:00:00 3" || !strings.Contains(said, `rejected 2: timestamp "11:34"`) {
		t.Errorf("got %s\n%s", got, said)
	}
}

// With a format, numbers that no spreadsheet means as times since 1970 are none.
func TestDaysByFormat(t *testing.T) {
	got, said := readFile(t, "f.csv", "n,t\n1,45592.041666667\n2,45592.083333333\n",
		func(o *Options) { o.TimeFormat = "excel" })
	if got != "f 2024-10-27T01:00:00 1\nf 2024-10-27T02:00:00 2" {
		t.Errorf("got %s\n%s", got, said)
	}
}

// Ambiguous files are refused, and the error names the flag.
func TestAmbiguousFiles(t *testing.T) {
	f := func(text, want string, change ...func(*Options)) {
		t.Helper()
		var option func(*Options)
		if len(change) > 0 {
			option = change[0]
		}
		if got, said := readFile(t, "f.csv", text, option); got != "" || !strings.Contains(said, want) {
			t.Errorf("%q: got %q and %q, want %q", text, got, said, want)
		}
	}
	f("time,v\n3/4/2026,1\n", `"3/4/2026" may be 2026-03-04 or 2026-04-03: say --time-format %m/%d/%Y or --time-format %d/%m/%Y`)
	f("time,v\n1/1/2026,1\n2/1/2026,1\n", `"2/1/2026" may be 2026-02-01 or 2026-01-02`)
	f("date,v\n14-01-02,1\n", `may be 2014-01-02 or 2002-01-14: say --time-format %y-%m-%d or --time-format %d-%m-%y`)
	f("time,v\n03/01/26  01:05 PM,1\n", `say --time-format '%m/%d/%y %I:%M %p' or --time-format '%d/%m/%y %I:%M %p'`)
	f("Date,v\n1950-01,1\n1951-01,1\n", "2 of its first times: before 1970")
	f("Time Period,v\n2010,1\n2011,2\n", "say --timestamp-column 'Time Period' --time-format %Y")
	f("time;v\n2026-01-01;1,234\n", "column v: a comma before three digits")
	f("time;a;b\n2026-01-01;1.5;2,5\n2026-01-01;1,5;2.5\n", "both decimal points and decimal commas")
	f("time;v\n2026-01-01;-123,456\n", "column v: a comma before three digits")
	f("time;kWh;eur\n2026-01-01;1.234;0,25\n2026-01-02;-17.500;0,5\n2026-01-03;12;1\n",
		`column kWh: the point of "1.234" may be decimal or between thousands, as column eur has decimal commas: `+
			"say --decimal ,")
	f("time,v\n2026-01-01 00:00:00 EST,1\n", `column time: "2026-01-01 00:00:00 EST" names its zone by letters that several zones have`)
	f("entity_id,state,last_changed\nsensor.t1,99,2026-01-01T00:00:00Z\nsensor.t2,13.25,2026-01-01T00:00:00Z\n",
		"rows of one time that differ in column entity_id: name it by --metric-column, --resource-column or --label-column, or leave it")
	f("entity_id,kind,state,at\na,x,99,2026-01-01\na,y,13.25,2026-01-01\n", "differ in column kind: also name it by",
		func(o *Options) { o.MetricColumns = []string{"entity_id"} })
	f("a,b\nno,date\nno,number\n", "has no column of times: its columns are a, b")
	f("time,v,n\n2026-01-01,1,"+strings.Repeat("x", 256)+"\n", "rejected 2: the name of metric",
		func(o *Options) { o.MetricColumns = []string{"n"} })
	f("time,v,host\n2026-01-01,1,a\n", "leave out --resource-column",
		func(o *Options) { o.LabelColumns, o.ResourceColumn = []string{"host"}, "host" })
	f("timestamp,resource,metric,unit,archive_policy,value\n2026-01-01,,\"up{job=\",,low,1\n", `rejected 2: metric "up{job=" is no series`)
	f("Rank,Season\n1,2014\n", "has no column of times: its columns are Rank, Season")
	f("Date,v\n1958-03-01,1\n1958-04-01,1\n", "rejected 3: timestamp \"1958-04-01\": lies before 1970")
	f("time,v\n2026-13-41,1\n", "has no column of times")
	f("when,v\nsoon,1\n", `column when: "soon" is no known form of a time: name it by --time-format`,
		func(o *Options) { o.TimestampColumn = "when" })
	f("time,v\n2026-01-01,1\n", "has no column \"x\" for --metric-column", func(o *Options) { o.MetricColumns = []string{"x"} })
	f("time,v\n2026-01-01,1\n", "--timezone", func(o *Options) { o.Timezone = "Mars/Base" })
	f("time,v\n2026-01-01,1\n", "%Q is not known", func(o *Options) { o.TimeFormat = "%Q" })
	f("PK\x03\x04rest", "is a zip archive or a spreadsheet")
	f("t\x00i\x00m\x00e\x00\x00\x00", "has NUL bytes")
	f("2026-01-01,1\n2026-01-02,2\n", "has no header: its first line holds the timestamp 2026-01-01T00:00:00Z (see --no-header)")
}

// Clocks that are put back show an hour twice: measures in order of time fall into both. Put forward, they skip one.
func TestZonesWithTwoOffsets(t *testing.T) {
	zone := func(o *Options) { o.Timezone = "Europe/Paris" }
	var text, want strings.Builder
	text.WriteString("time,v\n")
	at := time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC)
	paris, err := time.LoadLocation("Europe/Paris")
	fatal.If(t, err)
	for i := range 12 {
		fmt.Fprintf(&text, "%s,%d\n", at.In(paris).Format("2006-01-02 15:04:05"), i)
		fmt.Fprintf(&want, "f %s %d\n", at.Format("2006-01-02T15:04:05"), i)
		at = at.Add(15 * time.Minute)
	}
	if got, said := readFile(t, "f.csv", text.String(), zone); got != strings.TrimSpace(want.String()) {
		t.Errorf("got\n%s\nwant\n%s\n%s", got, want.String(), said)
	}
	_, said := readFile(t, "f.csv", "time,v\n2026-03-29 01:30:00,1\n2026-03-29 02:30:00,2\n", zone)
	if !strings.Contains(said, "rejected 3: timestamp \"2026-03-29 02:30:00\": does not exist in Europe/Paris") {
		t.Error(said)
	}
}

// The command says how it reads a file.
func TestDescription(t *testing.T) {
	_, said := readFile(t, "power.csv", "Report\nwhen;power;note\n15.01.2026 13:05;1,5 W;a\n16.01.2026 13:05;2,5 W;b\n", nil)
	want := `power.csv: fields separated by ';', 1 leading line skipped
power.csv: times in when: like "31.1.2026 17:5", UTC
power.csv: values in power (in W, decimal ',')
power.csv: left out, no numbers: note
`
	if said != want {
		t.Errorf("got\n%s\nwant\n%s", said, want)
	}
}
