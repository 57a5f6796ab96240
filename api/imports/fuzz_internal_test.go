package imports

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/textparse"
	stale "github.com/prometheus/prometheus/model/value"

	"github.com/gnocco-db/gnocco/ingest/plaintext"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Of JSON lines, encoding/json alone finds the same measures.
func FuzzJSONLines(f *testing.F) {
	for _, seed := range []string{
		`{"metric":{"__name__":"up","job":"a"},"values":[1,null,"NaN"],"timestamps":[1,2,3]}`,
		`{"metric":{"__name__":"up"},"values":[1e3],"timestamps":[1]}` + "\n{\n\n" + `{"timestamps":[ 1 , 2 ],"values":["-Infinity",[]]}`,
		`{"metric":{"__name__":"a"},"values":"[1]","timestamps":[-1,1.5]}`, "\xff", "{}", "null", `{"values":{"a":1}}`,
		`{"metric":{},"values":[0],"timestamps":[0]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b := &body{text: []byte(text)}
		fatal.If(t, b.decodeJSON())
		want := 0
		for line := range strings.Lines(text) {
			var one struct {
				Metric     map[string]string
				Values     []any
				Timestamps []int64
			}
			if json.Unmarshal([]byte(line), &one) != nil {
				continue
			}
			usable := one.Metric["__name__"] != "" && len(one.Values) == len(one.Timestamps)
			measures := 0
			for i, at := range one.Timestamps {
				usable = usable && at >= 0 && at <= math.MaxInt64/1_000_000
				if usable && one.Values[i] != nil {
					measures++
				}
			}
			if usable {
				want += measures
			}
		}
		got, refused := 0, b.refused.Unread
		for i := range b.batch.Len() { // the labels of an unknown series are read here
			if _, err := b.batch.Name(i); err != nil {
				refused++
				continue
			}
			from, to := b.batch.Span(i)
			got += to - from
		}
		if times, values := b.batch.Columns(); len(times) != len(values) || got > want || refused > b.total {
			t.Fatalf("%d times, %d values, %d of named series, want %d at most; %d of %d lines refused", len(times),
				len(values), got, want, refused, b.total)
		}
		if refused == 0 && got != want {
			t.Fatalf("%d values, want %d", got, want)
		}
	})
}

// jsonLine is a line by encoding/json.
type jsonLine struct {
	Metric             map[string]string
	Values, Timestamps json.RawMessage
}

// A line that is read without encoding/json has the same labels, times and values by it.
func FuzzPlainLine(f *testing.F) {
	for _, seed := range []string{
		`{"metric":{"__name__":"up","job":"a"},"values":[1,null,"NaN"],"timestamps":[1,2,3]}`, `{"metric":{`,
		`{"metric":{},"values": [] ,"timestamps": [] }`, `{"metric":{"a":"b",},"values":[1],"timestamps":[1]}`,
		`{"metric":{"a":"b","a":""},"values":[01],"timestamps":[1]}`, `{"metric":{"a":"\u0041"},"values":1,"timestamps":2}`,
		`{"metric":{"a":"b"},"values":[1],"timestamps":[1],"x":2}`, `{"metric":{"a":"b"}},"values":[1],"timestamps":[1]}`,
		`{"metric":{"__name__":"b},"values":[1],"timestamps":[1]}`, `{"metric":{"a":"b"},"values":[-0.5e+1,0],"timestamps":[1,10]}`,
		`{"metric":{"a","b"},"values":[1],"timestamps":[1]}`, `{"metric":{"a":"b":"c"},"values":[1],"timestamps":[1]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		head, times, values, ok := cutMetric([]byte(text))
		if !ok {
			return
		}
		var want jsonLine
		var labels, got series.Labels
		fault, err := json.Unmarshal([]byte(text), &want), new(body).readMetric(head, &got)
		for name, value := range want.Metric {
			labels.Set(name, value)
		}
		if err != nil && strings.Contains(err.Error(), "stands there twice") {
			return
		}
		if fault != nil && err == nil || fault == nil && err != nil && labels.Get("__name__") != "" {
			t.Fatalf("%q: %v, want %v", text, err, fault)
		}
		if fault == nil && (err == nil && !slices.Equal(labels, got) || !bytes.Equal(times, inside(want.Timestamps)) ||
			!bytes.Equal(values, inside(want.Values))) {
			t.Fatalf("%q: %v %s %s, want %v %s %s", text, got, times, values, labels, want.Timestamps, want.Values)
		}
	})
}

// Each line is a row, refused, or says something about rows; the exposition format's other parser finds no series in
// text without rows.
func FuzzExposition(f *testing.F) {
	for _, seed := range []string{
		"# HELP a b\n# TYPE a counter\na{b=\"c\\n\\\"\"} 1 2\n", "a 1\nb{\n\xff\n\nc NaN\n",
		"# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 2\nh_sum 1\nh_count 2\n", "{\"a.b\",c=\"d\"} 1\n",
		"# TYPE s summary\ns{quantile=\"0.5\"} 1\n# EOF", "a 1 -5\na 0x1p3 99999999999999999",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b := &body{text: []byte(text), kind: "text/plain", now: 1}
		fatal.If(t, b.decodeText())
		if b.refused.Unread > b.total || b.batch.Len() > b.total {
			t.Fatalf("%d refused, %d rows of %d lines", b.refused.Unread, b.batch.Len(), b.total)
		}
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(bytes.NewReader(append([]byte(text), '\n')))
		if err != nil || b.refused.Unread > 0 {
			return
		}
		for name, family := range families {
			if len(family.Metric) > 0 && b.batch.Len() == 0 {
				t.Fatalf("%s has no row", name)
			}
		}
	})
}

// A line whose head is cut off has the labels, the time and the value of Prometheus' parser.
func FuzzTextLine(f *testing.F) {
	for _, seed := range []string{
		"a 1\n", "a{b=\"c}\"} 1.5 -2", "{\"a.b\",c=\"d\"} 1 2\n", "a{b=\"c} 5", "a{b=\"c\"} 1 # {} 2", "a +1 +1", "a 1 2\r\n",
		"# TYPE h histogram\nh_bucket{le=\"1\"} 2\n", "# TYPE h summary\nh{quantile=\"1\",quantile=\"2\"} 2 3\n", "a{b=\"c\",} 0x1 9",
		"a} 1", "a{} Inf 1", "a\x00 1", " a{} 1", "a\t1 \t 2", "a {b=\"c\"} 1", "a{b=\"1\",b=\"2\"} 1", "a 1e999", "a 1e-999",
		"a 0 -0",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var fast, slow body
		for _, b := range []*body{&fast, &slow} {
			b.reset()
			b.now = 7
			b.labels.Set("extra", "1")
		}
		line := plaintext.Trim([]byte(text))
		if len(line) == 0 || plaintext.Ends(line) > 0 || !utf8.Valid(line) {
			return
		}
		head, at, value, ok, err := cutHead(line, fast.now)
		if !ok || err != nil || stale.IsStaleNaN(value) {
			return
		}
		// Prometheus' parser wants one space each.
		text = string(head) + " " + strings.Join(strings.Fields(string(line[len(head):])), " ")
		fatal.If(t, fast.batch.AddHead(head, at, value))
		got, err := fast.batch.Name(0)
		refused := slow.parse(textparse.NewPromParser([]byte(text), slow.symbols, false), func() {})
		if refused != nil || slow.batch.Len() == 0 {
			if err == nil {
				t.Fatalf("%q: %v is accepted, %v", text, got, refused)
			}
			return
		}
		want, fault := slow.batch.Name(0)
		times, values := slow.batch.Columns()
		if (err == nil) != (fault == nil) || times[0] != at || math.Float64bits(values[0]) != math.Float64bits(value) ||
			err == nil && got.Labels != want.Labels {
			t.Fatalf("%q: %v %v %v %v, want %v %v %v %v", text, got, err, at, value, want, fault, times, values)
		}
	})
}
