package api_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
	"time"

	"gnocco/api"
)

// A measure further ahead of the clock than --max-future is refused on every way in, by name, and changes nothing:
// neither the measures beside it count, nor is what they need created.
func TestMaxFuture(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.Limits.MaxFuture = 24 * time.Hour })
	s.policy(t, "p")
	s.create(t, "/v1/archive_policy_rule", `{"name":"all","metric_pattern":"*","archive_policy_name":"p"}`, "user",
		"admin")
	id := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`)
	empty := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`)
	s.create(t, "/v1/resource/generic", `{"id":"r"}`)
	s.want(t, "POST /v1/metric/"+id+"/measures", `[{"timestamp":"2025-12-31","value":7}]`, 202, "")
	const detail = `"description": {"cause": "Measure in the future", "reason": "A measure may be 24h0m0s ahead of the server's clock at most", "detail": {"metric": "`
	refused := func(request, body, metric string, headers ...string) {
		t.Helper()
		w := s.call(t, request, body, append(headers, "Accept", wantsJSON)...)
		if want := detail + metric + `", "timestamp": "2261-01-01T00:00:00+00:00"}`; w.Code != 400 ||
			!strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s\nwant %s", request, w.Code, w.Body, want)
		}
	}
	now, late := `{"timestamp":"2026-01-02","value":1}`, `{"timestamp":"2261-01-01","value":1}`
	refused("POST /v1/metric/"+id+"/measures", "["+now+","+late+"]", id)
	refused("POST /v1/batch/metrics/measures", `{"`+empty+`":[],"`+id+`":[`+late+`,`+now+`]}`, id)
	refused("POST /v1/batch/metrics/measures", `{"`+empty+`":[`+now+`],"`+id+`":[`+late+`]}`, id)
	refused("POST /v1/batch/resources/metrics/measures?create_metrics=true",
		`{"r":{"new":[`+now+`],"other":[`+late+`]}}`, "r/other")
	s.want(t, "POST /v1/influxdb/query?q=create+database+influxdb", "", 204, "", "user", "admin")
	lines := "cpu,host=h a=1 1767312000000000000\ncpu,host=h b=2 9183110400000000000\n"
	refused("POST /v1/influxdb/write", lines, "h/cpu.b")
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	_, err := zip.Write([]byte(lines))
	check(t, err)
	check(t, zip.Close())
	refused("POST /v1/influxdb/write", zipped.String(), "h/cpu.b", "Content-Encoding", "gzip")
	refused("POST /v1/prometheus/write", remoteWrite("up 1 9183110400000 instance=i,job=j"), "j@i/up", asRemoteWrite...)

	s.want(t, "GET /v1/metric/"+id+"/measures?refresh=true", "", 200, `[["2025-12-31T00:00:00+00:00", 1.0, 7.0]]`)
	s.want(t, "GET /v1/metric/"+empty+"/measures?refresh=true", "", 200, `[]`)
	s.want(t, "GET /v1/resource/generic/r", "", 200, `~"metrics": {}`)
	s.want(t, "GET /v1/resource/generic", "", 200, `~"original_resource_id": "r"`)
	if body := s.call(t, "GET /v1/resource/generic", "").Body.String(); strings.Count(body,
		"original_resource_id") != 1 {
		t.Errorf("created: %s", body)
	}
	s.want(t, "POST /v1/metric/"+id+"/measures", `[{"timestamp":"2026-01-03T03:04:05","value":1}]`, 202, "")
	s.want(t, "POST /v1/metric/"+id+"/measures", `[{"timestamp":"2026-01-03T03:04:06","value":1}]`, 400,
		"~Measure in the future")
}
