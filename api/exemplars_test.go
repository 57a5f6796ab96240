package api_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/ingest/exemplars"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/activity"
)

// withExemplar is a remote write of version 1: a series of one measure, and the exemplar beside it as Prometheus sends
// it, in a series of its own.
func withExemplar(name, trace string, ms uint64, value float64) string {
	bytes := func(dst []byte, number protowire.Number, content []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(dst, number, protowire.BytesType), content)
	}
	label := func(name, value string) []byte { return bytes(bytes(nil, 1, []byte(name)), 2, []byte(value)) }
	measure := func(dst []byte, number protowire.Number) []byte {
		dst = protowire.AppendFixed64(protowire.AppendTag(dst, number, protowire.Fixed64Type), math.Float64bits(value))
		return protowire.AppendVarint(protowire.AppendTag(dst, number+1, protowire.VarintType), ms)
	}
	series := bytes(nil, 1, label("__name__", name))
	exemplar := bytes(bytes(nil, 1, label("trace_id", trace)), 1, label("span", "s"))
	message := bytes(nil, 1, bytes(series, 2, measure(nil, 1)))
	message = bytes(message, 1, bytes(series, 3, measure(exemplar, 2)))
	return string(s2.EncodeSnappy(nil, message))
}

// Exemplars of OTLP are those of the series, of a histogram that of the bucket.
func TestExemplarsOfOTLP(t *testing.T) {
	s := newServer(t, func(*api.Options) {})
	const exemplar = `"exemplars": [{"timeUnixNano": "61000000000", "asDouble": 0.7, "traceId": "0102", "spanId": "03",
		"filteredAttributes": [{"key": "user.id", "value": {"stringValue": "7"}}]}, {"asInt": "2"}]`
	s.want(t, "POST /v1/metrics", `{"resourceMetrics": [{"resource": {"attributes": [{"key": "service.name", "value":
		{"stringValue": "cart"}}]}, "scopeMetrics": [{"metrics": [{"name": "h", "histogram": {"aggregationTemporality": 2,
		"dataPoints": [{"timeUnixNano": "62000000000", "count": 2, "bucketCounts": [0, 1, 1], "explicitBounds": [0.5, 1], `+
		exemplar+`}]}}, {"name": "c", "sum": {"aggregationTemporality": 2, "isMonotonic": true, "dataPoints":
		[{"timeUnixNano": "62000000000", "asInt": "5", `+strings.ReplaceAll(exemplar, `"7"`, `"`+strings.Repeat("x", 128)+`"`)+
		`}]}}]}]}]}`, 200, "{}", "user", "jd", "Content-Type", "application/json")
	s.refreshAll(t, "jd")
	for _, c := range []struct{ query, series, labels string }{
		{"h_bucket", `"__name__":"h_bucket","job":"cart","le":"1"`, `"span_id":"03","trace_id":"0102","user_id":"7"`},
		{"c_total", `"__name__":"c_total","job":"cart"`, `"span_id":"03","trace_id":"0102"`}, // too long an attribute
	} {
		s.want(t, "GET /api/v1/query_exemplars?start=0&end=100&query="+c.query, "", 200, `{"status":"success","data":[{"seriesLabels":{`+
			c.series+`},"exemplars":[{"labels":{`+c.labels+`},"value":"0.7","timestamp":61}]}]}`, "user", "jd")
	}
	s.want(t, "GET /metrics", "", 200, `~gnocco_push_refused_total{protocol="otlp",reason="exemplar"} 2`)
}

// Exemplars are answered as Prometheus answers them: of all processes, in order and once, to those who see the series.
func TestExemplars(t *testing.T) {
	elsewhere := exemplars.New(1 << 10)
	s := newServer(t, func(o *api.Options) {
		o.OtherActivity = func(_ context.Context, r activity.Request) []*activity.Report {
			return []*activity.Report{{Exemplars: elsewhere.Within(*r.Exemplars)}}
		}
	})
	write := func(name, trace string, ms uint64, value float64, status int, want string) {
		t.Helper()
		s.want(t, "POST /api/v1/write", withExemplar(name, trace, ms, value), status, want,
			append([]string{"user", "jd"}, asRemoteWrite...)...)
	}
	write("a", "first", 61_000, 1, 204, "")
	write("a", "third", 63_500, math.NaN(), 204, "")
	write("a", "third", 63_500, math.NaN(), 204, "")
	write("b", strings.Repeat("x", 128), 61_000, 1, 204, "") // left out
	write("b", "of b", 70_000, 3, 204, "")
	series := model.AppendLabel([]byte(nil), model.LabelName, "a")
	elsewhere.Add([]exemplars.Exemplar{{Creator: "jd", Series: series, Labels: model.AppendLabel([]byte(nil), "t", "second"),
		Millis: 62_000, Bits: math.Float64bits(2)}})
	s.refreshAll(t, "jd")
	ask := func(user, query, want string) {
		t.Helper()
		s.want(t, "GET /api/v1/query_exemplars?"+query, "", 200, `{"status":"success","data":[`+want+`]}`, "user", user)
	}
	const first = `{"labels":{"span":"s","trace_id":"first"},"value":"1","timestamp":61}`
	const third = `{"labels":{"span":"s","trace_id":"third"},"value":"NaN","timestamp":63.5}`
	const ofA = `{"seriesLabels":{"__name__":"a"},"exemplars":[`
	ask("jd", "query=rate(a[1m])", ofA+first+`,{"labels":{"t":"second"},"value":"2","timestamp":62},`+third+`]}`)
	ask("jd", "query=b/a&start=63.5&end=70", ofA+third+`]},{"seriesLabels":{"__name__":"b"},"exemplars":[`+
		`{"labels":{"span":"s","trace_id":"of b"},"value":"3","timestamp":70}]}`)
	ask("jd", "query=a&start=64", "")
	ask("jd", "query=c", "")
	ask("other", "query=a", "")
	ask("jd", "query=1", "")
	for _, query := range []string{"", "query=a&start=2&end=1", "query=a&start=x", "query=a&end=x"} {
		s.want(t, "GET /api/v1/query_exemplars?"+query, "", 400, `~"errorType":"bad_data"`, "user", "jd")
	}
	s.want(t, "GET /metrics", "", 200, `~gnocco_push_refused_total{protocol="remote_write",reason="exemplar"} 1`)
}
