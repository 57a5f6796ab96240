package csvimport

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/gnocco-db/gnocco/internal/client"
)

// readFile imports a file and returns its measures, "metric time value" each, and the text of rejects and notes, or of
// the error.
func readFile(t *testing.T, name, text string, change func(*Options)) (measures, said string) {
	t.Helper()
	var notes strings.Builder
	options := Options{Client: new(client.Client), Note: func(text string) { fmt.Fprintln(&notes, text) },
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
	if err := i.rows.each(func(r *row) error {
		m := i.metrics[r.metric]
		named := m.name
		if m.resource != "csv" {
			named = m.resource + ":" + m.name
		}
		all = append(all, fmt.Sprintf("%s %s %v", named, r.time.Time().UTC().Format("2006-01-02T15:04:05.999999999"), r.value))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n"), notes.String()
}

// Files as people and programs write them are read whole, each value at its time.
func TestForms(t *testing.T) {
	f := func(what, text, want string, change ...func(*Options)) {
		t.Helper()
		var option func(*Options)
		if len(change) > 0 {
			option = change[0]
		}
		got, said := readFile(t, "f.csv", text, option)
		if got != want || strings.Contains(said, "rejected") {
			t.Errorf("%s: got\n%s\nwant\n%s\n%s", what, got, want, said)
		}
	}
	one := func(what, time, want string, change ...func(*Options)) {
		t.Helper()
		f(what, "time,v\n"+time+",7\n", "f "+want+" 7", change...)
		f(what+" with \\r\\n", "time,v\r\n"+time+",7", "f "+want+" 7", change...)
	}
	one("seconds", "1767225600", "2026-01-01T00:00:00")
	one("seconds with a fraction", "1767225600.25", "2026-01-01T00:00:00.25")
	one("seconds as a float", "1.7672256e9", "2026-01-01T00:00:00")
	one("milliseconds", "1767225600250", "2026-01-01T00:00:00.25")
	one("microseconds", "1767225600250001", "2026-01-01T00:00:00.250001")
	one("nanoseconds", "1767225600250001002", "2026-01-01T00:00:00.250001002")
	one("ISO", "2026-01-01T00:00:05Z", "2026-01-01T00:00:05")
	one("ISO with blank", "2026-01-01 00:00:05", "2026-01-01T00:00:05")
	one("ISO with offset", "2026-01-01T02:00:05+02:00", "2026-01-01T00:00:05")
	one("ISO with short offset", "2026-01-01T02:00:05+0200", "2026-01-01T00:00:05")
	one("ISO without seconds", "2026-01-01T02:05", "2026-01-01T02:05:00")
	one("a date", "2026-01-31", "2026-01-31T00:00:00")
	one("UTC in words", "2026-01-01 00:00:05 UTC", "2026-01-01T00:00:05")
	one("a fraction, and UTC in words", "2026-01-01 00:00:05.125 UTC", "2026-01-01T00:00:05.125")
	one("Go", "2026-01-01 02:00:05 +0200 CEST", "2026-01-01T00:00:05")
	one("pandas", "2026-01-01 00:00:05+00:00", "2026-01-01T00:00:05")
	one("slashes", "2026/01/15 01:05:00", "2026-01-15T01:05:00")
	one("slashes, a date", "2026/1/5", "2026-01-05T00:00:00")
	one("German", "15.01.2026 13:05", "2026-01-15T13:05:00")
	one("German, short", "5.1.2026 13:05:09", "2026-01-05T13:05:09")
	one("American", "1/15/2026 1:05 PM", "2026-01-15T13:05:00")
	one("American, midnight", "1/15/2026 12:05:07 AM", "2026-01-15T00:05:07")
	one("American, two digits", "1/15/26 23:05", "2026-01-15T23:05:00")
	one("British", "15/01/2026 13:05", "2026-01-15T13:05:00")
	one("the same day and month", "1/1/2026 13:05", "2026-01-01T13:05:00")
	one("mail", `"Thu, 15 Jan 2026 13:05:00 +0000"`, "2026-01-15T13:05:00")
	one("mail, GMT", `"Thu, 15 Jan 2026 13:05:00 GMT"`, "2026-01-15T13:05:00")
	one("C", "Thu Jan 15 13:05:00 2026", "2026-01-15T13:05:00")
	one("date", "Thu Jan 15 13:05:00 UTC 2026", "2026-01-15T13:05:00")
	one("Oracle", "15-Jan-2026 13:05:00", "2026-01-15T13:05:00")
	one("in words", `"January 15, 2026"`, "2026-01-15T00:00:00")
	one("in words, short", "Jan 5 2026", "2026-01-05T00:00:00")
	one("compact", "20260115T130500Z", "2026-01-15T13:05:00")
	one("compact date", "20260115", "2026-01-15T00:00:00")
	format := func(format, zone string) func(*Options) {
		return func(o *Options) { o.TimeFormat, o.Timezone = format, zone }
	}
	one("a format", "03/04/2026 13:05", "2026-04-03T13:05:00", format("%d/%m/%Y %H:%M", ""))
	one("another format", "03/04/2026 13:05", "2026-03-04T13:05:00", format("%m/%d/%Y %H:%M", ""))
	one("a format with a fraction", "13:05:01.25 3.4.26", "2026-04-03T13:05:01.25", format("%H:%M:%S.%f %d.%m.%y", ""))
	one("milliseconds before 1973", "5000", "1970-01-01T00:00:05", format("ms", ""))
	one("a zone", "2026-01-15 13:05:00", "2026-01-15T12:05:00", format("", "Europe/Paris"))
	one("a zone in summer", "15.07.2026 13:05", "2026-07-15T11:05:00", format("", "Europe/Paris"))
	one("a zone that is not needed", "2026-01-15T13:05:00Z", "2026-01-15T13:05:00", format("", "Europe/Paris"))

	value := func(what, cell, want string, change ...func(*Options)) {
		t.Helper()
		f(what, "time;v\n2026-01-01;"+cell+"\n", "f 2026-01-01T00:00:00 "+want, change...)
	}
	value("decimal comma", "20,5", "20.5")
	value("a gap of a spreadsheet", "1\n2026-01-02;'-", "1")
	value("narrow blanks between thousands", "1\u202f234,5", "1234.5")
	value("Swiss thousands", "1'234.5", "1234.5")
	value("points and a decimal comma", "1.234.567,25", "1.23456725e+06")
	value("blanks and a decimal comma", "1 234,25", "1234.25")
	value("commas and a point", `"1,234.5"`, "1234.5")
	value("commas", `"1,234,567"`, "1.234567e+06")
	value("blanks", "1 234 567", "1.234567e+06")
	value("percent", "12.5%", "12.5")
	value("percent with blank", "12.5 %", "12.5")
	value("watts", "1 W", "1")
	value("degrees", "-3,5 °C", "-3.5")
	value("exponent", "1.5E3", "1500")
	value("told decimal", "1,234", "1.234", func(o *Options) { o.Decimal = ',' })
	value("told thousands", "1,234", "1234", func(o *Options) { o.Decimal = '.' })
	for _, gap := range []string{"", "NA", "N/A", "n/a", "null", "NULL", "None", "-", "--", "?", "NaN", "nan", "unavailable", `\N`} {
		f("gap "+gap, "time,v\n2026-01-01,"+gap+"\n2026-01-02,2\n", "f 2026-01-02T00:00:00 2")
	}
	f("NaN as a value", "time,v\n2026-01-01,NaN\n", "f 2026-01-01T00:00:00 NaN", func(o *Options) { o.NaN = true })

	two := "a 2026-01-01T00:00:00 1\nb 2026-01-01T00:00:00 2"
	f("commas", "time,a,b\n2026-01-01,1,2\n", two)
	f("semicolons", "time;a;b\n2026-01-01;1;2\n", two)
	f("tabs", "time\ta\tb\n2026-01-01\t1\t2\n", two)
	f("bars", "time|a|b\n2026-01-01|1|2\n", two)
	f("sep=", "sep=;\ntime;a;b\n2026-01-01;1;2\n", two)
	f("comments", "# made by hand\n# twice\ntime,a,b\n2026-01-01,1,2\n# the end\n", two)
	f("leading lines", "Report\nof the plant\n\ntime,a,b\n2026-01-01,1,2\n2026-01-02,,\n2026-01-03,,\n", two)
	f("a mark", "\xef\xbb\xbftime,a,b\n2026-01-01,1,2\n", two)
	f("returns", "time,a,b\r2026-01-01,1,2\r", two)
	f("quotes", `"time","a","b"`+"\n"+`"2026-01-01","1","2"`, two)
	f("an index", ",time,a,b\n0,2026-01-01,1,2\n", two)
	f("a comma at the end", "time,a,b,\n2026-01-01,1,2,\n", two)
	f("text", "time,a,comment,b\n2026-01-01,1,hello,2\n2026-01-02,,bye,\n", two)
	f("no header", "2026-01-01,1,2\n", "2 2026-01-01T00:00:00 1\n3 2026-01-01T00:00:00 2", func(o *Options) { o.NoHeader = true })
	f("times in the second column", "a,when,b\n1,2026-01-01,2\n", two)
	f("date and clock", "date,clock,a,b\n15.01.2026,13:05,1,2\n", "a 2026-01-15T13:05:00 1\nb 2026-01-15T13:05:00 2")
	f("named date and clock", "d,c,a,b\n3/4/2026,1:05 PM,1,2\n", "a 2026-04-03T13:05:00 1\nb 2026-04-03T13:05:00 2",
		func(o *Options) { o.TimestampColumn, o.TimeFormat = "d,c", "%d/%m/%Y %I:%M %p" })
	var lined bytes.Buffer
	w := gzip.NewWriter(&lined)
	_, _ = w.Write([]byte("time,a,b\n2026-01-01,1,2\n"))
	_ = w.Close()
	f("gzip", lined.String(), two)
	lined.Reset()
	z, _ := zstd.NewWriter(&lined)
	_, _ = z.Write([]byte("time,a,b\n2026-01-01,1,2\n"))
	_ = z.Close()
	f("zstd", lined.String(), two)
	lined.Reset()
	x, _ := xz.NewWriter(&lined)
	_, _ = x.Write([]byte("time,a,b\n2026-01-01,1,2\n"))
	_ = x.Close()
	f("xz", lined.String(), two)
	bz, err := base64.StdEncoding.DecodeString(bzip2Sample)
	if err != nil {
		t.Fatal(err)
	}
	f("bzip2", string(bz), two)
	for _, order := range []string{"little", "big"} {
		var wide []byte
		for _, c := range utf16.Encode([]rune("\ufefftime,a,b\n2026-01-01,1,2\n")) {
			if order == "little" {
				wide = append(wide, byte(c), byte(c>>8))
			} else {
				wide = append(wide, byte(c>>8), byte(c))
			}
		}
		f("UTF-16, "+order+" endian", string(wide), two)
	}
}

// bzip2Sample is `printf 'time,a,b\n2026-01-01,1,2\n' | bzip2 | base64`.
const bzip2Sample = "QlpoOTFBWSZTWeqM2vUAAAvZgAAQAAZxADIiBAAgADEA0ADUxMm9UaXVIHLUgzDxC9mV8XckU4UJDqjNr1A="

// Exports of programs, in the forms that they have.
func TestExports(t *testing.T) {
	f := func(what, text, want string, change ...func(*Options)) {
		t.Helper()
		var option func(*Options)
		if len(change) > 0 {
			option = change[0]
		}
		got, said := readFile(t, "-", text, option)
		if got != want || strings.Contains(said, "rejected") {
			t.Errorf("%s: got\n%s\nwant\n%s\n%s", what, got, want, said)
		}
	}
	f("sadf -d", "# hostname;interval;timestamp;CPU;%user;%idle\n"+
		"web1;600;2026-01-01 00:10:01 UTC;-1;1.50;98.50\nweb1;600;2026-01-01 00:20:01 UTC;-1;2.50;97.50\n"+
		"# hostname;interval;timestamp;runq-sz;plist-sz\nweb1;600;2026-01-01 00:10:01 UTC;1;300\n",
		"web1:interval 2026-01-01T00:10:01 600\nweb1:CPU 2026-01-01T00:10:01 -1\nweb1:%user 2026-01-01T00:10:01 1.5\n"+
			"web1:%idle 2026-01-01T00:10:01 98.5\nweb1:interval 2026-01-01T00:10:01 600\nweb1:runq-sz 2026-01-01T00:10:01 1\n"+
			"web1:plist-sz 2026-01-01T00:10:01 300\nweb1:interval 2026-01-01T00:20:01 600\nweb1:CPU 2026-01-01T00:20:01 -1\n"+
			"web1:%user 2026-01-01T00:20:01 2.5\nweb1:%idle 2026-01-01T00:20:01 97.5",
		func(o *Options) { o.ResourceColumn = "hostname" })
	f("annotated CSV of InfluxDB", "#group,false,false,true,true,false,false,true,true,true\n"+
		"#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339,double,string,string,string\n"+
		"#default,_result,,,,,,,,\n,result,table,_start,_stop,_time,_value,_field,_measurement,host\n"+
		",,0,2026-01-01T00:00:00Z,2026-01-01T01:00:00Z,2026-01-01T00:00:10Z,15.43,usage_user,cpu,A\n"+
		",,1,2026-01-01T00:00:00Z,2026-01-01T01:00:00Z,2026-01-01T00:00:10Z,59.25,usage_user,cpu,B\n",
		"cpu.usage_user.A 2026-01-01T00:00:10 15.43\ncpu.usage_user.B 2026-01-01T00:00:10 59.25")
	f("Home Assistant", "entity_id,state,last_changed\nsensor.t1,99,2026-01-01T00:00:00.123Z\n"+
		"sensor.t2,13.25,2026-01-01T00:00:00.123Z\nsensor.t1,unavailable,2026-01-01T00:01:00Z\n",
		"sensor.t1 2026-01-01T00:00:00.123 99\nsensor.t2 2026-01-01T00:00:00.123 13.25",
		func(o *Options) { o.MetricColumns = []string{"entity_id"} })
	f("Grafana", "sep=,\n\"Time\",\"web1\",\"web2\"\n2026-01-01 00:00:10,12.5%,\n2026-01-01 00:00:20,13%,7%\n",
		"web1 2026-01-01T00:00:10 12.5\nweb1 2026-01-01T00:00:20 13\nweb2 2026-01-01T00:00:20 7")
	f("BigQuery", "ts,name,value\n2026-01-01 00:00:10.5 UTC,a,1\n2026-01-01 00:00:10.5 UTC,b,2\n",
		"a 2026-01-01T00:00:10.5 1\nb 2026-01-01T00:00:10.5 2", func(o *Options) { o.MetricColumns = []string{"name"} })
	f("dstat", "\"Dstat 0.7.4 CSV output\"\n\"Author:\",\"somebody\",,,,\"URL:\",\"http://example.org\"\n"+
		"\"Host:\",\"web1\",,,,\"User:\",\"root\"\n\n\"epoch\",\"total cpu usage\",,\"dsk/total\",,\"net/total\",\n"+
		"\"epoch\",\"usr\",\"sys\",\"read\",\"writ\",\"read\",\"writ\"\n1767225600.5,1,2,3,4,5,6\n1767225601.5,1,2,3,4,5,6\n"+
		"1767225602.5,1,2,3,4,5,6\n1767225603.5,1,2,3,4,5,6\n",
		func() string {
			var rows []string
			for s := range 4 {
				for i, name := range []string{"total cpu usage.usr", "total cpu usage.sys", "dsk_total.read", "dsk_total.writ",
					"net_total.read", "net_total.writ"} {
					rows = append(rows, fmt.Sprintf("%s 2026-01-01T00:00:0%d.5 %d", name, s, i+1))
				}
			}
			return strings.Join(rows, "\n")
		}())
	f("Postgres", "\"ts\",\"v\"\n2026-01-01 00:00:10.5+00,1\n", "v 2026-01-01T00:00:10.5 1")
	f("years", "Year,a\n2014,1\n2015,2\n", "a 2014-01-01T00:00:00 1\na 2015-01-01T00:00:00 2")
	f("years and months", "year,month,day,hour,v\n2014,1,31,0,1\n2014,2,1,23,2\n", "v 2014-01-31T00:00:00 1\nv 2014-02-01T23:00:00 2")
	f("months in words", "Month,Year,v\nJan,2014,1\nFeb,2014,2\n", "v 2014-01-01T00:00:00 1\nv 2014-02-01T00:00:00 2")
	f("years and quarters", "year,quarter,v\n2014,1,1\n2014,4,2\n", "v 2014-01-01T00:00:00 1\nv 2014-10-01T00:00:00 2")
	f("quarters", "period,v\n2014Q2,1\n2014Q3,2\n", "v 2014-04-01T00:00:00 1\nv 2014-07-01T00:00:00 2")
	f("months", "Month,v\n\"2014-01\",1\n\"2014-02\",2\n", "v 2014-01-01T00:00:00 1\nv 2014-02-01T00:00:00 2")
	f("hours of one digit", "date,time,v\n2026-01-01,0:44:00,1\n2026-01-01,10:44:00,2\n2026-01-01,11:44:00,3\n",
		"v 2026-01-01T00:44:00 1\nv 2026-01-01T10:44:00 2\nv 2026-01-01T11:44:00 3")
	f("lines that end by \\r\\r\\n", "date,\"v\"\r\r\n2026-01-01,\"5\"\r\r\n", "v 2026-01-01T00:00:00 5")
	f("text with commas and points", "name,date,v\n\"J. Doe, Jr.\",2026-01-01,1\n\"1.5, or 1,5\",2026-01-02,2\n",
		"v 2026-01-01T00:00:00 1\nv 2026-01-02T00:00:00 2")
	f("two columns that a format joins", "d,t,v\n3.4.26,13h05,1\n", "v 2026-04-03T13:05:00 1", func(o *Options) {
		o.TimestampColumn, o.TimeFormat = "d,t", "%d.%m.%y %Hh%M"
	})
	f("large numbers that are no times", "date,a,volume\n2026-01-05,1,931800000\n2026-01-06,2,1009000000\n2026-01-07,3,907000000\n",
		"a 2026-01-05T00:00:00 1\nvolume 2026-01-05T00:00:00 9.318e+08\na 2026-01-06T00:00:00 2\n"+
			"volume 2026-01-06T00:00:00 1.009e+09\na 2026-01-07T00:00:00 3\nvolume 2026-01-07T00:00:00 9.07e+08")
	f("two columns of one row each", "when,host,cpu,mem\n2026-01-01,a,1,2\n2026-01-01,b,3,4\n",
		"a:cpu 2026-01-01T00:00:00 1\na:mem 2026-01-01T00:00:00 2\nb:cpu 2026-01-01T00:00:00 3\nb:mem 2026-01-01T00:00:00 4",
		func(o *Options) { o.ResourceColumn = "host" })
}

// A first cell that is no time decides about its own line only.
func TestFirstCellIsNoTime(t *testing.T) {
	got, said := readFile(t, "f.csv", "date,v\n11:34,1\n2018/10/15,3\n2018/10/14,2\n", nil)
	if got != "f 2018-10-14T00:00:00 2\nf 2018-10-15T00:00:00 3" || !strings.Contains(said, `rejected 2: timestamp "11:34"`) {
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
	f("Date,v\n1950-01,1\n1951-01,1\n", "2 of its first times lie before 1970")
	f("Time Period,v\n2010,1\n2011,2\n", "say --timestamp-column 'Time Period' --time-format %Y")
	f("time;v\n2026-01-01;1,234\n", "column v: a comma before three digits")
	f("time;a;b\n2026-01-01;1.5;2,5\n2026-01-01;1,5;2.5\n", "both decimal points and decimal commas")
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
	f("t\x00i\x00m\x00e\x00", "has NUL bytes")
	f("2026-01-01,1\n2026-01-02,2\n", "has no header: its first line holds the timestamp 2026-01-01T00:00:00Z (see --no-header)")
}

// Clocks that are put back show an hour twice: measures in order of time fall into both. Put forward, they skip one.
func TestZonesWithTwoOffsets(t *testing.T) {
	zone := func(o *Options) { o.Timezone = "Europe/Paris" }
	var text, want strings.Builder
	text.WriteString("time,v\n")
	at := time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC)
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
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
	want := `power.csv: fields separated by ';', 1 leading lines skipped
power.csv: times in when: like "31.1.2026 17:5", UTC
power.csv: values in power (in W, decimal ',')
power.csv: left out, no numbers: note
`
	if said != want {
		t.Errorf("got\n%s\nwant\n%s", said, want)
	}
}
