package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/prompb"
	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/quota"
	"github.com/gnocco-db/gnocco/model"
)

// A replicaDoor sends a sample of the series x of a replica.
type replicaDoor struct {
	name string
	send func(t *testing.T, s *server, replica string, millis int64, v float64)
}

var replicaDoors = []replicaDoor{
	{"remote write 1", func(t *testing.T, s *server, replica string, millis int64, v float64) {
		body, err := (&prompb.WriteRequest{Timeseries: []prompb.TimeSeries{{
			Labels:  prompb.FromLabels(labels.FromStrings("__name__", "x", "__replica__", replica, "job", "j"), nil),
			Samples: []prompb.Sample{{Timestamp: millis, Value: v}}}}}).Marshal()
		check(t, err)
		s.want(t, "POST /api/v1/write", string(s2.EncodeSnappy(nil, body)), 204, "", asRemoteWrite...)
	}},
	{"remote write 2", func(t *testing.T, s *server, replica string, millis int64, v float64) {
		symbols := writev2.NewSymbolTable()
		one := writev2.TimeSeries{Samples: []writev2.Sample{{Timestamp: millis, Value: v}},
			LabelsRefs: symbols.SymbolizeLabels(labels.FromStrings("__name__", "x", "job", "j", "prometheus_replica",
				replica), nil)}
		body, err := (&writev2.Request{Timeseries: []writev2.TimeSeries{one}, Symbols: symbols.Symbols()}).Marshal()
		check(t, err)
		s.want(t, "POST /api/v1/write", string(s2.EncodeSnappy(nil, body)), 204, "", asRemoteWrite2...)
	}},
	{"text", func(t *testing.T, s *server, replica string, millis int64, v float64) {
		s.want(t, "POST /api/v1/import/prometheus", fmt.Sprintf("x{job=\"j\",__replica__=%q} %v %d\n", replica, v,
			millis), 204, "")
	}},
	{"JSON lines", func(t *testing.T, s *server, replica string, millis int64, v float64) {
		s.want(t, "POST /api/v1/import", fmt.Sprintf(
			`{"metric":{"__name__":"x","job":"j","__replica__":%q},"values":[%v],"timestamps":[%d]}`, replica, v,
			millis), 204, "")
	}},
	{"OTLP", func(t *testing.T, s *server, replica string, millis int64, v float64) {
		s.want(t, "POST /v1/metrics", fmt.Sprintf(`{"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "x", "gauge":
			{"dataPoints": [{"timeUnixNano": "%d000123", "asDouble": %v, "attributes": [
			{"key": "job", "value": {"stringValue": "j"}},
			{"key": "__replica__", "value": {"stringValue": %q}}]}]}}]}]}]}`, millis, v, replica), 200, "~",
			"Content-Type", "application/json")
	}},
}

// Replicas are one series by every door, and one of them counts. Without their labels' names they are two.
func TestReplicasByEveryDoor(t *testing.T) {
	for _, d := range replicaDoors {
		for _, named := range []bool{true, false} {
			s := newServer(t, func(o *api.Options) {
				if o.Limits.ReplicaLabels = nil; named {
					o.Limits.ReplicaLabels = []string{"prometheus_replica", " __replica__"}
				}
			})
			for i := range 40 {
				d.send(t, s, "prometheus-0", doorMillis(i), float64(10*i))
				d.send(t, s, "prometheus-1", doorMillis(i)+7000, float64(10*i+4))
			}
			s.refreshAll(t, "foobar")
			for q, want := range map[string]string{"count(x)": "1", "sum(count_over_time(x[5m]))": "20",
				"count(x{job=\"j\"})": "1",
				"sum(resets(x[10m]))": "0", "count(x{__replica__=~'.+'} or x{prometheus_replica=~'.+'}) or vector(0)": "0"} {
				w := s.call(t, "GET /api/v1/query?query="+url.QueryEscape(q)+fmt.Sprint("&time=", doorMillis(39)/1000+8), "")
				expected := named || want == "0" && strings.HasPrefix(q, "sum")
				if got := strings.Contains(w.Body.String(), `"`+want+`"]`); got != expected {
					t.Errorf("%s, named %v: %s is %s", d.name, named, q, w.Body)
				}
			}
			if got := len(s.call(t, "GET /v1/metric", "").Body.String()); named {
				one := s.onlySeries(t)
				if len(one.Labels) != 2 {
					t.Errorf("%s: labels %v", d.name, one.Labels)
				}
			} else if got == 0 {
				t.Error("no series")
			}
		}
	}
}

// A series that one sender pushed without a label goes on as that of a pair, also after a start.
func TestReplicasOfAnOldSeries(t *testing.T) {
	for _, d := range replicaDoors {
		s := newServer(t, func(o *api.Options) {
			o.Limits.ReplicaLabels = []string{"prometheus_replica", "__replica__"}
		})
		for i := range 40 {
			if i < 12 {
				d.send(t, s, "", doorMillis(i), float64(10*i))
				continue
			}
			d.send(t, s, "a", doorMillis(i)+1000, float64(10*i))
			d.send(t, s, "b", doorMillis(i)+7000, float64(10*i+4))
		}
		s.refreshAll(t, "foobar")
		w := s.call(t, "GET /api/v1/query?query="+url.QueryEscape("count_over_time(x[15m]) or resets(x[15m])")+
			fmt.Sprint("&time=", doorMillis(39)/1000+8), "")
		if !strings.Contains(w.Body.String(), `"40"]`) {
			t.Errorf("%s: %s", d.name, w.Body)
		}
	}
}

// Measures of no replica keep their nanoseconds, but for those that would be taken for a replica's.
func TestNanosecondsBesideReplicas(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.Limits.ReplicaLabels = []string{"__replica__"} })
	var points []string
	for i := range 2000 { // some of these have a replica's digits
		nanos := doorMillis(0)*1_000_000 + 500_000 + int64(3*i)
		points = append(points, fmt.Sprintf(`{"timeUnixNano": "%d", "asDouble": 1}`, nanos))
	}
	s.want(t, "POST /v1/metrics",
		`{"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "x", "gauge": {"dataPoints": [`+
			strings.Join(points, ",")+`]}}]}]}]}`, 200, "~", "Content-Type", "application/json")
	s.refreshAll(t, "foobar")
	w := s.call(t, "GET /api/v1/query?query=count_over_time(x[1m])"+fmt.Sprint("&time=", doorMillis(1)/1000), "")
	if !strings.Contains(w.Body.String(), `"2000"]`) {
		t.Error(w.Body)
	}
}

// Two senders of the same series without a label that tells them apart are noticed by every door; also those with a
// usual label that no flag names. One sender is not, nor are two whose label the flag names.
func TestPairsAreNoticed(t *testing.T) {
	for _, d := range replicaDoors {
		for _, c := range []struct {
			name     string
			replicas []string
			flag     []string
			want     string
		}{
			{"unlabelled", []string{"", ""}, nil, "x"},
			{"labelled", []string{"a", "b"}, nil, "x"},
			{"alone", []string{""}, nil, ""},
			{"named", []string{"a", "b"}, []string{"prometheus_replica", "__replica__"}, ""},
		} {
			t.Run(d.name+"/"+c.name, func(t *testing.T) {
				pairs := new(series.Pairs)
				s := newServer(t, func(o *api.Options) { o.Pairs, o.Limits.ReplicaLabels = pairs, c.flag })
				for i := range int64(16) {
					for k, replica := range c.replicas {
						d.send(t, s, replica, 1767225600_000+15_000*i+4_321*int64(k), float64(i))
					}
				}
				if got := pairs.Found(); got != c.want {
					t.Errorf("found %q, want %q", got, c.want)
				}
			})
		}
	}
}

// A pair counts as one series for quotas, counts of series, the ledger and exports. Measures a second count as they
// arrive.
func TestPairsCountAsOneSeries(t *testing.T) {
	for _, d := range replicaDoors {
		t.Run(d.name, func(t *testing.T) {
			s := newServer(t, func(o *api.Options) {
				o.Limits.ReplicaLabels = []string{"prometheus_replica", "__replica__"}
				o.Quota = model.Quota{Series: 1, Measures: 1000}
				o.Quotas = &quota.Book{Now: func() time.Time { return time.Unix(1000, 0) }}
			})
			for i := range 40 {
				d.send(t, s, "prometheus-0", doorMillis(i), float64(10*i))
				d.send(t, s, "prometheus-1", doorMillis(i)+7000, float64(10*i+4))
			}
			s.refreshAll(t, "foobar")
			if u := s.usage(t); u.Series != 1 || u.Measures != 8 {
				t.Errorf("usage: %+v", u)
			}
			s.want(t, "GET /api/v1/series_count?match[]=x", "", 200, `~"total":1`)
			s.want(t, "GET /api/v1/status/tsdb", "", 200, `~"seriesCountByMetricName":[{"name":"x","value":1}]`)
			times := fmt.Sprintf("&start=%d&end=%d", doorMillis(0)/1000-60, doorMillis(40)/1000)
			exported := s.want(t, "GET /api/v1/export?match[]=x"+times, "", 200, "~").Body.String()
			var one struct {
				Metric     map[string]string
				Timestamps []int64
			}
			check(t, json.Unmarshal([]byte(exported), &one)) // a line
			if len(one.Timestamps) != 40 || len(one.Metric) != 2 {
				t.Errorf("exported: %d measures of %v", len(one.Timestamps), one.Metric)
			}
			copied := newServer(t, nil)
			copied.want(t, "POST /api/v1/import", exported, 204, "")
			copied.refreshAll(t, "foobar")
			if again := copied.call(t, "GET /api/v1/export?match[]=x"+times, "").Body.String(); again != exported {
				t.Errorf("a copy has %s, want %s", again, exported)
			}
			s.want(t, "POST /api/v1/admin/tsdb/delete_series?match[]=x"+times, "", 204, "", "user", "admin")
			s.want(t, "GET /v1/ledger", "", 200, `~"metrics": 1,`, "user", "admin")
		})
	}
}

// writeHistogram sends a native histogram of a replica by remote write 1.
func writeHistogram(t *testing.T, s *server, replica string, h prompb.Histogram) {
	body, err := (&prompb.WriteRequest{Timeseries: []prompb.TimeSeries{{
		Labels:     prompb.FromLabels(labels.FromStrings("__name__", "h", "__replica__", replica, "job", "j"), nil),
		Histograms: []prompb.Histogram{h}}}}).Marshal()
	check(t, err)
	s.want(t, "POST /api/v1/write", string(s2.EncodeSnappy(nil, body)), 204, "", asRemoteWrite...)
}

// histogramDoors send a native histogram of schema 0, whose buckets are from the first one on, for a replica.
var histogramDoors = []struct {
	name string
	send func(t *testing.T, s *server, replica string, millis int64, h *histogram.Histogram)
}{
	{"remote write 1", func(t *testing.T, s *server, replica string, millis int64, h *histogram.Histogram) {
		writeHistogram(t, s, replica, prompb.FromIntHistogram(millis, h))
	}},
	{"remote write 1, of floats", func(t *testing.T, s *server, replica string, millis int64, h *histogram.Histogram) {
		writeHistogram(t, s, replica, prompb.FromFloatHistogram(millis, h.ToFloat(nil)))
	}},
	{"remote write 2", func(t *testing.T, s *server, replica string, millis int64, h *histogram.Histogram) {
		symbols := writev2.NewSymbolTable()
		one := writev2.TimeSeries{Histograms: []writev2.Histogram{writev2.FromIntHistogram(0, millis, h)},
			LabelsRefs: symbols.SymbolizeLabels(labels.FromStrings("__name__", "h", "__replica__", replica, "job", "j"),
				nil)}
		body, err := (&writev2.Request{Timeseries: []writev2.TimeSeries{one}, Symbols: symbols.Symbols()}).Marshal()
		check(t, err)
		s.want(t, "POST /api/v1/write", string(s2.EncodeSnappy(nil, body)), 204, "", asRemoteWrite2...)
	}},
	{"OTLP", func(t *testing.T, s *server, replica string, millis int64, h *histogram.Histogram) {
		var buckets []string
		for each := h.PositiveBucketIterator(); each.Next(); {
			buckets = append(buckets, fmt.Sprintf("%q", fmt.Sprint(each.At().Count)))
		}
		s.want(t, "POST /v1/metrics", fmt.Sprintf(`{"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "h",
			"exponentialHistogram": {"aggregationTemporality": 2, "dataPoints": [{"timeUnixNano": "%d000000", "scale": 0,
			"count": "%d", "sum": %v, "positive": {"offset": -1, "bucketCounts": [%s]}, "attributes": [
			{"key": "job", "value": {"stringValue": "j"}}, {"key": "__replica__", "value": {"stringValue": %q}}]}]}}]}]}]}`,
			millis, h.Count, h.Sum, strings.Join(buckets, ","), replica), 200, "~", "Content-Type", "application/json")
	}},
}

// The parts of a native histogram of a pair are of one scrape each, and its counts those of one sender that was never
// down, to within a scrape for each change of replica, by every door.
func TestPairsOfNativeHistograms(t *testing.T) {
	for _, d := range histogramDoors {
		t.Run(d.name, func(t *testing.T) { requirePairOfHistograms(t, d.send) })
	}
}

func requirePairOfHistograms(t *testing.T,
	send func(t *testing.T, s *server, replica string, millis int64, h *histogram.Histogram)) {
	const count, begin = 5.0, int64(doorsAt-3600) * 1000 // a second; ms
	at := func(millis int64) *histogram.Histogram {
		n := uint64(float64(millis-begin) / 1000 * count)
		h := &histogram.Histogram{Schema: 0, Count: n, Sum: float64(n)}
		// Buckets appear one after the other, and the first ones stop.
		var last int64
		for k := range uint64(6) {
			in := min(n, 400*(k+1)) - min(n, 400*k)
			if k == 5 {
				in = n - min(n, 400*k)
			}
			if in == 0 {
				break
			}
			if k == 0 {
				h.PositiveSpans = []histogram.Span{{Offset: 0, Length: 0}}
			}
			h.PositiveSpans[0].Length++
			h.PositiveBuckets = append(h.PositiveBuckets, int64(in)-last)
			last = int64(in)
		}
		return h
	}
	s := newServer(t, func(o *api.Options) { o.Limits.ReplicaLabels = []string{"__replica__"} })
	for i := range 80 {
		for k, replica := range []string{"a", "b"} {
			down := i >= 20+25*k && i < 33+25*k
			if millis := (begin + 15_000*int64(i)) + 7000*int64(k); !down {
				send(t, s, replica, millis, at(millis))
			}
		}
	}
	s.refreshAll(t, "foobar")
	value := func(expr string, millis int64) float64 {
		w := s.want(t, "GET /api/v1/query?query="+url.QueryEscape(expr)+fmt.Sprintf("&time=%.3f", float64(millis)/1000), "",
			200, "~")
		var answer struct {
			Data struct{ Result []struct{ Value [2]any } }
		}
		check(t, json.Unmarshal(w.Body.Bytes(), &answer))
		if len(answer.Data.Result) != 1 {
			t.Fatalf("%s at %d: %s", expr, millis, w.Body)
		}
		v, err := strconv.ParseFloat(fmt.Sprint(answer.Data.Result[0].Value[1]), 64)
		check(t, err)
		return v
	}
	const series = `h{__histogram__=~"positive.*"}`
	for i := 5; i < 80; i++ {
		millis := (begin + 15_000*int64(i)) + 8000
		whole, parts := value("histogram_count(h)", millis), value("sum("+series+")", millis)
		if whole != parts || whole != value("histogram_sum(h)", millis) {
			t.Errorf("scrape %d: a count of %v, and %v in buckets", i, whole, parts)
		}
		if want := float64(at(millis).Count); whole > want || whole < want-2*15*count {
			t.Errorf("scrape %d: a count of %v, want %v", i, whole, want)
		}
	}
	end := (begin + 15_000*79) + 8000
	if got := value("histogram_count(increase(h[15m]))", end); math.Abs(got-900*count) > 4*15*count {
		t.Errorf("increase: %v, want %v", got, 900*count)
	}
	if got := value("resets(h[19m])", end); got != 0 {
		t.Errorf("%v resets", got)
	}
	scrapes := value(`count_over_time(h{__histogram__="count"}[15m])`, end)
	if buckets := value(`min(count_over_time(`+series+`[1m]))`, end); scrapes < 55 || scrapes > 61 || buckets != 4 {
		t.Errorf("%v scrapes of 15 min, %v of a minute in buckets", scrapes, buckets)
	}
}
