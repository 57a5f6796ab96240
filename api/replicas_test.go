package api_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/prompb"
	writev2 "github.com/prometheus/prometheus/prompb/io/prometheus/write/v2"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/ingest/series"
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
					o.Limits.ReplicaLabels = []string{"prometheus_replica", "__replica__"}
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
