package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// mostSeries is the number of series that a process may have in its own figures. A scraper of many processes pays for
// each of them.
const mostSeries = 300

// A process that is used in all usual ways has few series.
func TestFiguresAreFew(t *testing.T) {
	s := start(t, server.Options{Cluster: cluster.Options{Data: t.TempDir(), Role: cluster.RoleBoth}})
	defer stop(t, s)
	ask := func(method, path, body string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, strings.NewReader(body))
		fatal.If(t, err)
		r.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(r)
		fatal.If(t, err)
		defer response.Body.Close()
		answer, err := io.ReadAll(response.Body)
		fatal.If(t, err)
		return string(answer)
	}
	const metric = "/v1/metric/8d4ed7e4-6b5f-4ce6-8f4a-4f4a62b3a4b1"
	for _, r := range [][3]string{{"GET", "/"}, {"GET", "/healthcheck"}, {"GET", "/v1/status"}, {"GET", "/v1/capabilities"},
		{"POST", "/v1/metric", `{"archive_policy_name": "low"}`}, {"GET", "/v1/metric"}, {"GET", metric},
		{"POST", metric + "/measures", "[]"}, {"GET", metric + "/measures"}, {"DELETE", metric},
		{"POST", "/v1/batch/metrics/measures", "{}"}, {"POST", "/v1/resource/generic", `{"id": "a"}`},
		{"GET", "/v1/resource/generic"}, {"PATCH", "/v1/resource/generic/a", "{}"}, {"POST", "/v1/search/resource/generic", "{}"},
		{"POST", "/v1/aggregates", "{}"}, {"GET", "/v1/archive_policy"}, {"POST", "/v1/archive_policy", "{}"},
		{"POST", "/api/v1/write", ""}, {"POST", "/v1/influxdb/write", ""}, {"GET", "/api/v1/query?query=up"},
		{"GET", "/api/v1/query_range"}, {"GET", "/api/v1/labels"}, {"GET", "/api/v1/series"}, {"GET", "/nowhere"}} {
		ask(r[0], r[1], r[2])
	}
	series := 0
	figures := ask("GET", "/metrics", "")
	for line := range strings.Lines(figures) {
		if !strings.HasPrefix(line, "#") {
			series++
		}
	}
	if series > mostSeries {
		t.Errorf("a process has %d series, more than %d:\n%s", series, mostSeries, figures)
	}
	for _, kind := range []string{"read", "query", "write", "other"} {
		if !strings.Contains(figures, `gnocco_http_request_seconds_count{kind="`+kind+`"}`) {
			t.Errorf("no requests of kind %s are timed", kind)
		}
	}
}
