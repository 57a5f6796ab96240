package measures_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/measures"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

const idText = "11111111-2222-3333-4444-5555aaaabbbb"

var (
	id  = uuid.MustParse(idText)
	now = carbonara.FromTime(time.Date(2026, 11, 21, 4, 13, 33, 0, time.UTC))
)

// decode decodes a body with a Decoder that another, refused body went through before.
func decode(batch bool, body string) (*model.Measures, error) {
	var d measures.Decoder
	dst := &model.Measures{}
	if err := d.DecodeBatch([]byte(`{"`+idText+`":[{"timestamp":1,"value":2},{"timestamp":1,"value":"x"}]}`),
		now, dst); err == nil {
		panic("accepted")
	}
	if batch {
		return dst, d.DecodeBatch([]byte(body), now, dst)
	}
	return dst, d.DecodeMetric([]byte(body), id, now, dst)
}

// show writes measures on one line: seconds since 1970 and value.
func show(m *model.Measures) string {
	var text strings.Builder
	for i, metric := range m.Metrics {
		if i > 0 || metric != id {
			fmt.Fprintf(&text, "%s:", metric)
		}
		ts, values := m.Of(i)
		for j := range ts {
			fmt.Fprintf(&text, " %.10g=%v", float64(ts[j])/1e9, values[j])
		}
		text.WriteString(";")
	}
	return text.String()
}

func TestDecodeMetric(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		m, err := decode(false, body)
		if err != nil {
			t.Errorf("%s: %v", body, err)
		} else if got := show(m); got != want+";" {
			t.Errorf("%s: got %s, want %s;", body, got, want)
		}
	}
	f(`[]`, "")
	f(` [ ] `, "")
	f(`{}`, "")
	f(`""`, "")
	f(`[{"timestamp": "2014-10-06T14:33:57", "value": 43.1}, {"timestamp": "2014-10-06T14:34:12", "value": 12}]`,
		" 1412606037=43.1 1412606052=12")
	f(
		"\n[{\"value\":1,\"timestamp\":\"1970-01-01 00:00:05\"},\r\n\t{ \"timestamp\" : \"1970-01-01T01:00:06.5+01:00\" , \"value\" : -2e3 } ] ", " 5=1 6.5=-2000")
	// Timestamps: all are read in the form of the first.
	f(
		`[{"timestamp":1,"value":1},{"timestamp":2.5,"value":2},{"timestamp":"3","value":3},{"timestamp":true,"value":4}]`, " 1=1 2.5=2 3=3 1=4")
	f(`[{"timestamp":"1","value":1},{"timestamp":2,"value":2}]`, " 1=1 2=2")
	f(`[{"timestamp":1e3,"value":1}]`, " 1000=1")
	f(`[{"timestamp":"2014-01","value":1},{"timestamp":"2014","value":2}]`, " 1388534400=1 1388534400=2")
	f(`[{"timestamp":"-1 hour","value":1},{"timestamp":10,"value":2},{"timestamp":"20","value":3}]`,
		fmt.Sprintf(" %d=1 %d=2 %d=3", now/1e9-3600, now/1e9+10, now/1e9+20))
	f(`[{"timestamp":"now","value":1},{"timestamp":"1970-01-01","value":1}]`, fmt.Sprintf(" %d=1 0=1", now/1e9))
	// Values.
	for text, want := range map[string]string{
		"12": "12", "-12.5": "-12.5", "0": "0", "-0": "0", "-0.0": "-0", "1E5": "100000", "1.5E-3": "0.0015", "5.": "5",
		"-.5": "-0.5", "007": "7",
		"1.e3": "1000", "0.1": "0.1", "123456789012345678901234567890": "1.2345678901234568e+29",
		"18446744073709551616": "1.8446744073709552e+19",
		"9007199254740993":     "9.007199254740992e+15", "9007199254740993.0": "9.007199254740992e+15", "1e23": "1e+23",
		"5e-324": "5e-324",
		"1e400":  "+Inf", "-1e400": "-Inf", "1e-400": "0", "1e99999999999999999999": "+Inf", "NaN": "NaN",
		"Infinity": "+Inf", "-Infinity": "-Inf",
		"true": "1", "false": "0", `"12"`: "12", `" 1_0 "`: "10", `"nan"`: "NaN", `"-INF"`: "-Inf", `"1e400"`: "+Inf",
		`"\u0031\u0032"`: "12",
	} {
		f(`[{"timestamp":1,"value":`+text+`}]`, " 1="+want)
	}
	// Other keys are ignored.
	f(`[{"timestamp":1,"value":2,"unit":{"a":[null,true,"\ud800",{}]}}]`, " 1=2")
	f(`[{"timestamp":1,"value":3,"x":1,"x":2}]`, " 1=3")
	f(`[{"time\u0073tamp":1,"value":2,"":0,"t\/":"\"\\\b\f\n\r\t\ud83d\ude00"}]`, " 1=2")
}

func TestDecodeBatch(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		m, err := decode(true, body)
		if err != nil {
			t.Errorf("%s: %v", body, err)
		} else if got := show(m); got != want {
			t.Errorf("%s: got %s, want %s", body, got, want)
		}
	}
	const other = "99999999-2222-3333-4444-555555555555"
	bare := strings.ReplaceAll(idText, "-", "")
	f(`{}`, "")
	f(` { } `, "")
	f(`{"`+idText+`":[]}`, ";")
	f(`{"`+idText+`": [{"timestamp": 1, "value": 2}], "`+other+`": [{"timestamp": "1970-01-01T00:00:03", "value": 4}]}`,
		" 1=2;"+other+": 3=4;")
	f(`{"`+strings.ToUpper(idText)+`": [{"timestamp": 1, "value": 2}]}`, " 1=2;")
	for _, form := range []string{bare, "{" + idText + "}", "urn:uuid:" + idText, "uuid:" + bare,
		`\u0031` + idText[1:]} {
		f(`{"`+form+`": [{"timestamp": 1, "value": 2}]}`, " 1=2;")
	}
	// Each list has its own form.
	f(`{"`+idText+`":[{"timestamp":"1970-01-01T00:00:01","value":1}],"`+other+`":[{"timestamp":"2","value":2}]}`,
		" 1=1;"+other+": 2=2;")
}

func TestErrors(t *testing.T) {
	f := func(batch bool, body, reason string, element ...string) {
		t.Helper()
		m, err := decode(batch, body)
		var fault *measures.DecodeError
		switch {
		case !errors.As(err, &fault) || !errors.Is(err, model.ErrInvalid):
			t.Errorf("%.80s: got error %v", body, err)
		case fault.Syntax || fault.Reason != reason || !slices.Equal(fault.Element, element):
			t.Errorf("%.80s: got %+v, want %q at %q", body, fault, reason, element)
		case len(fault.Path) > 1 || !batch && len(fault.Path) > 0 ||
			len(element) > 0 && batch && fault.Path[0] != element[0]:
			t.Errorf("%.80s: path %q", body, fault.Path)
		case !strings.HasPrefix(err.Error(), reason):
			t.Errorf("%.80s: %v", body, err)
		}
		if m.Len() != 0 || len(m.Metrics) != 0 || len(m.Offsets) != 0 || len(m.Values) != 0 {
			t.Errorf("%.80s: left %+v", body, m)
		}
	}
	const (
		format = "unexpected measures format"
		value  = "unexpected measures value"
		form   = "unexpected timestamp 'Unable to convert timestamps'"
		epoch  = "unexpected timestamp 'Timestamp must be after Epoch'"
		late   = "unexpected timestamp 'Timestamp must be before 2262-04-12'"
		place  = " for dictionary value @ data['" + idText + "']"
	)
	for _, body := range []string{`null`, `1`, `true`, `NaN`, `"abc"`, `{"timestamp":1,"value":2}`} {
		f(false, body, format)
	}
	for _, item := range []string{`1`, `"a"`, `[]`, `null`, `["2015-03-06T14:33:57", 43.1]`} {
		f(false, `[`+item+`]`, format, "0")
		f(false, `[{"timestamp":1,"value":2},`+item+`]`, format, "1")
	}
	f(false, `[{"value":1}]`, format, "0", "timestamp")
	f(false, `[{"timestamp":null,"value":1}]`, format, "0", "timestamp")
	f(false, `[{"timestamp":[1],"value":1}]`, format, "0", "timestamp")
	f(false, `[{"timestamp":{},"value":1}]`, format, "0", "timestamp")
	f(false, `[{"timestamp":1}]`, value, "0", "value")
	for _, v := range []string{`null`, `[]`, `{}`, `"x"`, `""`, `"0x1p3"`, strings.Repeat("1", 400),
		"-" + strings.Repeat("1", 400)} {
		f(false, `[{"timestamp":1,"value":`+v+`}]`, value, "0", "value")
	}
	f(false, `[{"timestamp":"x","value":1}]`, form, "0", "timestamp")
	f(false, `[{"timestamp":"","value":1}]`, form, "0", "timestamp")
	f(false, `[{"timestamp":NaN,"value":1}]`, form, "0", "timestamp")
	f(false, `[{"timestamp":-1,"value":1}]`, epoch, "0", "timestamp")
	f(false, `[{"timestamp":"1969-12-31","value":1}]`, epoch, "0", "timestamp")
	f(false, `[{"timestamp":9999999999,"value":1}]`, late, "0", "timestamp")
	f(false, `[{"timestamp":9999999999.999999999,"value":1}]`, late, "0", "timestamp")
	f(false, `[{"timestamp":1e400,"value":1}]`, late, "0", "timestamp")
	f(false, `[{"timestamp":"3000-01-01T00:00:00","value":1}]`, late, "0", "timestamp")
	// A key twice, in any spelling.
	for _, item := range []string{`{"timestamp":1,"value":2,"value":2}`, `{"timestamp":"x","timestamp":1,"value":3}`,
		`{"value":1,"timestamp":1,"v\u0061lue":null}`} {
		f(false, `[{"timestamp":1,"value":2},`+item+`]`, format, "1")
		f(true, `{"`+idText+`":[`+item+`]}`, format+place, idText, "0")
	}
	for _, again := range []string{idText, strings.ReplaceAll(idText, "-", ""), strings.ToUpper(idText)} {
		f(true, `{"`+idText+`":[{"timestamp":1,"value":2}],"`+again+`":[{"timestamp":3,"value":4}]}`,
			"the key stands there twice for dictionary value @ data['"+again+"']", again)
	}
	// One form a list.
	f(false, `[{"timestamp":1,"value":1},{"timestamp":"2014-10-06T14:33:57","value":1}]`, form, "1", "timestamp")
	f(false, `[{"timestamp":"2014-10-06T14:33:57","value":1},{"timestamp":1,"value":1}]`, form, "1", "timestamp")
	f(false, `[{"timestamp":"2014-10-06T14:33:57","value":1},{"timestamp":"-1 hour","value":1}]`,
		form, "1", "timestamp")
	f(false, `[{"timestamp":"-1 hour","value":1},{"timestamp":"2014-10-06T14:33:57","value":1}]`,
		form, "1", "timestamp")
	f(false, `[{"timestamp":"1","value":1},{"timestamp":"-1 hour","value":1}]`, form, "1", "timestamp")
	// Timestamps first.
	f(false, `[{"timestamp":1,"value":"x"},{"timestamp":"x","value":1}]`, form, "1", "timestamp")

	for _, body := range []string{`[]`, `null`, `1`, `"a"`, `""`} {
		f(true, body, "expected a dictionary")
	}
	for _, key := range []string{"x", "", idText[1:], idText + "1", "g" + idText[1:], "0x" + idText[2:],
		"@" + idText[1:], ":" + idText[1:], "`" + idText[1:], "\x11" + idText[1:]} {
		f(true, `{"`+key+`":[{"timestamp":1,"value":1}]}`, "extra keys not allowed @ data['"+key+"']", key)
	}
	f(true, `{"`+idText+`":[{"timestamp":1,"value":"x"}]}`, value+place, idText, "0", "value")
	f(true, `{"`+idText+`":null}`, format+place, idText)
	f(true, `{"`+idText+`":["x"]}`, format+place, idText, "0")
	f(true, `{"`+idText+`":[{"timestamp":"x","value":1}]}`, form+place, idText, "0", "timestamp")
}

func TestSyntaxErrors(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	bodies := []string{"", " ", "{", "[", "]", "[1,]", "[,1]", "[1 2]", "[1]x", "[1]]", "[1]\x00", "\ufeff[]", "[]\x0c",
		"tru", "nul", "True", "nan", "inf", "-", "[-]", "+1", ".", "1e", "1e+", "--1", "1_0", "0x10", "1.5.5", "-NaN",
		"-Inf", "Infinit", `"`, `"\x41"`,
		`"\u00`, `"\u00g0"`, `"\`, "\"\x00\"",
		"\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf5\x80\x80\x80\"", `{"a"}`, `{"a":}`, `{"a":1,}`, `{1:2}`,
		`{'a':1}`, `{"a":1 "b":2}`,
		`[{"timestamp":1,"value":1}`, `[{"timestamp":1,"value":1}]]`, `[{"timestamp":1,"value":1},]`,
		`[{"timestamp":1,"value":1,}]`, `[{"timestamp":1,"value":1.5.5}]`,
		`{"` + idText + `":[]`, `{"` + idText + `":[],}`, `{"` + idText + `":[]}]`, `{"` + idText + `"`, deep(1025),
		strings.Repeat("[", 1_000_000),
		strings.Repeat(`{"a":`, 1_000_000)}
	for _, body := range bodies {
		for _, batch := range []bool{false, true} {
			m, err := decode(batch, body)
			var fault *measures.DecodeError
			if !errors.As(err, &fault) || !fault.Syntax || !strings.Contains(fault.Reason, " at byte ") ||
				len(fault.Path) != 0 {
				t.Errorf("%.80q: got %v", body, err)
			}
			if m.Len() != 0 || len(m.Metrics) != 0 {
				t.Errorf("%.80q: left %+v", body, m)
			}
		}
	}
	if _, err := decode(false, deep(1024)); err == nil ||
		!strings.HasPrefix(err.Error(), "unexpected measures format") {
		t.Errorf("1024 deep: %v", err)
	}
}

// A metric that stands twice is found wherever the first list stands, also in batches that make the set of IDs grow.
func TestManyMetrics(t *testing.T) {
	const n = 5000
	var body strings.Builder
	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = uuid.NewSHA1(id, fmt.Append(nil, i))
		// White space and measures are shorter than the first size of the set expects.
		fmt.Fprintf(&body, `%c"%s":[]`, "{,"[min(i, 1)], ids[i])
	}
	m, err := decode(true, body.String()+"}")
	if err != nil || !slices.Equal(m.Metrics, ids) {
		t.Fatalf("got %d metrics, %v", len(m.Metrics), err)
	}
	for _, again := range []int{0, n / 2, n - 1} {
		for _, key := range []string{ids[again].String(), strings.ToUpper(ids[again].String())} {
			_, err := decode(true, body.String()+fmt.Sprintf(`,"%s":[{"timestamp":1,"value":7}]}`, key))
			if err == nil || !strings.Contains(err.Error(), "twice for dictionary value @ data['"+key) {
				t.Fatalf("again %s: %v", key, err)
			}
		}
	}
}

func TestNoAllocations(t *testing.T) {
	start := time.Date(2014, 10, 6, 14, 33, 57, 0, time.UTC)
	var d measures.Decoder
	var m model.Measures
	for layout, sizes := range map[string][2]int{
		`"2006-01-02T15:04:05"`:              {10_000, 1},
		`"2006-01-02T15:04:05.000000+00:00"`: {100, 60},
		"":                                   {100, 60}, // Unix time
	} {
		var body []byte
		for i := range sizes[0] {
			body = fmt.Appendf(body, `%s"%s": [`, []string{"{", ", "}[min(i, 1)], uuid.NewSHA1(uuid.Nil, fmt.Append(nil, i)))
			for j := range sizes[1] {
				at := start.Add(time.Duration(j) * time.Minute)
				text := at.Format(layout)
				if layout == "" {
					text = strconv.FormatInt(at.Unix(), 10)
				}
				body = fmt.Appendf(body, `%s{"timestamp": %s, "value": %v}`, []string{"", ", "}[min(j, 1)], text, float64(i)/1000)
			}
			body = append(body, ']')
		}
		body = append(body, '}')
		run := func() {
			if err := d.DecodeBatch(body, now, &m); err != nil || m.Len() != sizes[0]*sizes[1] {
				t.Fatal(err, m.Len())
			}
		}
		run()
		if n := testing.AllocsPerRun(5, run); n > 0 {
			t.Errorf("%s: %v allocations", layout, n)
		}
	}
	if math.IsNaN(m.Values[0]) {
		t.Error("NaN")
	}
}
