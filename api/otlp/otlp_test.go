package otlp

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/model"
)

// message returns a message of fields: float64 is fixed64 as a double, uint64 fixed64, int a varint, others bytes.
func message(fields ...any) []byte {
	var m []byte
	for i := 0; i < len(fields); i += 2 {
		number := protowire.Number(fields[i].(int))
		switch v := fields[i+1].(type) {
		case float64:
			m = protowire.AppendFixed64(protowire.AppendTag(m, number, protowire.Fixed64Type), math.Float64bits(v))
		case uint64:
			m = protowire.AppendFixed64(protowire.AppendTag(m, number, protowire.Fixed64Type), v)
		case int:
			m = protowire.AppendVarint(protowire.AppendTag(m, number, protowire.VarintType), uint64(v))
		case string:
			m = protowire.AppendString(protowire.AppendTag(m, number, protowire.BytesType), v)
		case []byte:
			m = protowire.AppendBytes(protowire.AppendTag(m, number, protowire.BytesType), v)
		}
	}
	return m
}

// pair is an attribute of a key and a value that is text.
func pair(key, value string) []byte { return message(1, key, 2, message(1, value)) }

// export is a request of metrics of one resource.
func export(resource []byte, metrics ...[]byte) []byte {
	var scope []byte
	for _, m := range metrics {
		scope = append(scope, message(2, m)...)
	}
	return message(1, message(2, scope, 1, resource)) // the resource stands last, as it may
}

// rows returns the series of a body, one a line, and what is wrong with the first refused point.
func rows(t testing.TB, decode func([]byte, visitor) error, body []byte) (string, string) {
	t.Helper()
	tr := translator{batch: &series.Batch{}}
	tr.reset()
	err := decode(body, &tr)
	if err == nil {
		err = tr.endResource()
	}
	if err != nil {
		return "", err.Error()
	}
	var lines strings.Builder
	timestamps, values := tr.batch.Columns()
	for i := range tr.batch.Len() {
		name, err := tr.batch.Name(i)
		if err != nil {
			fmt.Fprintf(&lines, "%v\n", err)
			continue
		}
		lines.WriteString(name.Metric + "{")
		for label, value := range name.Labels.All() {
			if label != model.LabelName {
				fmt.Fprintf(&lines, "%s=%q,", label, value)
			}
		}
		fmt.Fprintf(&lines, "} %v %v\n", values[i], int64(timestamps[i]))
	}
	if len(values) != len(tr.pointOf) {
		t.Fatalf("%d measures of %d points", len(values), len(tr.pointOf))
	}
	return lines.String(), strings.Join(append(tr.texts, tr.notes...), "; ")
}

// Messages that mean nothing end a body once there are many of them, but not beside points.
func TestEmptyMessages(t *testing.T) {
	empty := message(2, message(1, "a"))
	var points, both []byte // at a time of its own each
	for i := range uint64(3 * mostEmpty) {
		point := message(2, message(1, "a", 5, message(1, message(3, uint64(1e9)+i, 4, 1.5))))
		points, both = append(points, point...), append(append(both, point...), empty...)
	}
	bodyOf := func(part []byte, times int) []byte {
		return message(1, message(2, bytes.Repeat(part, times)))
	}
	for _, body := range [][]byte{bodyOf(empty, 2*mostEmpty), bytes.Repeat(message(1, []byte{}), 2*mostEmpty),
		message(1, bytes.Repeat(message(2, []byte{}), 2*mostEmpty))} {
		if _, err := rows(t, decodeProtobuf, body); err != errEmpty.Error() {
			t.Errorf("empty: %.100s", err)
		}
	}
	timeless := message(1, []byte{})
	refused := func(times int) []byte {
		return bodyOf(message(2, message(1, "a", 5, bytes.Repeat(timeless, times))), 1)
	}
	if _, err := rows(t, decodeProtobuf, refused(2*mostUseless)); !strings.HasPrefix(err, "more than 1000000 points") {
		t.Errorf("refused points: %.100s", err)
	}
	if _, err := rows(t, decodeProtobuf, refused(mostUseless/2)); err != "" && !strings.HasPrefix(err, "a: ") {
		t.Errorf("fewer refused points: %.100s", err)
	}
	for _, body := range [][]byte{bodyOf(empty, mostEmpty/2), bodyOf(points, 1), bodyOf(both, 1)} {
		if got, err := rows(t, decodeProtobuf, body); err != "" {
			t.Errorf("%d bytes: %.100s", len(got), err)
		}
	}
}

// Each kind of point becomes the series that Prometheus makes of it.
func TestSeries(t *testing.T) {
	f := func(want, refused string, resource []byte, metrics ...[]byte) {
		t.Helper()
		got, first := rows(t, decodeProtobuf, export(resource, metrics...))
		if got != want || first != refused {
			t.Errorf("%s%s\nwant:\n%s%s", got, first, want, refused)
		}
	}
	at := uint64(1e9)
	number := func(fields ...any) []byte { return message(append([]any{3, at}, fields...)...) }
	f("a_b{} 1.5 1000000000\n", "", nil, message(1, "a.b", 5, message(1, number(4, 1.5))))
	f("a_ratio{} -5 1000000000\n", "", nil, message(1, "a", 3, "1", 5, message(1, number(6, uint64(math.MaxUint64-4)))))
	f("", "", nil, message(1, "a", 5, message(1, number(4, 1.5, 8, 1)))) // no recorded value
	f("x_total{k_1=\"a;b\",} 2 1000000000\n", "", nil,
		message(1, "x", 7, message(1, number(7, pair("k.1", "a"), 7, pair("k/1", "b"), 4, 2.0), 2, cumulative, 3, 1)))
	f("x{} 2 1000000000\n", "", nil, message(1, "x", 7, message(1, number(4, 2.0), 2, cumulative)))
	f("x_seconds{} 2 1000000000\n", "", nil, message(1, "x", 3, "s", 7, message(1, number(4, 2.0), 2, delta, 3, 1)))
	f("", "x: the metric has no aggregation temporality", nil, message(1, "x", 7, message(1, number(4, 2.0), 3, 1)))
	f("x{__histogram__=\"count\",} 6 1000000000\nx{__histogram__=\"sum\",} 4.5 1000000000\n"+
		"x{__histogram__=\"zero:-1:0.25\",} 1 1000000000\nx{__histogram__=\"positive:-1:3\",} 3 1000000000\n"+
		"x{__histogram__=\"positive:-1:4\",} 2 1000000000\n", "", nil, message(1, "x", 10, message(1,
		number(4, uint64(6), 5, 4.5, 6, 1, 7, uint64(1), 8, message(1, 4, 2, 3, 2, 2), 14, 0.25), 2, cumulative)))
	f("", "x: histogram has an invalid schema, which must be between -4 and 8 for exponential buckets, or -53 for custom "+
		"buckets, got schema -5", nil, message(1, "x", 10, message(1, number(6, 9), 2, cumulative)))
	f("", "x: its points are of no known kind", nil, message(1, "x", 6, message(1, number()))) // which was taken back
	f("x{} 1.5 1000000000\n", "", nil, message(1, "x", 13, message(1, "new"), 5, message(1, number(4, 1.5)), 12, pair("k", "v")))
	// Of a field that a message has once, both are refused where they differ.
	f("", "a: its points are of several kinds", nil,
		message(1, "a", 5, message(1, number(4, 1.0)), 7, message(1, number(4, 2.0), 2, cumulative)))
	f("a{} 1 1000000000\na{k=\"v\",} 2 1000000000\n", "", nil,
		message(1, "a", 5, message(1, number(4, 1.0)), 5, message(1, number(4, 2.0, 7, pair("k", "v")))))
	f("", "a: dataPoints[0]: it has several values", nil, message(1, "a", 5, message(1, number(4, 1.0, 6, uint64(2)))))
	f("a{} 2 1000000000\n", "", nil, message(1, "a", 5, message(1, number(4, 2.0, 6, uint64(2)))))
	f("", ": the metric has no name", nil, message(5, message(1, number(4, 1.0))))
	f("", "a: "+errTime.Error(), nil, message(1, "a", 5, message(1, message(4, 1.5), 1, message(3, uint64(1<<63), 4, 1.5))))
	f("h_bucket{le=\"0.5\",} 1 1000000000\nh_bucket{le=\"2\",} 3 1000000000\nh_bucket{le=\"+Inf\",} 6 1000000000\n"+
		"h_count{} 6 1000000000\nh_sum{} 9.5 1000000000\n", "", nil,
		message(1, "h", 9, message(1, number(4, uint64(6), 5, 9.5, 7, 0.5, 7, 2.0, 6, uint64(1), 6, uint64(2), 6, uint64(3)),
			2, cumulative)))
	f("", "h: a histogram has other than one bucket more than bounds", nil,
		message(1, "h", 9, message(1, number(6, uint64(1), 6, uint64(1)), 2, cumulative)))
	f("s{quantile=\"0.5\",} 3 1000000000\ns_count{} 2 1000000000\ns_sum{} 7 1000000000\n", "", nil,
		message(1, "s", 11, message(1, number(4, uint64(2), 5, 7.0, 6, message(1, 0.5, 2, 3.0)))))

	// The point's own job does not stand against the resource's, and the answer says so.
	resource := message(1, pair("service.name", "cart"), 1, pair("service.namespace", "shop"),
		1, pair("service.instance.id", "i"), 1, message(1, "n", 2, message(3, 5)), 1,
		message(1, "l", 2, message(5, message(1, message(2, 1), 1, message(6, message(1, pair("k", "v")))))))
	f(`a{instance="i",job="shop/cart",} 1 1000000000
target_info{instance="i",job="shop/cart",l="[true,{\"k\":\"v\"}]",n="5",} 1 1000000000
`, `a: attribute "job" was left out: its label has another meaning`, resource,
		message(1, "a", 5, message(1, number(4, 1.0, 7, pair("job", "own")))))

	// Attributes tell points from each other as far as labels do.
	two := func(key string) []byte {
		points := message(1, number(4, 1.0, 7, pair(key, "1")), 1, number(4, 1.0, 7, pair(key, "2")))
		return message(1, "a", 7, append(points, message(2, delta)...))
	}
	f("a{job=\"s\",} 1 1000000000\n", "a: a point of the same series and time stands before it; "+
		`a: attribute "job" was left out: its label has another meaning`, message(1, pair("service.name", "s")), two("job"))
	f("a{job=\"1\",} 1 1000000000\na{job=\"2\",} 1 1000000000\n", "", nil, two("job"))
	f("a{主机=\"1\",} 1 1000000000\na{主机=\"2\",} 1 1000000000\n", "", nil, two("主机"))
	f("a{...=\"1\",} 1 1000000000\na{...=\"2\",} 1 1000000000\n", "", nil, two("..."))
	f("a{} 1 1000000000\n", "a: a point of the same series and time stands before it; "+
		`a: attribute "__name__" was left out: its label has another meaning`, nil, two("__name__"))

	// Values of attributes have bounds, and only their own series is refused.
	long := strings.Repeat("v", maxValueBytes)
	if got, _ := rows(t, decodeProtobuf, export(message(1, pair("service.name", "s"), 1, pair("long", long)),
		message(1, "a", 5, message(1, number(4, 1.0))))); !strings.HasPrefix(got, "a{job=\"s\",} 1") {
		t.Errorf("%.200s", got)
	}
	deep := message(1, "v")
	for range 100 {
		deep = message(5, message(1, deep))
	}
	many := bytes.Repeat(message(7, []byte{}), maxParts+1)
	one := func(name string, point []byte) []byte { return message(2, message(1, name, 5, message(1, point))) }
	odd := func(told string, stored int, resource, scope, point []byte) {
		t.Helper()
		same := bytes.Join([][]byte{scope, one("a", point), one("c", number(4, 1.0))}, nil)
		body := message(1, bytes.Join([][]byte{resource, message(2, same), message(2, one("b", number(4, 1.0)))}, nil))
		got, text := rows(t, decodeProtobuf, body)
		if !strings.Contains(text, told) || strings.Count(got, "\n") != stored {
			t.Errorf("%q, want %q and %d points:\n%s", text, told, stored, got)
		}
	}
	kv := message(1, "deep", 2, deep)
	odd(`a: attribute "deep": an attribute's value is nested too deep`, 0, message(1, message(1, kv)), nil, number(4, 1.0))
	odd(`a: attribute "deep": an attribute's value is nested too deep`, 1, nil, message(1, message(3, kv)), number(4, 1.0))
	odd(`a: dataPoints[0]: attribute "deep": an`, 2, nil, nil, number(4, 1.0, 7, kv))
	odd(`a: dataPoints[0]: too many attributes`, 2, nil, nil, many)
	both := message(1, "both", 2, message(1, "x", 3, 5))
	odd(`a: dataPoints[0]: attribute "both": it has several values`, 2, nil, nil, number(4, 1.0, 7, both))
}

const everyKind = `{"resourceMetrics": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "s"}},
{"key": "k", "value": {"kvlistValue": {"values": [{"key": "a", "value": {"arrayValue": {"values": [{"intValue": "5"},
{"boolValue": true}, {"bytesValue": "AQI="}]}}}]}}}]}, "scopeMetrics": [{"metrics": [
{"name": "g", "gauge": {"dataPoints": [{"timeUnixNano": "1000000000", "asInt": "-7"}, {"timeUnixNano": 2000000000, "asDouble": "NaN"}]}},
{"name": "c", "sum": {"aggregationTemporality": 2, "isMonotonic": true, "dataPoints": [{"timeUnixNano": "1", "asDouble": 1.5, "exemplars": [{}]}]}},
{"name": "h", "histogram": {"aggregationTemporality": 2, "dataPoints": [{"timeUnixNano": "1", "count": "3", "sum": 4.5, "bucketCounts": ["1", 2], "explicitBounds": [0.5]}]}},
{"name": "q", "summary": {"dataPoints": [{"timeUnixNano": "1", "count": 3, "sum": 4.5, "quantileValues": [{"quantile": 0.5, "value": "Infinity"}]}]}},
{"name": "e", "exponentialHistogram": {"aggregationTemporality": 1, "dataPoints": [{"timeUnixNano": "1", "count": 3, "zeroCount": "1",
"negative": {"offset": -5, "bucketCounts": ["2"]}}]}}]}]}]}`

// JSON has the same content, with integers as text or numbers.
func TestJSON(t *testing.T) {
	got, first := rows(t, decodeJSON, []byte(everyKind))
	const want = `g{job="s",} -7 1000000000
g{job="s",} NaN 2000000000
c_total{job="s",} 1.5 1
h_bucket{job="s",le="0.5",} 1 1
h_bucket{job="s",le="+Inf",} 3 1
h_count{job="s",} 3 1
h_sum{job="s",} 4.5 1
q{job="s",quantile="0.5",} +Inf 1
q_count{job="s",} 3 1
q_sum{job="s",} 4.5 1
e{__histogram__="gauge:count",job="s",} 3 1
e{__histogram__="gauge:sum",job="s",} 0 1
e{__histogram__="gauge:zero:0:1e-128",job="s",} 1 1
e{__histogram__="gauge:negative:0:-4",job="s",} 2 1
target_info{job="s",k="{\"a\":[5,true,\"AQI=\"]}",} 1 2000000000
`
	if got != want || first != "" {
		t.Errorf("%s%s", got, first)
	}
}

// Any body is read or refused, and each row has a valid time.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(everyKind))
	f.Add(export(message(1, pair("service.name", "s")), message(1, "h", 9, message(1,
		message(3, uint64(1e9), 4, uint64(6), 7, 0.5, 6, uint64(1), 6, uint64(5), 9, pair("k", "v")), 2, cumulative))))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, decode := range []func([]byte, visitor) error{decodeProtobuf, decodeJSON} {
			tr := translator{batch: &series.Batch{}}
			tr.reset()
			if decode(body, &tr) != nil || tr.endResource() != nil {
				continue
			}
			timestamps, _ := tr.batch.Columns()
			for i := range tr.batch.Len() {
				name, err := tr.batch.Name(i)
				if err == nil && !name.Labels.Valid() || timestamps[i] < 1 {
					t.Fatalf("%q: row %d is %v, %v", body, i, name, err)
				}
			}
		}
	})
}

// BenchmarkDecode makes series of 1,000 sums of one measure each, with three attributes.
func BenchmarkDecode(b *testing.B) {
	var points []byte
	for i := range 1000 {
		points = append(points, message(1, message(3, uint64(1e18), 4, float64(i), 7, pair("http.method", "GET"),
			7, pair("path", fmt.Sprint("/", i)), 7, pair("code", "200")))...)
	}
	body := export(message(1, pair("service.name", "s"), 1, pair("service.instance.id", "i")),
		message(1, "http.requests", 7, append(points, message(2, cumulative, 3, 1)...)))
	tr := translator{batch: &series.Batch{}}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		tr.reset()
		if err := decodeProtobuf(body, &tr); err != nil || tr.batch.Len() != 1000 {
			b.Fatal(err, tr.batch.Len())
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/measure")
}

// BenchmarkDecodeMany makes 100 gauges of sixty measures each.
func BenchmarkDecodeMany(b *testing.B) {
	var points []byte
	for i := range 100 {
		for j := range uint64(60) {
			points = append(points, message(1, message(3, uint64(1e18)+j*1e9, 4, float64(i), 7, pair("instance", fmt.Sprint("host-", i)),
				7, pair("job", "node"), 7, pair("pod", fmt.Sprint("pod-", i)), 7, pair("zone", "z1")))...)
		}
	}
	body := export(nil, message(1, "http.requests", 5, points))
	tr := translator{batch: &series.Batch{}}
	b.ReportAllocs()
	for b.Loop() {
		tr.reset()
		tr.latest = carbonara.MaxTimestamp
		if err := decodeProtobuf(body, &tr); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/6000, "ns/measure")
}

// A scope becomes labels, as OpenTelemetry's rules for Prometheus say. Wherever it stands in the message.
func TestScope(t *testing.T) {
	metric := message(2, message(1, "g", 5, message(1, message(3, uint64(1e9), 4, 1.5, 7, pair("otel_scope_name", "own")))))
	f := func(want, told string, scope ...any) {
		t.Helper()
		body := message(1, message(2, append(append(metric, message(1, message(scope...))...), message(3, "https://s/1")...)))
		got, first := rows(t, decodeProtobuf, body)
		if got != want || first != told {
			t.Errorf("%s%s\nwant:\n%s%s", got, first, want, told)
		}
	}
	f("g{otel_scope_a_b=\"1\",otel_scope_name=\"lib\",otel_scope_schema_url=\"https://s/1\",otel_scope_version=\"2\",} 1.5 1000000000\n",
		`g: attribute "otel_scope_name" was left out: its label has another meaning`, 1, "lib", 2, "2", 3, pair("a.b", "1"),
		3, pair("name", "dropped"), 3, pair("version", "dropped"))
	f("g{otel_scope_name=\"own\",otel_scope_schema_url=\"https://s/1\",} 1.5 1000000000\n", "")
	f("", `g: attribute "k" of the resource or scope stands there twice`, 3, pair("k", "1"), 3, pair("k", "2"))
}

// A field that stands there twice, or is odd, costs the points below it: each of them is counted, once.
func TestOddFieldsCostTheirPoints(t *testing.T) {
	f := func(stored, refused int, body string) {
		t.Helper()
		tr := translator{batch: &series.Batch{}}
		tr.reset()
		err := decodeJSON([]byte(body), &tr)
		got := tr.batch.Len()
		if err != nil || got != stored || tr.refused["unreadable"] != refused || tr.points != stored+refused {
			t.Errorf("%s: %d stored, %v refused of %d; want %d, %d", body, got, tr.refused, tr.points, stored, refused)
		}
	}
	at := 0
	list := func(name string, of ...string) string { return fmt.Sprintf("%q:[%s]", name, strings.Join(of, ",")) }
	points := func(n int) string {
		var all []string
		for range n {
			at++
			all = append(all, fmt.Sprintf(`{"asInt":"1","timeUnixNano":"%d"}`, at))
		}
		return list("dataPoints", all...)
	}
	gauge := func(name string, fields ...string) string {
		return fmt.Sprintf(`{"name":%q,"gauge":{%s}}`, name, strings.Join(fields, ","))
	}
	scope := func(fields ...string) string { return "{" + strings.Join(fields, ",") + "}" }
	body := func(fields ...string) string { return `{"resourceMetrics":[{` + strings.Join(fields, ",") + "}]}" }
	metrics := func(n int) string { return list("metrics", gauge("a", points(n)), gauge("b", points(1))) }
	whole := list("scopeMetrics", scope(metrics(3)))

	f(2, 0, body(list("scopeMetrics", scope(metrics(1)))))
	f(0, 8, body(whole, whole))
	f(0, 12, body(whole, whole, whole))
	f(0, 9, body(list("scopeMetrics", scope(metrics(3), metrics(4)))))
	f(1, 5, body(list("scopeMetrics", scope(list("metrics", gauge("a", points(2), points(3)), gauge("b", points(1)))))))
	f(1, 5, body(list("scopeMetrics", scope(list("metrics", gauge("b", points(1)),
		`{"name":"a","gauge":{`+points(2)+`},"gauge":{`+points(3)+`}}`)))))
	f(1, 5, body(list("scopeMetrics", scope(list("metrics", gauge("b", points(1)),
		`{"name":"a","gauge":{`+points(2)+`},"sum":{`+points(3)+`}}`)))))
	f(1, 4, body(list("scopeMetrics", scope(list("metrics", gauge("b", points(1)), `{"name":"a","name":"c","metadata":[1,2],`+
		`"metadata":[3],"gauge":{`+points(4)+"}}")))))
	f(0, 4, body(list("scopeMetrics", scope(`"schemaUrl":5`, metrics(3)))))
	f(0, 4, body(list("scopeMetrics", scope(`"scope":{"name":5}`, metrics(3)))))
	f(0, 4, body(`"resource":5`, whole))
	f(0, 4, body(`"resource":{},"resource":{}`, whole))
	f(0, 4, body(`"scopeMetrics":{"a":{`+list("scopeMetrics", scope(metrics(3)))+"}}"))
	f(0, 1, body(`"scopeMetrics":5`))
	f(0, 1, body(list("scopeMetrics", scope(`"metrics":5`))))
}

// Two points of one series and time are one, and the other is named: within a metric, two of the same name, two scopes
// without a name, two resources. Points that differ by anything are both stored.
func TestTwoPointsOfOneSeriesAndTime(t *testing.T) {
	at := func(seconds int, value float64, fields ...any) []byte {
		return message(1, message(append([]any{3, uint64(seconds) * 1e9, 4, value}, fields...)...))
	}
	scope := func(name string, metrics ...[]byte) []byte {
		s := message(1, message(1, name))
		for _, m := range metrics {
			s = append(s, message(2, m)...)
		}
		return message(2, s)
	}
	gauge := func(name string, points ...[]byte) []byte {
		var all []byte
		for _, p := range points {
			all = append(all, p...)
		}
		return append(message(1, name), message(5, all)...)
	}
	f := func(stored, refused int, resources ...[]byte) {
		t.Helper()
		var body []byte
		for _, r := range resources {
			body = append(body, message(1, r)...)
		}
		tr := translator{batch: &series.Batch{}}
		tr.reset()
		if err := decodeProtobuf(body, &tr); err != nil || tr.batch.Len() != stored || tr.refused["duplicate"] != refused {
			t.Errorf("%x: %d rows, refused %v, %v, %v; want %d and %d", body, tr.batch.Len(), tr.refused, tr.texts, err, stored, refused)
		}
	}
	f(1, 1, scope("a", gauge("g", at(1, 1), at(1, 2))))
	f(2, 0, scope("a", gauge("g", at(1, 1), at(2, 2))))
	f(3, 2, scope("a", gauge("g", at(2, 1), at(1, 2), at(2, 3), at(3, 4), at(1, 5))))
	f(4, 1, scope("a", gauge("g", at(2, 1)), gauge("h", at(1, 1)), gauge("g", at(1, 1)), gauge("h", at(2, 1), at(1, 1))))
	f(1, 1, scope("a", gauge("g", at(1, 1)), gauge("g", at(1, 1))))
	f(4, 2, scope("a", gauge("g", at(1, 1), at(2, 2)), gauge("h", at(1, 1)), gauge("g", at(2, 1), at(3, 1)),
		gauge("h", at(1, 2))))
	f(1, 1, scope("a", gauge("q.depth", at(1, 1)), gauge("q_depth", at(1, 2)))) // one name in Prometheus
	f(2, 0, scope("a", gauge("g", at(1, 1))), scope("b", gauge("g", at(1, 2))))
	f(1, 1, scope("", gauge("g", at(1, 1))), scope("", gauge("g", at(1, 2))))
	f(2, 0, scope("a", gauge("g", at(1, 1, 7, pair("k", "1")), at(1, 2, 7, pair("k", "2")))))
	f(1, 1, scope("a", gauge("g", at(1, 1, 7, pair("k", "1"), 7, pair("l", "2")), at(1, 2, 7, pair("l", "2"), 7, pair("k", "1")))))
	f(0, 0, scope("a", gauge("g", at(1, 1, 8, 1), at(1, 2, 8, 1)))) // ends of series
	if got, told := rows(t, decodeProtobuf, message(1, scope("a", gauge("g", at(1, 1, 7, pair("k", "1"), 7, pair("k", "1")))))); got != "" ||
		told != `g: attribute "k" stands there twice` {
		t.Error(got, told)
	}
}

// Identifying attributes distinguish resources. Two resources with the same ones are reported, even when their requests
// alternate.
func TestResources(t *testing.T) {
	f := func(job, instance string, attributes ...string) {
		t.Helper()
		var list []attribute
		for i := 0; i < len(attributes); i += 2 {
			list = append(list, attribute{attributes[i], attributes[i+1]})
		}
		if gotJob, got := jobAndInstance(list); gotJob != job || got != instance {
			t.Errorf("%q: %q, %q; want %q, %q", attributes, gotJob, got, job, instance)
		}
	}
	f("", "")
	f("shop/cart", "i", "service.name", "cart", "service.namespace", "shop", "service.instance.id", "i", "host.name", "h")
	f("cart", "shop.cart-1.app", "service.name", "cart", "k8s.pod.name", "cart-1", "k8s.namespace.name", "shop",
		"k8s.container.name", "app", "host.name", "h")
	f("cart", "cart-1", "service.name", "cart", "k8s.pod.name", "cart-1")
	f("", "h", "host.name", "h")
	f("", "7", "host.name", "h", "host.id", "7")
	f("cart", "c", "service.name", "cart", "host.name", "h", "container.id", "c")

	resource := func(attributes ...[]byte) []byte {
		var r []byte
		for _, a := range attributes {
			r = append(r, message(1, a)...)
		}
		return export(r, message(1, "g", 5, message(1, message(3, uint64(1e9), 4, 1.0))))
	}
	two := append(resource(pair("service.name", "s"), pair("zone", "a")), resource(pair("zone", "b"), pair("service.name", "s"))...)
	if _, told := rows(t, decodeProtobuf, two); !strings.Contains(told, `the same job "s" and instance ""`) {
		t.Error(told)
	}
	same := append(resource(pair("service.name", "s"), pair("zone", "a")), resource(pair("zone", "a"), pair("service.name", "s"))...)
	if _, told := rows(t, decodeProtobuf, same); strings.Contains(told, "instance") {
		t.Error(told)
	}
	if _, told := rows(t, decodeProtobuf, resource(pair("service.name", "s"), pair("service.name", "t"))); told !=
		`g: attribute "service.name" of the resource or scope stands there twice` {
		t.Error(told)
	}

	var seen resources
	key := resourceKey{"s", ""}
	a, b := fingerprint([]attribute{{"zone", "a"}}), fingerprint([]attribute{{"zone", "b"}})
	for i, step := range []struct {
		user string
		is   keyhash.Hash
		want bool
	}{{"u", a, false}, {"u", a, false}, {"u", b, false}, {"v", a, false}, {"u", b, false}, {"u", a, true}, {"u", b, true}} {
		if got := seen.alternate(step.user, key, step.is); got != step.want {
			t.Errorf("step %d: %v", i, got)
		}
	}
	for i := range maxResources + 10 {
		seen.alternate(fmt.Sprint(i), key, a)
	}
	if len(seen.last) != maxResources {
		t.Errorf("%d are remembered", len(seen.last))
	}
}

// An odd element of JSON costs itself, with its name, beside a good gauge that is stored in each case. No text names a
// type of Go.
func TestOddJSON(t *testing.T) {
	const good = `{"name": "good", "gauge": {"dataPoints": [{"timeUnixNano": 1, "asInt": 1}]}}`
	f := func(stored, told, metrics string) {
		t.Helper()
		body := `{"resourceMetrics": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "s"}}]},
			"scopeMetrics": [{"metrics": [` + metrics + "," + good + `]}]}]}`
		got, first := rows(t, decodeJSON, []byte(body))
		if got != stored+"good{job=\"s\",} 1 1\n" || !strings.Contains(first, told) || told == "" && first != "" ||
			strings.Contains(first, "Go ") || strings.Contains(first, "json:") {
			t.Errorf("%s:\n%s%s\nwant %s", metrics, got, first, told)
		}
	}
	sum := func(fields string) string {
		return `{"name": "c", "sum": {` + fields + `"dataPoints": [{"timeUnixNano": "2", "asInt": "5"}]}}`
	}
	f("c{job=\"s\",} 5 2\n", "", sum(`"aggregationTemporality": "AGGREGATION_TEMPORALITY_DELTA", `))
	f("c_total{job=\"s\",} 5 2\n", "", sum(`"aggregationTemporality": "AGGREGATION_TEMPORALITY_CUMULATIVE", "isMonotonic": true, `))
	f("c{job=\"s\",} 5 2\n", "", sum(`"aggregationTemporality": "1", `))
	f("", "c: the metric has no aggregation temporality", sum(`"aggregationTemporality": "AGGREGATION_TEMPORALITY_UNSPECIFIED", `))
	f("", `c: aggregationTemporality "delta" is not an integer of 32 bits`, sum(`"aggregationTemporality": "delta", `))
	f("", `c: isMonotonic "yes" is not true or false`, sum(`"aggregationTemporality": 2, "isMonotonic": "yes", `))
	gauge := func(points string) string { return `{"name": "g", "gauge": {"dataPoints": [` + points + `]}}` }
	point := func(value string) string { return gauge(`{"timeUnixNano": 2, ` + value + `}`) }
	f("g{job=\"s\",} 1 2\n", "", point(`"asInt": "1.0"`))
	f("g{job=\"s\",} 1200 2\n", "", point(`"asInt": 1.2e3`))
	f("", `g: dataPoints[0]: asInt "1.5" is not an integer of 64 bits`, point(`"asInt": "1.5"`))
	f("", `g: dataPoints[0]: asInt 9223372036854775808 is not`, point(`"asInt": 9223372036854775808`))
	f("", `g: dataPoints[0]: asInt "0x10" is not`, point(`"asInt": "0x10"`))
	f("", `g: dataPoints[0]: asDouble 1e999 is not a number of 64 bits`, point(`"asDouble": 1e999`))
	f("", `g: dataPoints[0]: asDouble 1e-999 is not a number of 64 bits`, point(`"asDouble": 1e-999`))
	f("", `g: dataPoints[0]: asDouble {} is not a number of 64 bits`, point(`"asDouble": {}`))
	f("", `g: dataPoints[0]: asDouble true is not a number of 64 bits`, point(`"asDouble": true`))
	f("g{job=\"s\",} NaN 2\n", "", point(`"asDouble": NaN`))
	f("g{job=\"s\",} -Inf 2\n", "", point(`"asDouble": -Infinity, "attributes": []`))
	f("g{job=\"s\",k=\"a \\\\\\\" NaN\",} +Inf 2\n", "",
		point(`"asDouble": Infinity, "attributes": [{"key": "k", "value": {"stringValue": "a \\\" NaN"}}]`))
	f("g{job=\"s\",} 1 1795886392000000000\n", "", gauge(`{"timeUnixNano": 1.795886392e18, "asInt": 1}`))
	f("", `g: dataPoints[0]: timeUnixNano -5 is not an unsigned integer of 64 bits`, gauge(`{"timeUnixNano": -5, "asInt": 1}`))
	f("", `g: dataPoints[0]: timeUnixNano "2026-01-01" is not`, gauge(`{"timeUnixNano": "2026-01-01", "asInt": 1}`))
	f("g{job=\"s\",} 7 3\n", `g: dataPoints[0]: it is not an object`, gauge(`5, {"timeUnixNano": 3, "asInt": 7}`))
	f("g{job=\"s\",} 7 3\n", `g: dataPoints[1]: attributes[0]: key "k": intValue "a" is not an integer of 64 bits`,
		gauge(`{"timeUnixNano": 3, "asInt": 7}, {"timeUnixNano": 4, "asInt": 7, "attributes": [{"key": "k", "value": {"intValue": "a"}}]}`))
	f("", `g: dataPoints[0]: attributes[0]: it is not an object`, point(`"asInt": 1, "attributes": ["k"]`))
	f("", `g: dataPoints[0]: attributes {} is not a list`, point(`"asInt": 1, "attributes": {}`))
	f("g{job=\"s\",} 1 2\n", `g: exemplars[0] was left out: asInt "a" is not`, point(`"asInt": 1, "exemplars": [{"asInt": "a"}]`))
	f("", "g: dataPoints 5 is not a list", `{"name": "g", "gauge": {"dataPoints": 5}}`)
	f("", "gauge 5 is not an object", `{"name": "g", "gauge": 5}`)
	f("", "name 5 is not text", `{"name": 5, "gauge": {"dataPoints": [{}]}}`)
	f("", "metrics[0] is not an object", `"g"`)
	histogram := func(fields string) string {
		return `{"name": "h", "histogram": {"aggregationTemporality": 2, "dataPoints": [{"timeUnixNano": 2, "count": 1, ` + fields + `}]}}`
	}
	f("", `h: dataPoints[0]: bucketCounts ["a",1] is not a list of unsigned`, histogram(`"bucketCounts": ["a", 1], "explicitBounds": [1]`))
	f("", `h: dataPoints[0]: explicitBounds [null] is not a list of numbers`, histogram(`"bucketCounts": [0, 1], "explicitBounds": [null]`))
	f("", `h: dataPoints[0]: quantileValues`, `{"name": "h", "summary": {"dataPoints": [{"timeUnixNano": 2, "quantileValues": [5]}]}}`)
	deep := strings.Repeat(`{"arrayValue": {"values": [`, 50) + strings.Repeat(`]}}`, 50)
	f("", `nested too deep`, point(`"asInt": 1, "attributes": [{"key": "k", "value": `+deep+`}]`))

	whole := func(stored, told, body string) {
		t.Helper()
		got, first := rows(t, decodeJSON, []byte(body))
		if got != stored || !strings.Contains(first, told) || strings.Contains(first, "Go ") {
			t.Errorf("%s:\n%s%s\nwant %s", body, got, first, told)
		}
	}
	const metric = `"scopeMetrics": [{"metrics": [` + good + `]}]`
	whole("good{} 1 1\n", "resourceMetrics[0] is not an object", `{"resourceMetrics": [7, {`+metric+`}]}`)
	whole("", "resourceMetrics 7 is not a list", `{"resourceMetrics": 7}`)
	whole("", "scopeMetrics 7 is not a list", `{"resourceMetrics": [{"scopeMetrics": 7}]}`)
	whole("", "good: resource 7 is not an object", `{"resourceMetrics": [{"resource": 7, `+metric+`}]}`)
	whole("", `good: resource: attributes[0]: key "service.name": intValue "x"`,
		`{"resourceMetrics": [{"resource": {"attributes": [{"key": "service.name", "value": {"intValue": "x"}}]}, `+metric+`}]}`)
	whole("good{job=\"s\",} 1 1\n", `resource: attributes[0] was left out: key "process.pid": intValue "x"`,
		`{"resourceMetrics": [{"resource": {"attributes": [{"key": "process.pid", "value": {"intValue": "x"}},
		{"key": "service.name", "value": {"stringValue": "s"}}]}, `+metric+`}]}`)
	whole("", "good: scope 7 is not an object", `{"resourceMetrics": [{"scopeMetrics": [{"scope": 7, "metrics": [`+good+`]}]}]}`)
	whole("", "unexpected EOF", `{"resourceMetrics": [{`+metric)
	whole("", "trailing data", `{"resourceMetrics": []} {}`)
	whole("", "it is no object", `[]`)
}

// Points below fields of other names are refused: as protobuf spells them, and as they were called once.
func TestUnknownFieldsCostTheirPoints(t *testing.T) {
	const points = `[{"timeUnixNano": 1, "asInt": 1}, {"timeUnixNano": 2, "asInt": 1}]`
	const metrics = `[{"name": "a", "gauge": {"dataPoints": ` + points + `}}]`
	for field, body := range map[string]string{
		"resource_metrics":              `{"resource_metrics": [{"scope_metrics": [{"metrics": ` + metrics + `}]}]}`,
		"scope_metrics":                 `{"resourceMetrics": [{"scope_metrics": [{"metrics": ` + metrics + `}]}]}`,
		"instrumentationLibraryMetrics": `{"resourceMetrics": [{"instrumentationLibraryMetrics": [{"metrics": ` + metrics + `}]}]}`,
		"Metrics":                       `{"resourceMetrics": [{"scopeMetrics": [{"Metrics": ` + metrics + `}]}]}`,
		"intSum":                        `{"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "a", "intSum": {"dataPoints": ` + points + `}}]}]}]}`,
	} {
		tr := translator{batch: &series.Batch{}}
		tr.reset()
		if err := decodeJSON([]byte(body), &tr); err != nil || tr.points != 2 || tr.refused["unreadable"] != 2 ||
			len(tr.texts) == 0 || !strings.Contains(tr.texts[0], strconv.Quote(field)) {
			t.Errorf("%s: %v, %d points, %v refused, %q", field, err, tr.points, tr.refused, tr.texts)
		}
	}
	tr := translator{batch: &series.Batch{}}
	tr.reset()
	if err := decodeJSON([]byte(`{"newField": [{"a": 1}], "resourceMetrics": []}`), &tr); err != nil || len(tr.texts) > 0 {
		t.Error(err, tr.texts)
	}
}
