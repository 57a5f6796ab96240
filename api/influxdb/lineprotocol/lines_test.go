package lineprotocol_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/api/influxdb/lineprotocol"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

const now carbonara.Timestamp = 7_000_000_000

// decode keeps the faults of lines, as "LINE: reason".
func decode(t *testing.T, l *lineprotocol.Lines, body string, precision lineprotocol.Precision) (faults []string) {
	t.Helper()
	err := l.Decode([]byte(body), precision, now, func(line int, reason string) {
		faults = append(faults, fmt.Sprintf("%d: %s", line, reason))
	})
	fatal.If(t, err)
	return faults
}

func nanoseconds() lineprotocol.Precision { p, _ := lineprotocol.ParsePrecision(""); return p }

func TestDecode(t *testing.T) {
	var l lineprotocol.Lines
	f := func(body, want string) {
		t.Helper()
		if faults := decode(t, &l, body, nanoseconds()); faults != nil {
			t.Errorf("%q: %v", body, faults)
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
	f("m,host=h a=1i,b=-2i,c=3u,d=+1.5e3,e=.5,g=t,h=FALSE,i=\"text, \\\"more\\\" =\",j=9 5",
		"h|m.a|5|1;h|m.b|5|-2;h|m.c|5|3;h|m.d|5|1500;h|m.e|5|0.5;h|m.g|5|1;h|m.h|5|0;h|m.j|5|9;")
	f("cpu,path=/foobar,host=myvalue field=43i 5", "myvalue|cpu.field@path=_foobar|5|43;")
	f(`m\ 1\,2,z=1,a\=b=x\ y,host=h\\i\w f\ g=1 5`, `h\\i\w|m 1,2.f g@a=b=x y,z=1|5|1;`)
	f(`"m, 1",host="h \"x\"" "f=g"=1 5`, `h "x"|m, 1.f=g|5|1;`)
	f(`"m,host=h f=1 5`, `h|"m.f|5|1;`)
	f("m,host=h f=1,f=2 5", "h|m.f|5|1;h|m.f|5|2;")
	f("m,host=h   f=1   5  ", "h|m.f|5|1;")
	f("m,host=h f=1\t5\rm,host=h \t f=2 \t 6\r\r\n", "h|m.f|5|1;h|m.f|6|2;")
	f("m\t,\thost\t=\th\t,\t\"t u\"\t=\tv\tw\t f\t=1,\tg=2 5", "h|m.f@t u=v\tw|5|1;h|m.g@t u=v\tw|5|2;")
	f("\"m\t\",host=h\t,\"\tt\"=\"v\t\" \"f\t\"=1 5", "h|m\t.f\t@\tt=v\t|5|1;")
	f(" m,host=h f=1 5\n\t m,host=h f=2 5\n  \t\n  # nothing", "h|m.f|5|1;h|m.f|5|2;")
	f("m,host=h s=\"one\ntwo\",f=1 5\nm,host=h f=2 5", "h|m.f|5|1;h|m.f|5|2;")
	f("m,host=h f=1,s=\"\n\\\"\n, =\n\" 5\r\nm,host=h f=2 5", "h|m.f|5|1;h|m.f|5|2;")
	f("m,host=h s=\"a\nb\",f=1\nm,host=h f=2,s=\"\n\",t=\"\n\"\r\nm,host=h f=3 5", "h|m.f|7000000000|1;h|m.f|7000000000|2;h|m.f|5|3;")
	f("# s=\"no text\nm,host=h f=2 5\n# \",", "h|m.f|5|2;")
}

// A text that does not end makes its line faulty, not those after it, and faults are told by the first line of theirs.
func TestDecodeResumes(t *testing.T) {
	f := func(body string, sum float64, want ...string) {
		t.Helper()
		var l lineprotocol.Lines
		faults := decode(t, &l, body, nanoseconds())
		for _, value := range l.Values {
			sum -= value
		}
		if sum != 0 || !slices.Equal(faults, want) {
			t.Errorf("%q: %v, %q", body, l.Values, faults)
		}
	}
	const noValue = "the value of a field is not a number, boolean or text in quotes"
	f("m,host=h s=\"open\nm,host=h f=2 5\nm,host=h f=3 5", 5, "1: "+noValue)
	f("m,host=h s=\"open\nm,host=h s=\"x\",f=2 5\nm,host=h f=3 5", 5, "1: "+noValue)
	f("m,host=h s=\"a\nb\nc\",f=x 5\nm,host=h f=3 5\nm,host=h f=y 5", 3, "1: "+noValue, "5: "+noValue)
	f("m,host=h s=\"a\r\nb\rc\",f=x 5\r\nm,host=h f=3 5\rm,host=h f=y 5", 3, "1: "+noValue, "5: "+noValue)
	f("m,host=h s=\"only\ntext\" 5\nm,host=h f=2 5\nm,host=h f=\"3\"", 2,
		"1: no field is a number or boolean, and text is not stored", "4: no field is a number or boolean, and text is not stored")
	for _, value := range []string{"1e999", "-1e999", "1e-999", "9223372036854775808i", "-9223372036854775809i",
		"18446744073709551616u", "-1u", "1.5i", "1e2i", "i", "0x10", "0x10i", "NaN", "1_0", ""} {
		f("m,host=h f="+value+" 5\nm,host=h f=2 5", 2, "1: "+noValue)
	}
	f("m f=9223372036854775807i,g=-9223372036854775808i\nm f=18446744073709551615u", 1<<64)
	f("m f=+7i,g=007i,h=0e-999", 14)
}

// Quotes that do not end cost no more than others: each is looked at once, however many lines follow.
func TestDecodeIsLinear(t *testing.T) {
	for _, line := range []string{"m,host=h f=\"\n", "m,host=h f=\"x\\\"\n", "m \"\n", "m f=\"a=\"a=\"a=\n", "m f=\\\"\n"} {
		body := []byte(strings.Repeat(line, 1<<20/len(line)))
		var l lineprotocol.Lines
		started := time.Now()
		check := l.Decode(body, nanoseconds(), now, func(int, string) {})
		lineprotocol.MostMeasures(body)
		if took := time.Since(started); took > 5*time.Second || check != nil { // some ten milliseconds
			t.Errorf("%q: %s, %v", line, took, check)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	f := func(line, reason string) {
		t.Helper()
		var l lineprotocol.Lines
		faults := decode(t, &l, "m,host=h f=1 5\n\n"+line+"\nm,host=h f=2,g=3 5", nanoseconds())
		var sum float64
		for i, value := range l.Values {
			if _, err := l.Target(i, "host"); err != nil {
				var fault *lineprotocol.LineError
				if !errors.As(err, &fault) {
					t.Fatal(err)
				}
				faults = append(faults, fmt.Sprintf("%d: %s", fault.Line, fault.Reason))
				continue
			}
			sum += value
		}
		if len(faults) != 1 || !strings.HasPrefix(faults[0], "3: ") || !strings.Contains(faults[0], reason) {
			t.Errorf("%q: %v, want %s", line, faults, reason)
		}
		if sum != 6 || len(l.Timestamps) != l.Len() || l.Total != 3 {
			t.Errorf("%q: values %v at %v of %d lines", line, l.Values, l.Timestamps, l.Total)
		}
	}
	f("m,host=h f=4,g=x 5", "value of a field") // also what was read of it before
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
	var l lineprotocol.Lines
	if faults := decode(t, &l, "m,server=s f=1", nanoseconds()); faults != nil {
		t.Fatal(faults)
	}
	if _, err := l.Target(0, "host"); !errors.Is(err, lineprotocol.ErrNoTag) {
		t.Errorf("error %v", err)
	}
	if target, err := l.Target(0, "server"); err != nil || *target != (lineprotocol.Target{Resource: "s", Metric: "m.f"}) {
		t.Errorf("%v, %v", target, err)
	}
}

func TestPrecision(t *testing.T) {
	f := func(name string, want carbonara.Timestamp) {
		t.Helper()
		precision, ok := lineprotocol.ParsePrecision(name)
		if !ok {
			t.Errorf("precision %q is unknown", name)
			return
		}
		var l lineprotocol.Lines
		if faults := decode(t, &l, "m f=1 3", precision); faults != nil || l.Timestamps[0] != want {
			t.Errorf("precision %q: %v, %v", name, l.Timestamps, faults)
		}
		if faults := decode(t, &l, "m f=1 9223372036854775807", precision); (faults == nil) != (want == 3) {
			t.Errorf("precision %q: %v for the last timestamp", name, faults)
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
	if _, ok := lineprotocol.ParsePrecision("d"); ok {
		t.Error("precision d is taken")
	}
}

// A line means the same beside others: Decode mistakes no head for the one before, its beginning.
func TestHeadsBesideOthers(t *testing.T) {
	heads := []string{"cpu,host=a", "cpu,host=ab", `cpu,host=a\ b`, `cpu,host=a\`, `"cpu x",host=a`, `"cpu`, `cpu,host="a b"`,
		"cpu,host=a", `cpu",host=a`, `cpu,host="a`, "cpu", "cpu,host=a"}
	describe := func(l *lineprotocol.Lines) (all string) {
		for i := range l.Len() {
			target, _ := l.Target(i, "host")
			all += fmt.Sprintf("%q %v %v\n", target, l.Values[i], l.Timestamps[i])
		}
		return all
	}
	var l lineprotocol.Lines
	for _, first := range heads {
		for _, second := range heads {
			lines := []string{first + ` f=1,g="x y" 5`, second + ` f="z",h=2 6`}
			want, refused := "", 0
			for _, line := range lines {
				refused += len(decode(t, &l, line, nanoseconds()))
				want += describe(&l)
			}
			if n := len(decode(t, &l, strings.Join(lines, "\n"), nanoseconds())); n != refused || describe(&l) != want {
				t.Errorf("%q: %s and %d refused, want %s and %d", lines, describe(&l), n, want, refused)
			}
		}
	}
}

// Decode takes memory before it adds measures, and ends without.
func TestDecodeTakesMemory(t *testing.T) {
	full, taken := errors.New("full"), 0
	l := lineprotocol.Lines{Paid: 10, Acquire: func(n int) error {
		if taken += n; taken > 5000 {
			return full
		}
		return nil
	}}
	refuse := func(_ int, reason string) { t.Errorf("refused: %s", reason) }
	line := "m,host=h a=1,b=2\n"
	if err := l.Decode([]byte(strings.Repeat(line, 2000)), nanoseconds(), now, refuse); err != nil || l.Len() != 4000 ||
		l.Paid != 10+taken || l.Paid < l.Len() {
		t.Errorf("%d measures, memory for %d: %v", l.Len(), l.Paid, err)
	}
	err := l.Decode([]byte(strings.Repeat(line, 3000)), nanoseconds(), now, refuse)
	if err != full || l.Len() > l.Paid {
		t.Errorf("%d measures, memory for %d: %v", l.Len(), l.Paid, err)
	}
}

// A measurement of InfluxDB may have equals signs, one of Gnocchi not.
func TestMeasurementWithEqualsSigns(t *testing.T) {
	var l lineprotocol.Lines
	f := func(body, name, region string) {
		t.Helper()
		if faults := decode(t, &l, body, nanoseconds()); faults != nil {
			t.Fatal(faults)
		}
		labels, err := l.Labels(0, "")
		if err != nil || labels.Get("__name__") != name || labels.Get("region") != region {
			t.Errorf("%q: %q (%v)", body, labels, err)
		}
	}
	f("cpu=load,region=east value=1 5", "cpu=load_value", "east")
	f("cpu=,region=east value=1 5", "cpu=_value", "east")
	f("a=b=c value=1 5", "a=b=c_value", "")
	if _, err := l.Target(0, "region"); err == nil {
		t.Error("Gnocchi's mapping takes it")
	}
}
