package influxdb_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gnocco/api/influxdb"
	"gnocco/carbonara"
)

const now carbonara.Timestamp = 7_000_000_000

func nanoseconds() influxdb.Precision { p, _ := influxdb.ParsePrecision(""); return p }

func TestDecode(t *testing.T) {
	var l influxdb.Lines
	f := func(body, want string) {
		t.Helper()
		if err := l.Decode([]byte(body), nanoseconds(), now); err != nil {
			t.Errorf("%q: %v", body, err)
			return
		}
		var got strings.Builder
		for i, value := range l.Values {
			target, err := l.Target(i, "host")
			if err != nil {
				t.Errorf("%q: %v", body, err)
				return
			}
			fmt.Fprintf(&got, "%s|%s|%d|%v;", target.Resource, target.Metric, l.Timestamps[i], value)
		}
		if got.String() != want {
			t.Errorf("%q: %s\nwant %s", body, got.String(), want)
		}
	}
	f("", "")
	f("\n\n# nothing\n", "")
	f("m,host=h,t=v f=123 1510581804179554816", "h|m.f@t=v|1510581804179554816|123;")
	f("m,host=h f=1\r\n\nm,host=h f=2 5", "h|m.f|7000000000|1;h|m.f|5|2;")
	f("m,host=h a=1i,b=-2i,c=3u,d=+1.5e3,e=.5,f=1e999,g=t,h=FALSE,i=\"text, \\\"more\\\" =\",j=9 5",
		"h|m.a|5|1;h|m.b|5|-2;h|m.c|5|3;h|m.d|5|1500;h|m.e|5|0.5;h|m.f|5|+Inf;h|m.g|5|1;h|m.h|5|0;h|m.j|5|9;")
	f("cpu,path=/foobar,host=myvalue field=43i 5", "myvalue|cpu.field@path=_foobar|5|43;")
	f(`m\ 1\,2,z=1,a\=b=x\ y,host=h\\i\w f\ g=1 5`, `h\\i\w|m 1,2.f g@a=b=x y,z=1|5|1;`)
	f(`"m, 1",host="h \"x\"" "f=g"=1 5`, `h "x"|m, 1.f=g|5|1;`)
	f(`"m,host=h f=1 5`, `h|"m.f|5|1;`)
	f("m,host=h,host=i f=1,f=2 5", "i|m.f|5|1;i|m.f|5|2;")
	f("m,host=h   f=1   5  ", "h|m.f|5|1;")
	f("m,host=h f=\"only text\" 5", "")
}

func TestDecodeRefuses(t *testing.T) {
	f := func(line, reason string) {
		t.Helper()
		var l influxdb.Lines
		err := l.Decode([]byte("m,host=h f=1 5\n\n"+line), nanoseconds(), now)
		for i := 0; err == nil && i < l.Len(); i++ {
			_, err = l.Target(i, "host")
		}
		var lineErr *influxdb.LineError
		if !errors.As(err, &lineErr) || lineErr.Line != 3 || !strings.Contains(lineErr.Reason, reason) {
			t.Errorf("%q: %v, want %s", line, err, reason)
		}
	}
	f("m", "no fields")
	f("m,host=h", "no fields")
	f("m,host=h 5", "no field where")
	f("m,host=h =5", "no field where")
	f("m,host=h f", "no field where")
	f("m,host=h f=1,", "no field where")
	f("m,host=h f=", "value of a field")
	f("m,host=h f=x", "value of a field")
	f("m,host=h f=i", "value of a field")
	f("m,host=h f=1.5i", "value of a field")
	f("m,host=h f=0x10", "value of a field")
	f("m,host=h f=1_0", "value of a field")
	f("m,host=h f=NaN", "value of a field")
	f("m,host=h f=\"open", "value of a field")
	f("m,host=h f=\"a\"b", "something follows")
	f("m,host=h f=1 x", "not a whole number")
	f("m,host=h f=1 5 6", "not a whole number")
	f("m,host=h f=1 -5", "before 1970")
	f("m,host=h f=1 9223372036854775808", "beyond 2262")
	f("m,host=h f=1 99999999999999999999999", "beyond 2262")
	f(",host=h f=1 5", "no measurement")
	f("m,host f=1 5", "key=value")
	f("m,host= f=1 5", "key=value")
	f("m,=h f=1 5", "key=value")
	f("m,,host=h f=1 5", "key=value")
	f("m,host=h, f=1 5", "key=value")
	f(`m,host="h"i f=1 5`, "key=value")
	f(`"",host=h f=1 5`, "no measurement")
	f(`m,host=h ""=1 5`, "no name of a field")
	f("m,host=h f\xff=1 5", "not valid UTF-8")
}

func TestTargetNeedsTheTag(t *testing.T) {
	var l influxdb.Lines
	if err := l.Decode([]byte("m,server=s f=1"), nanoseconds(), now); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Target(0, "host"); !errors.Is(err, influxdb.ErrNoTag) {
		t.Errorf("error %v", err)
	}
	if target, err := l.Target(0, "server"); err != nil || *target != (influxdb.Target{Resource: "s", Metric: "m.f"}) {
		t.Errorf("%v, %v", target, err)
	}
}

func TestPrecision(t *testing.T) {
	f := func(name string, want carbonara.Timestamp) {
		t.Helper()
		precision, ok := influxdb.ParsePrecision(name)
		if !ok {
			t.Errorf("precision %q is unknown", name)
			return
		}
		var l influxdb.Lines
		if err := l.Decode([]byte("m f=1 3"), precision, now); err != nil || l.Timestamps[0] != want {
			t.Errorf("precision %q: %v, %v", name, l.Timestamps, err)
		}
		if err := l.Decode([]byte("m f=1 9223372036854775807"), precision, now); (err == nil) != (want == 3) {
			t.Errorf("precision %q: %v for the last timestamp", name, err)
		}
	}
	f("", 3)
	f("n", 3)
	f("ns", 3)
	f("u", 3_000)
	f("µ", 3_000)
	f("us", 3_000)
	f("ms", 3_000_000)
	f("s", 3_000_000_000)
	f("m", 180_000_000_000)
	f("h", 10_800_000_000_000)
	if _, ok := influxdb.ParsePrecision("d"); ok {
		t.Error("precision d is taken")
	}
}

func TestParseCreateDatabase(t *testing.T) {
	f := func(query, want string) {
		t.Helper()
		if name, ok := influxdb.ParseCreateDatabase(query); name != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", query, name, ok)
		}
	}
	f("create database influxdbtest", "influxdbtest")
	f(" CREATE  DATABASE\t_a1 ; ", "_a1")
	f(`Create Database "my \"db\" 1"`, `my "db" 1`)
	f(`CREATE DATABASE "telegraf" WITH DURATION 1d`, "telegraf")
	f("create database", "")
	f("create database 1a", "")
	f("create database a b", "")
	f(`create database ""`, "")
	f("select metrics plz", "")
	f("", "")
}
