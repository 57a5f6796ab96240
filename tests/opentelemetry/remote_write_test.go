package opentelemetry_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/exp/api/remote"
	writev2 "github.com/prometheus/client_golang/exp/api/remote/genproto/v2"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// signed sends each request as user admin.
type signed struct{}

func (signed) RoundTrip(r *http.Request) (*http.Response, error) {
	r.SetBasicAuth("admin", "")
	return http.DefaultTransport.RoundTrip(r)
}

// Prometheus' own client of remote write 2 sends, learns how many samples are stored, and reads back.
func TestRemoteWrite2(t *testing.T) {
	url := start(t)
	client, err := remote.NewAPI(url, remote.WithAPIHTTPClient(&http.Client{Transport: signed{}}),
		remote.WithAPIPath("api/v1/write"), remote.WithAPIBackoff(remote.BackoffConfig{MaxRetries: 1}))
	fatal.If(t, err)
	now := time.Now().UnixMilli()
	write := func(build func(symbols *writev2.SymbolsTable) []*writev2.TimeSeries) (remote.WriteResponseStats, error) {
		symbols := writev2.NewSymbolTable()
		request := &writev2.Request{Timeseries: build(&symbols)}
		request.Symbols = symbols.Symbols()
		return client.Write(t.Context(), remote.WriteV2MessageType, request)
	}
	refs := func(symbols *writev2.SymbolsTable, labels ...string) (refs []uint32) {
		for _, text := range labels {
			refs = append(refs, symbols.Symbolize(text))
		}
		return refs
	}
	stats, err := write(func(s *writev2.SymbolsTable) []*writev2.TimeSeries {
		return []*writev2.TimeSeries{{
			LabelsRefs: refs(s, "__name__", "jobs_total", "job", "a", "zone", "x"),
			Samples: []*writev2.Sample{{Value: 1, Timestamp: now - 2000},
				{Value: 3, Timestamp: now - 1000}},
			Exemplars: []*writev2.Exemplar{{Value: 1, Timestamp: now, LabelsRefs: refs(s, "trace_id", "t1")}},
			Metadata: &writev2.Metadata{Type: writev2.Metadata_METRIC_TYPE_COUNTER, HelpRef: s.Symbolize("jobs done"),
				UnitRef: s.Symbolize("jobs")},
		}, {
			LabelsRefs: refs(s, "__name__", "jobs_total", "job", "b", "zone", "x"),
			Samples:    []*writev2.Sample{{Value: 5, Timestamp: now}},
		}}
	})
	fatal.If(t, err)
	if stats.Samples != 3 || stats.Histograms != 0 || stats.Exemplars != 1 {
		t.Errorf("%+v", stats)
	}
	exemplars := string(get(t, fmt.Sprintf("%s/api/v1/query_exemplars?query=rate(jobs_total[1m])&start=%d", url, now/1000-1)))
	if !strings.Contains(exemplars, `"exemplars":[{"labels":{"trace_id":"t1"},"value":"1","timestamp":`) {
		t.Error(exemplars)
	}
	reads(t, url, `jobs_total{job="a"}`, "map[__name__:jobs_total job:a zone:x] 3")
	reads(t, url, `count_over_time(jobs_total{job="a"}[1m])`, "map[job:a zone:x] 2")
	reads(t, url, `jobs_total{job="b"}`, "map[__name__:jobs_total job:b zone:x] 5")
	var metadata struct {
		Data map[string][]struct{ Type, Help, Unit string }
	}
	fatal.If(t, json.Unmarshal(get(t, url+"/api/v1/metadata?metric=jobs_total"), &metadata))
	if got := fmt.Sprint(metadata.Data["jobs_total"]); got != "[{counter jobs done jobs}]" {
		t.Error(got)
	}

	stats, err = write(func(s *writev2.SymbolsTable) []*writev2.TimeSeries {
		return []*writev2.TimeSeries{
			{LabelsRefs: refs(s, "__name__", "native"), Histograms: []*writev2.Histogram{{Timestamp: now, Schema: 99}}},
			{LabelsRefs: refs(s, "__name__", "beside"), Samples: []*writev2.Sample{{Value: 7, Timestamp: now}}},
		}
	})
	if err == nil || !strings.Contains(err.Error(), "native histograms: native: invalid") ||
		stats.Samples != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
	reads(t, url, "beside", "map[__name__:beside] 7")
	if !strings.Contains(string(get(t, url+"/metrics")), `gnocco_push_refused_total{protocol="remote_write",reason="native_histogram"} 1`) {
		t.Error("no native histogram is counted")
	}
}
