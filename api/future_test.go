package api_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/api"
)

// A measure further ahead of the clock than --max-future is refused on every way in, by name. By Gnocchi's ways in it
// changes nothing: neither the measures beside it count, nor is what they need created.
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
	partly := func(request, body, reason string, headers ...string) {
		t.Helper()
		w := s.call(t, request, body, append(headers, "Accept", wantsJSON)...)
		if w.Code != 400 || !strings.Contains(w.Body.String(), reason) {
			t.Errorf("%s: %d %s\nwant %s", request, w.Code, w.Body, reason)
		}
	}
	const oneLine = "partial write: 1 of 2 lines refused: line 2: A measure may be 24h0m0s ahead"
	partly("POST /v1/influxdb/write", lines, oneLine)
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	_, err := zip.Write([]byte(lines))
	check(t, err)
	check(t, zip.Close())
	partly("POST /v1/influxdb/write", zipped.String(), oneLine, "Content-Encoding", "gzip")
	partly("POST /v1/prometheus/write", remoteWrite("up 1 9183110400000 instance=i,job=j"),
		"1 of 1 sample refused, the others stored: 1 from before 1970 or after", asRemoteWrite...)

	s.want(t, "GET /v1/metric/"+id+"/measures?refresh=true", "", 200, `[["2025-12-31T00:00:00+00:00", 1.0, 7.0]]`)
	s.want(t, "GET /v1/metric/"+empty+"/measures?refresh=true", "", 200, `[]`)
	s.want(t, "GET /v1/resource/generic/r", "", 200, `~"metrics": {}`)
	s.want(t, "GET /v1/resource/generic", "", 200, `~"original_resource_id": "r"`)
	s.want(t, "GET /v1/metric?name=cpu.b", "", 200, "[]", "user", "admin")
	s.want(t, "GET /v1/metric?name=cpu.a", "", 200, "~cpu.a", "user", "admin")
	if body := s.call(t, "GET /v1/resource/generic", "").Body.String(); strings.Count(body,
		"original_resource_id") != 2 { // and h, of the line that is stored
		t.Errorf("created: %s", body)
	}
	s.want(t, "POST /v1/metric/"+id+"/measures", `[{"timestamp":"2026-01-03T03:04:05","value":1}]`, 202, "")
	s.want(t, "POST /v1/metric/"+id+"/measures", `[{"timestamp":"2026-01-03T03:04:06","value":1}]`, 400,
		"~Measure in the future")
}

// Ways in that carry no forecasts refuse what is far ahead by themselves, and store the rest.
func TestFutureOfSenders(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "p")
	s.create(t, "/v1/archive_policy_rule", `{"name":"all","metric_pattern":"*","archive_policy_name":"p"}`, "user",
		"admin")
	id := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`)
	s.want(t, "POST /v1/metric/"+id+"/measures", `[{"timestamp":"2099-12-31","value":7}]`, 202, "")
	s.want(t, "POST /v1/influxdb/query?q=create+database+influxdb", "", 204, "", "user", "admin")
	const second = int64(time.Second)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).UnixNano()
	day := now + 24*3600*second
	s.want(t, "POST /v1/influxdb/write", fmt.Sprintf("cpu,host=h a=1,b=2 %d\ncpu,host=h a=3,c=4 %d\ncpu,host=h d=5 %d\n",
		now, day+1, day), 400, "~partial write: 1 of 3 lines refused: line 2: A measure may be 24h0m0s ahead")
	s.want(t, "GET /v1/metric?name=cpu.c", "", 200, "[]", "user", "admin")
	s.want(t, "GET /v1/resource/influxdb/h/metric/cpu.a/measures?refresh=true", "", 200,
		`[["2026-01-02T03:04:05+00:00", 1.0, 1.0]]`)
	s.want(t, "GET /v1/resource/influxdb/h/metric/cpu.d/measures?refresh=true", "", 200, "~5.0")
	write := func(path string, at int64, status int, answer string) {
		t.Helper()
		s.want(t, "POST "+path, remoteWrite(fmt.Sprintf("up %d %d job=j,instance=i", at%1000, at/1e6)), status, answer,
			append([]string{"user", "admin"}, asRemoteWrite...)...)
	}
	minutes := now + 600*second
	write("/api/v1/write", minutes, 204, "")
	write("/api/v1/write", minutes+second, 400, "~others stored: 1 from before 1970 or after 2026-01-02T03:14:05+00:00")
	write("/v1/prometheus/write", minutes, 202, "")
	write("/v1/prometheus/write", minutes+second, 400, "~others stored: 1 from before 1970 or after 2026-01-02T03:14:05+00:00")
}

// A measure of a wrong year hides nothing from either language, for any measures after it.
func TestWrongYearHidesNothing(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "p")
	s.create(t, "/v1/archive_policy_rule", `{"name":"all","metric_pattern":"*","archive_policy_name":"p"}`, "user",
		"admin")
	headers := append([]string{"user", "admin"}, asRemoteWrite...)
	s.want(t, "POST /api/v1/write", remoteWrite("up 1 1767322800000 job=j"), 204, "", headers...)
	var metrics []struct{ ID string }
	w := s.call(t, "GET /v1/metric?name=up", "", "user", "admin")
	check(t, json.Unmarshal(w.Body.Bytes(), &metrics))
	if len(metrics) != 1 {
		t.Fatal(w.Body)
	}
	s.want(t, "POST /v1/metric/"+metrics[0].ID+"/measures", `[{"timestamp":"2099-12-31","value":7}]`, 202, "", "user",
		"admin")
	s.want(t, "POST /api/v1/write", remoteWrite("up 2 1767322815000 job=j", "up 3 1767322830000 job=j"), 204, "",
		headers...)
	s.refreshAll(t, "admin")
	s.want(t, "GET /api/v1/query?time=1767322840&query=count_over_time(up[5m])", "", 200, `~[1767322840,"3"]`, "user",
		"admin")
	s.want(t, "GET /v1/metric/"+metrics[0].ID+"/measures?refresh=true&aggregation=count&granularity=3600", "", 200,
		`[["2026-01-02T03:00:00+00:00", 3600.0, 3.0], ["2099-12-31T00:00:00+00:00", 3600.0, 1.0]]`, "user", "admin")
}
