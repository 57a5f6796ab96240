package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/prompb"
	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"
	upstream "github.com/prometheus/prometheus/promql"

	"github.com/gnocco-db/gnocco/api/promql"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/promtest"
)

// histogramSeries is a series of random native histograms, one each 15 s.
type histogramSeries struct {
	labels labels.Labels
	whole  []*histogram.Histogram // nil: floats
	floats []*histogram.FloatHistogram
}

// insideZero is how far two numbers in the zero bucket are apart at most. Where a quantile lies in it depends on empty
// buckets, which Prometheus keeps until a chunk ends.
const insideZero = 2e-128

const histogramStep = 15_000 // ms

func randomHistograms(rng *rand.Rand, n int) (all []histogramSeries) {
	for i := range n {
		s := histogramSeries{labels: labels.FromStrings("__name__", "h", "job", fmt.Sprint("j", i%3), "n",
			fmt.Sprint(i))}
		schema, bounds := int32(rng.IntN(13)-4), []float64(nil)
		if i%4 == 3 {
			schema = histogram.CustomBucketsSchema
			for b := range 1 + rng.IntN(6) {
				bounds = append(bounds, float64(b)-1.5+rng.Float64())
			}
		}
		gauge, whole := i%5 == 4, i%2 == 0
		counts := make([][]uint64, 2) // negative and positive buckets
		first := [2]int32{int32(rng.IntN(40) - 10), int32(rng.IntN(40) - 10)}
		for side := range counts {
			counts[side] = make([]uint64, rng.IntN(12))
		}
		if bounds != nil {
			counts[0], counts[1], first[1] = nil, make([]uint64, len(bounds)+1), 0
		}
		zero := uint64(0)
		for range 12 {
			for side := range counts {
				for b := range counts[side] {
					if gauge || rng.IntN(40) == 0 {
						counts[side][b] = 0
					}
					if rng.IntN(3) == 0 {
						counts[side][b] += uint64(rng.IntN(20))
					}
				}
			}
			h := &histogram.Histogram{Schema: schema, CustomValues: bounds, Sum: float64(rng.IntN(1000)) / 4}
			if gauge {
				h.CounterResetHint = histogram.GaugeType
			}
			if bounds == nil {
				zero += uint64(rng.IntN(3))
				h.ZeroThreshold, h.ZeroCount = insideZero/2, zero
			}
			h.Count = h.ZeroCount
			for side, buckets := range counts {
				spans, deltas := &h.NegativeSpans, &h.NegativeBuckets
				if side == 1 {
					spans, deltas = &h.PositiveSpans, &h.PositiveBuckets
				}
				if len(buckets) > 0 {
					*spans = []histogram.Span{{Offset: first[side], Length: uint32(len(buckets))}}
				}
				last := int64(0)
				for _, c := range buckets {
					*deltas = append(*deltas, int64(c)-last)
					last = int64(c)
					h.Count += c
				}
			}
			if s.floats = append(s.floats, h.ToFloat(nil)); whole {
				s.whole = append(s.whole, h)
			}
		}
		all = append(all, s)
	}
	return all
}

// remoteWriteHistograms is the body of a remote write of either version.
func remoteWriteHistograms(t *testing.T, version int, all []histogramSeries) string {
	t.Helper()
	var body []byte
	var err error
	if version == 1 {
		request := &prompb.WriteRequest{}
		for _, s := range all {
			one := prompb.TimeSeries{Labels: prompb.FromLabels(s.labels, nil)}
			for i, h := range s.floats {
				at := histogramStep * int64(i+1)
				if s.whole != nil {
					one.Histograms = append(one.Histograms, prompb.FromIntHistogram(at, s.whole[i]))
				} else {
					one.Histograms = append(one.Histograms, prompb.FromFloatHistogram(at, h))
				}
			}
			request.Timeseries = append(request.Timeseries, one)
		}
		body, err = request.Marshal()
	} else {
		request, symbols := &writev2.Request{}, writev2.NewSymbolTable()
		for _, s := range all {
			one := writev2.TimeSeries{LabelsRefs: symbols.SymbolizeLabels(s.labels, nil)}
			for i, h := range s.floats {
				at := histogramStep * int64(i+1)
				if s.whole != nil {
					one.Histograms = append(one.Histograms, writev2.FromIntHistogram(0, at, s.whole[i]))
				} else {
					one.Histograms = append(one.Histograms, writev2.FromFloatHistogram(0, at, h))
				}
			}
			request.Timeseries = append(request.Timeseries, one)
		}
		request.Symbols = symbols.Symbols()
		body, err = request.Marshal()
	}
	check(t, err)
	return string(s2.EncodeSnappy(nil, body))
}

var asRemoteWrite2 = []string{"Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request",
	"Content-Encoding", "snappy"}

// Random histograms, sent by either version, are answered as Prometheus answers them.
func TestNativeHistogramsAreAnsweredAsByPrometheus(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	all := randomHistograms(rng, 24)
	s := newServer(t, nil)
	s.want(t, "POST /api/v1/write", remoteWriteHistograms(t, 1, all[:12]), 204, "~",
		append([]string{"user", "jd"}, asRemoteWrite...)...)
	w := s.want(t, "POST /api/v1/write", remoteWriteHistograms(t, 2, all[12:]), 204, "~",
		append([]string{"user", "jd"}, asRemoteWrite2...)...)
	if got := w.Header().Get("X-Prometheus-Remote-Write-Histograms-Written"); got != "144" {
		t.Errorf("%s histograms written", got)
	}
	s.refreshAll(t, "jd")

	var series []promtest.Series
	for _, one := range all {
		kept := promtest.Series{Labels: one.labels}
		for i, h := range one.floats { // empty buckets are not kept
			sample := promtest.Sample{MS: histogramStep * int64(i+1), Histogram: h.Copy().Compact(0)}
			kept.Samples = append(kept.Samples, sample)
		}
		series = append(series, kept)
	}
	engine, kept := promtest.NewEngine(t), promtest.Queryable(series...)
	for _, expr := range []string{
		`h`, `h{n=~"1.*",job!="j1"}`, `rate(h[1m])`, `increase(h[75s])`, `sum by (job) (rate(h{n!~"3|7|11|15|19|23"}[1m]))`,
		`histogram_quantile(0.9, h)`, `histogram_quantile(0.5, rate(h[1m]))`, `histogram_count(h) + histogram_sum(h)`,
		`histogram_avg(rate(h[1m]))`, `histogram_fraction(-1, 2, h)`, `histogram_stddev(h)`, `sum_over_time(h[45s])`,
		`avg_over_time(h[45s])`, `count_over_time(h[1m])`, `last_over_time(h[20s])`, `h * 2`, `resets(h[2m])`,
		`changes(h[2m])`, `delta(h{n=~"4|9|14|19"}[1m])`, `max_over_time(histogram_count(h)[1m:15s])`, `absent(h)`,
		`count(h)`, `quantile_over_time(0.5, h[1m])`, `-h`, `h unless h{job="j0"}`, `label_replace(h, "x", "$1", "n", "(.)")`,
	} {
		check := func(path string, q upstream.Query, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(expr, err)
			}
			result := q.Exec(t.Context())
			if result.Err != nil {
				t.Fatal(expr, result.Err)
			}
			want, answer := httptest.NewRecorder(), new(promql.Answer)
			answer.Hold(result.Value, func() {})
			fatal.If(t, answer.Write(want, httptest.NewRequest("GET", "/", nil)))
			got := s.want(t, "GET /api/v1/"+path+"&query="+url.QueryEscape(expr), "", 200, "~", "user", "jd")
			requireSeries(t, expr, got.Body.Bytes(), want.Body.Bytes())
		}
		at := time.UnixMilli(histogramStep*8 + 1000)
		q, err := engine.NewInstantQuery(t.Context(), kept, nil, expr, at)
		check("query?time="+fmt.Sprint(float64(at.UnixMilli())/1000), q, err)
		q, err = engine.NewRangeQuery(t.Context(), kept, nil, expr, time.UnixMilli(20_000), time.UnixMilli(200_000),
			10*time.Second)
		check("query_range?start=20&end=200&step=10", q, err)
	}
}

// requireSeries compares answers, whose series may be in another order and whose numbers differ by rounding.
func requireSeries(t *testing.T, what string, got, want []byte) {
	t.Helper()
	read := func(text []byte) []any {
		var answer struct{ Data struct{ Result []any } }
		if err := json.Unmarshal(text, &answer); err != nil {
			t.Fatalf("%s: %v\n%s", what, err, text)
		}
		key := func(v any) []byte {
			text, _ := json.Marshal(v.(map[string]any)["metric"])
			return text
		}
		slices.SortFunc(answer.Data.Result, func(a, b any) int { return bytes.Compare(key(a), key(b)) })
		return answer.Data.Result
	}
	if place := differs(read(got), read(want)); place != "" {
		t.Errorf("%s: %.300s", what, place)
	}
}

// differs returns where values differ by more than rounding, "" for nowhere.
func differs(a, b any) string {
	here := fmt.Sprintf(": %v, want %v", a, b)
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return here
		}
		for i := range a {
			if place := differs(a[i], b[i]); place != "" {
				return fmt.Sprintf("[%d]%s", i, place)
			}
		}
		return ""
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return here
		}
		for key := range a {
			if place := differs(a[key], b[key]); place != "" {
				return "." + key + place
			}
		}
		return ""
	case string:
		text, _ := b.(string)
		x, err := strconv.ParseFloat(a, 64)
		y, err2 := strconv.ParseFloat(text, 64)
		most := max(insideZero, 1e-12*math.Abs(x), 1e-12*math.Abs(y))
		if a == text || err == nil && err2 == nil && math.Abs(x-y) <= most {
			return ""
		}
		return here
	}
	if a != b {
		return here
	}
	return ""
}

// A native histogram is one series: lists show no parts. Its parts are metrics, and series for those who name
// them.
func TestNativeHistogramIsOneSeries(t *testing.T) {
	s := newServer(t, nil)
	h := &histogram.Histogram{Schema: 0, Count: 6, Sum: 12.5, ZeroThreshold: 0.25, ZeroCount: 1,
		NegativeSpans: []histogram.Span{{Offset: 1, Length: 1}}, NegativeBuckets: []int64{2},
		PositiveSpans: []histogram.Span{{Offset: 0, Length: 2}}, PositiveBuckets: []int64{1, 1}}
	custom := &histogram.Histogram{Schema: histogram.CustomBucketsSchema, Count: 3, Sum: 4,
		CustomValues:  []float64{1, 2},
		PositiveSpans: []histogram.Span{{Offset: 1, Length: 2}}, PositiveBuckets: []int64{1, 1}}
	series := func(l labels.Labels, h *histogram.Histogram) histogramSeries {
		return histogramSeries{l, []*histogram.Histogram{h}, []*histogram.FloatHistogram{h.ToFloat(nil)}}
	}
	s.want(t, "POST /api/v1/write", remoteWriteHistograms(t, 1, []histogramSeries{
		series(labels.FromStrings("__name__", "took", "job", "a"), h),
		series(labels.FromStrings("__name__", "size", "job", "b"), custom),
	}), 204, "~", append([]string{"user", "jd"}, asRemoteWrite...)...)
	s.refreshAll(t, "jd")
	f := func(path, want string) {
		t.Helper()
		s.want(t, "GET "+path, "", 200, want, "user", "jd")
	}
	f("/api/v1/query?time=16&query=took", `~"result":[{"metric":{"__name__":"took","job":"a"},"histogram":[16,{"count":"6",`+
		`"sum":"12.5","buckets":[[1,"-2","-1","2"],[3,"-0.25","0.25","1"],[0,"0.5","1","1"],[0,"1","2","2"]]}]}]`)
	f("/api/v1/query_range?start=15&end=30&step=15&query=size", `~"result":[{"metric":{"__name__":"size","job":"b"},`+
		`"histograms":[[15,{"count":"3","sum":"4","buckets":[[0,"1","2","1"],[0,"2","+Inf","2"]]}],[30,`)
	f("/api/v1/series?match[]={job=%22a%22}", `{"status":"success","data":[{"__name__":"took","job":"a"}]}`)
	f("/api/v1/labels", `{"status":"success","data":["__name__","job"]}`)
	f("/api/v1/label/job/values", `{"status":"success","data":["a","b"]}`)
	f("/api/v1/metadata", `{"status":"success","data":{"size":[{"type":"histogram","help":"","unit":""}],`+
		`"took":[{"type":"histogram","help":"","unit":""}]}}`)
	f("/api/v1/series?ids=true&match[]=took", `~"metric_type":"histogram"`)
	f("/api/v1/series?ids=true&match[]=took", `~"data":[{"__histogram__":"count","__name__":"took",`)
	f("/api/v1/series_count?label=job", `~"total":2`)
	f("/v1/metric?labels.__histogram__=positive:0:1", `~"__histogram__": "positive:0:1"`)
	f("/api/v1/query?time=16&query=took{__histogram__=%22positive:0:1%22}",
		`~"result":[{"metric":{"__histogram__":"positive:0:1","__name__":"took","job":"a"},"value":[16,"2"]}]`)
	f("/api/v1/export?match[]=took", `~{"metric":{"__histogram__":"count","__name__":"took","job":"a"},"values":[6],`)
	s.want(t, "GET /api/v1/query?time=16&query=took", "", 200, "~,\"{count:6, sum:12.5, ", "user", "jd",
		"Accept", "text/csv")
	s.want(t, "GET /api/v1/query?time=16&query=took", "", 200, `~"timestamp":"1970-01-01T00:00:16Z","histogram":{"count":"6"`,
		"user", "jd", "Accept", "application/x-ndjson")
	f("/federate?match[]={job!=%22%22}", "")
}

// Start timestamps of remote write 2 change no answer: a reset is a value that falls.
func TestStartTimestampsAreNotStored(t *testing.T) {
	s := newServer(t, nil)
	answers := make([]string, 2)
	for i, started := range []int64{0, 90_000} { // between the measures
		symbols := writev2.NewSymbolTable()
		one := writev2.TimeSeries{LabelsRefs: symbols.SymbolizeLabels(labels.FromStrings("__name__", "jobs_total"), nil),
			Samples: []writev2.Sample{{Value: 10, Timestamp: 60_000},
				{Value: 15, Timestamp: 120_000, StartTimestamp: started}}}
		body, err := (&writev2.Request{Symbols: symbols.Symbols(), Timeseries: []writev2.TimeSeries{one}}).Marshal()
		check(t, err)
		user := fmt.Sprint("user", i)
		s.want(t, "POST /api/v1/write", string(s2.EncodeSnappy(nil, body)), 204, "",
			append([]string{"user", user}, asRemoteWrite2...)...)
		s.refreshAll(t, user)
		for _, f := range []string{"increase", "resets", "rate"} {
			w := s.want(t, "GET /api/v1/query?time=150&query="+f+"(jobs_total[2m])", "", 200, "~value", "user", user)
			answers[i] += w.Body.String()
		}
	}
	if answers[0] != answers[1] {
		t.Errorf("with a start timestamp %s, without %s", answers[1], answers[0])
	}
}
