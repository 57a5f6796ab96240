package otlp

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/ingest/series"
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
	if tr.batch.Len() != len(tr.pointOf) {
		t.Fatalf("%d rows of %d points", tr.batch.Len(), len(tr.pointOf))
	}
	return lines.String(), tr.first
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
	f("", "", nil, message(1, "x", 6, message(1, number()))) // a kind that OpenTelemetry has taken back: there are no points
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

	// The point's own job does not stand against the resource's.
	resource := message(1, pair("service.name", "cart"), 1, pair("service.namespace", "shop"),
		1, pair("service.instance.id", "i"), 1, message(1, "n", 2, message(3, 5)), 1,
		message(1, "l", 2, message(5, message(1, message(2, 1), 1, message(6, message(1, pair("k", "v")))))))
	f(`a{instance="i",job="shop/cart",} 1 1000000000
target_info{instance="i",job="shop/cart",l="[true,{\"k\":\"v\"}]",n="5",} 1 1000000000
`, "", resource, message(1, "a", 5, message(1, number(4, 1.0, 7, pair("job", "own")))))

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
	if _, err := rows(t, decodeProtobuf, export(message(1, message(1, "deep", 2, deep)))); err != errNesting.Error() {
		t.Error(err)
	}
	many := bytes.Repeat(message(7, []byte{}), maxParts+1)
	if _, err := rows(t, decodeProtobuf, export(nil, message(1, "a", 5, message(1, many)))); err != errParts.Error() {
		t.Error(err)
	}
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
