package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/api"
)

// metricOf creates a policy and a metric with it, and returns the metric's path.
func (s *server) metricOf(t testing.TB, policy string) string {
	t.Helper()
	s.create(t, "/v1/archive_policy", policy, "user", "admin")
	_, name, _ := strings.Cut(policy, `"name":"`)
	name, _, _ = strings.Cut(name, `"`)
	return "/v1/metric/" + s.create(t, "/v1/metric", `{"archive_policy_name":"`+name+`"}`)
}

func TestMeasures(t *testing.T) {
	s := newServer(t, nil)
	path := s.metricOf(t, `{"name":"cookies","definition":[{"granularity":"1 second"}]}`)
	id := strings.TrimPrefix(path, "/v1/metric/")
	measures := path + "/measures"
	s.want(t, "GET "+measures, "", 200, "[]")
	w := s.want(t, "POST "+measures, `[{"timestamp":1425652437.0,"value":43.1}]`, 202, "")
	if h := w.Header(); h.Get("Content-Length") != "0" || h.Get("Content-Type") != wantsJSON {
		t.Errorf("headers %v", h)
	}
	s.want(t, "POST "+measures, `[{"timestamp":"2015-03-06T14:34:12","value":12}]`, 202, "")
	s.want(t, "POST "+measures, `[]`, 202, "")
	s.want(t, "GET "+measures+"?refresh=true&start=2015-03-06T14:34", "", 200,
		`[["2015-03-06T14:34:12+00:00", 1.0, 12.0]]`)
	s.want(t, "GET "+measures+"?start=1425652440", "", 200, `[["2015-03-06T14:34:12+00:00", 1.0, 12.0]]`)
	s.want(t, "GET "+measures+"?stop=2015-03-06T14:34:12&granularity=1", "", 200,
		`[["2015-03-06T14:33:57+00:00", 1.0, 43.1]]`)
	s.want(t, "GET "+measures+"?start=2015-03-06T14:34:12.9", "", 200, `[["2015-03-06T14:34:12+00:00", 1.0, 12.0]]`)
	s.want(t, "GET "+measures+"?aggregation=count", "", 200,
		`[["2015-03-06T14:33:57+00:00", 1.0, 1.0], ["2015-03-06T14:34:12+00:00", 1.0, 1.0]]`)
	s.want(t, "GET "+measures+"?aggregation=std", "", 200, `[]`)

	get := func(query string, status int, part string) {
		t.Helper()
		s.want(t, "GET "+measures+query, "", status, "~"+part, "Accept", wantsJSON)
	}
	get("?aggregation=wtf", 404,
		`{"cause": "Aggregation method does not exist for this metric", "detail": {"metric": "`+id+
			`", "aggregation_method": "wtf"}}`)
	get("?aggregation=last", 404, `"aggregation_method": "last"`)
	get("?granularity=42", 404, "Aggregation method 'mean' at granularity '42.0' for metric "+id+" does not exist")
	get("?granularity=foobar", 400,
		`{"cause": "Argument value error", "reason": "Unable to parse timespan", "detail": "granularity"}`)
	get("?start=foobar", 400,
		`{"cause": "Argument value error", "reason": "Must be a datetime or a timestamp", "detail": "start"}`)
	get("?stop=", 400, `"detail": "stop"`)
	get("?resample=60", 400, "A granularity must be specified to resample")
	get("?resample=abc&granularity=1", 400, "Unable to parse timespan")
	get("?refresh=maybe", 400, "Unable to parse `refresh'")
	s.want(t, "GET "+measures, "", 403, "~403", "user", "jd")
	s.want(t, "POST "+measures, "[]", 403, "~403", "user", "jd")
	s.want(t, "GET /v1/metric/fake/measures", "", 404, "~Metric fake does not exist")
	s.want(t, "POST /v1/metric/fake/measures", "[]", 404, "~Metric fake does not exist")

	post := func(body string, status int, part string) {
		t.Helper()
		s.want(t, "POST "+measures, body, status, "~"+part, "Accept", wantsJSON)
	}
	post(`[{"timestamp":"1915-03-06T14:33:57","value":43.1}]`, 400, "Timestamp must be after Epoch")
	post(`[{"timestamp":"1915-100-06T14:33:57","value":43.1}]`, 400, "unexpected timestamp")
	post(`[["2015-03-06T14:33:57",43.1]]`, 400,
		`"description": {"cause": "Invalid input", "reason": "unexpected measures format", "detail": []`)
	post(`[{"timestamp":"2015-03-06T14:34:12","value":"foobar"}]`, 400, "unexpected measures value")
	post(`1`, 400, "")
	post(`[`, 400, `"cause": "Unable to decode body"`)
	s.want(t, "POST "+measures, "[]", 415, "~415", "Content-Type", "text/plain")
}

func TestBatch(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "simple")
	var ids []string
	for range 9 {
		ids = append(ids, s.create(t, "/v1/metric", `{"archive_policy_name":"simple"}`))
	}
	foreign := s.create(t, "/v1/metric", `{"archive_policy_name":"simple"}`, "user", "jd")
	body := func(ids ...string) string {
		for i, id := range ids {
			ids[i] = fmt.Sprintf(
				`%q:[{"timestamp":"2015-03-06T14:33:57","value":%d},{"timestamp":"2015-03-06T14:34:12","value":12}]`,
				id, i)
		}
		return "{" + strings.Join(ids, ",") + "}"
	}
	batch := "POST /v1/batch/metrics/measures"
	s.want(t, batch, body(append([]string{}, ids...)...), 202, "")
	for i, id := range ids {
		s.want(t, "GET /v1/metric/"+id+"/measures?refresh=true", "", 200,
			fmt.Sprintf(`[["2015-03-06T14:33:57+00:00", 1.0, %d.0], ["2015-03-06T14:34:12+00:00", 1.0, 12.0]]`, i))
	}
	s.want(t, batch, `{}`, 202, "")
	s.want(t, batch, `{"`+ids[0]+`":[]}`, 202, "")
	s.want(t, batch, body("37AEC8B7-C0D9-445B-8AB9-D3C6312DCF5D", ids[0], "37AEC8B7-C0D9-445B-8AB9-D3C6312DCF5C"), 400,
		"~Unknown metrics: 37aec8b7-c0d9-445b-8ab9-d3c6312dcf5c, 37aec8b7-c0d9-445b-8ab9-d3c6312dcf5d")
	s.want(t, batch, body(ids[0], foreign), 403, "~403")
	s.want(t, batch, body(ids[0], foreign), 202, "", "user", "admin")
	s.want(t, batch, `[]`, 400, "~expected a dictionary")
	s.want(t, batch, `{"x":[]}`, 400, "~")
	// The two refused requests left no measures: only those of admin count.
	s.want(t, "GET /v1/metric/"+foreign+"/measures?refresh=true&aggregation=count", "", 200,
		`[["2015-03-06T14:33:57+00:00", 1.0, 1.0], ["2015-03-06T14:34:12+00:00", 1.0, 1.0]]`, "user", "jd")
}

func TestStatusCountsBundles(t *testing.T) {
	s := newServer(t, nil)
	path := s.metricOf(t, `{"name":"p","definition":[{"granularity":1}]}`)
	s.want(t, "POST "+path+"/measures", `[{"timestamp":1,"value":1},{"timestamp":2,"value":1}]`, 202, "")
	s.want(t, "GET "+path+"/measures?refresh=true", "", 200, "~1970-01-01T00:00:02+00:00")
	s.want(t, "GET /v1/status", "", 200, `~"summary": {"metrics": 0, "measures": 0}`, "user", "admin")
}

func TestCoarsestGranularityFirst(t *testing.T) {
	s := newServer(t, nil)
	path := s.metricOf(t,
		`{"name":"p","definition":[{"granularity":"1 minute"},{"granularity":"1 hour"},{"granularity":0.5}]}`)
	s.want(t, "POST "+path+"/measures", `[{"timestamp":3600,"value":1},{"timestamp":3660.75,"value":2}]`, 202, "")
	s.want(t, "GET "+path+"/measures?refresh=1", "", 200, `[["1970-01-01T01:00:00+00:00", 3600.0, 1.5], `+
		`["1970-01-01T01:00:00+00:00", 60.0, 1.0], ["1970-01-01T01:01:00+00:00", 60.0, 2.0], `+
		`["1970-01-01T01:00:00+00:00", 0.5, 1.0], ["1970-01-01T01:01:00.500000+00:00", 0.5, 2.0]]`)
}

func TestResample(t *testing.T) {
	s := newServer(t, nil)
	path := s.metricOf(t,
		`{"name":"p","aggregation_methods":["mean","rate:last","std"],"definition":[{"granularity":"1 second"}]}`)
	s.want(t, "POST "+path+"/measures",
		`[{"timestamp":"2015-03-06T14:33:57","value":43.1},{"timestamp":"2015-03-06T14:34:12","value":12},
		{"timestamp":"2015-03-06T14:34:15","value":16},{"timestamp":"2015-03-06T14:35:12","value":9},{"timestamp":"2015-03-06T14:35:15","value":11}]`, 202, "")
	get := func(query, want string) {
		t.Helper()
		s.want(t, "GET "+path+"/measures?refresh=true&granularity=1&resample="+query, "", 200, want)
	}
	get("60",
		`[["2015-03-06T14:33:00+00:00", 60.0, 43.1], ["2015-03-06T14:34:00+00:00", 60.0, 14.0], ["2015-03-06T14:35:00+00:00", 60.0, 10.0]]`)
	// start and stop choose groups; a group that is chosen is whole.
	get("60&start=2015-03-06T14:34:13&stop=2015-03-06T14:35:13",
		`[["2015-03-06T14:34:00+00:00", 60.0, 14.0], ["2015-03-06T14:35:00+00:00", 60.0, 10.0]]`)
	get("1+hour&stop=2015-03-06T14:35", `[["2015-03-06T14:00:00+00:00", 3600.0, 18.22]]`)
	// A rate is differenced once more: its aggregates are -31.1, 4, -7, 2.
	get("60&aggregation=rate:last",
		`[["2015-03-06T14:34:00+00:00", 60.0, 35.1], ["2015-03-06T14:35:00+00:00", 60.0, 9.0]]`)
	get("60&aggregation=rate:last&start=2015-03-06T14:35", `[["2015-03-06T14:35:00+00:00", 60.0, 9.0]]`)
	get("60&aggregation=std", `[]`)
	get("Y", `[["2015-01-01T00:00:00+00:00", "Y", 18.22]]`)
}

func TestResampleByCalendar(t *testing.T) {
	s := newServer(t, nil)
	path := s.metricOf(t, `{"name":"p","definition":[{"granularity":"1 day"}]}`)
	var body []string
	for _, m := range [][2]string{{"2015-03-01", "10"}, {"2015-03-06", "12"}, {"2015-04-01", "2"}, {"2015-04-06", "4"},
		{"2015-10-06", "7"}, {"2016-01-06", "12"}, {"2016-02-06", "4"}} {
		body = append(body, `{"timestamp":"`+m[0]+`T14:34:12","value":`+m[1]+`}`)
	}
	s.want(t, "POST "+path+"/measures", "["+strings.Join(body, ",")+"]", 202, "")
	get := func(letter, query string, rows ...string) {
		t.Helper()
		for i, row := range rows {
			day, value, _ := strings.Cut(row, " ")
			rows[i] = fmt.Sprintf(`["%sT00:00:00+00:00", "%s", %s]`, day, letter, value)
		}
		s.want(t, "GET "+path+"/measures?refresh=true&granularity=86400&resample="+letter+query, "", 200,
			"["+strings.Join(rows, ", ")+"]")
	}
	get("Y", "", "2015-01-01 7.0", "2016-01-01 8.0")
	get("H", "", "2015-01-01 7.0", "2015-07-01 7.0", "2016-01-01 8.0")
	get("Q", "", "2015-01-01 11.0", "2015-04-01 3.0", "2015-10-01 7.0", "2016-01-01 8.0")
	get("M", "", "2015-03-01 11.0", "2015-04-01 3.0", "2015-10-01 7.0", "2016-01-01 12.0", "2016-02-01 4.0")
	get("W", "", "2015-03-01 11.0", "2015-03-29 2.0", "2015-04-05 4.0", "2015-10-04 7.0",
		"2016-01-03 12.0", "2016-01-31 4.0")
	get("Q", "&start=2015-05-05&stop=2016-01-01", "2015-04-01 3.0", "2015-10-01 7.0")
}

func TestResampleByCalendarOfTimeZone(t *testing.T) {
	s := newServer(t, nil)
	path := s.metricOf(t, `{"name":"p","definition":[{"granularity":"1 hour"}]}`)
	s.want(t, "POST "+path+"/measures",
		`[{"timestamp":"2025-03-31T21:00","value":1},{"timestamp":"2025-03-31T22:00","value":2},
		{"timestamp":"2025-03-31T23:00","value":4},{"timestamp":"2025-04-01T00:00","value":6}]`, 202, "")
	get := func(parameters, want string) {
		t.Helper()
		s.want(t, "GET "+path+"/measures?refresh=true&granularity=3600&resample="+parameters, "", 200, want)
	}
	get("M", `[["2025-03-01T00:00:00+00:00", "M", 2.3333333333333335], ["2025-04-01T00:00:00+00:00", "M", 6.0]]`)
	// In summer, Rome is two hours ahead of UTC, in winter one.
	get("M&tz=Europe/Rome", `[["2025-02-28T23:00:00+00:00", "M", 1.0], ["2025-03-31T22:00:00+00:00", "M", 4.0]]`)
	get("M&tz=America/New_York", `[["2025-03-01T05:00:00+00:00", "M", 3.25]]`)
	get("Y&tz=Asia/Kolkata", `[["2024-12-31T18:30:00+00:00", "Y", 3.25]]`)
	get("D", `[["2025-03-31T00:00:00+00:00", "D", 2.3333333333333335], ["2025-04-01T00:00:00+00:00", "D", 6.0]]`)
	get("D&tz=Europe/Rome", `[["2025-03-30T22:00:00+00:00", "D", 1.0], ["2025-03-31T22:00:00+00:00", "D", 4.0]]`)
	get("M&tz=Europe/Rome&start=2025-03-31T22:00", `[["2025-03-31T22:00:00+00:00", "M", 4.0]]`)
	refuse := func(parameters, part string) {
		t.Helper()
		s.want(t, "GET "+path+"/measures?granularity=3600&"+parameters, "", 400, "~"+part, "Accept", wantsJSON)
	}
	for _, zone := range []string{"Nowhere", "Local", "../etc/passwd", "/etc/localtime"} {
		refuse("resample=M&tz="+zone, `"detail": "tz"`)
	}
	refuse("resample=3600&tz=Europe/Rome", `"detail": "tz"`)
	refuse("tz=Europe/Rome", `"detail": "tz"`)
}

func TestRates(t *testing.T) {
	s := newServer(t, nil)
	path := s.metricOf(t,
		`{"name":"p","aggregation_methods":["rate:mean","rate:95pct","max"],"definition":[{"granularity":"1 minute"}]}`)
	s.want(t, "POST "+path+"/measures",
		`[{"timestamp":"2015-03-06T14:33:00","value":10},{"timestamp":"2015-03-06T14:34:10","value":13},
		{"timestamp":"2015-03-06T14:34:20","value":13},{"timestamp":"2015-03-06T14:34:30","value":15}]`, 202, "")
	s.want(t, "GET "+path+"/measures?refresh=true&aggregation=rate:mean", "", 200,
		`[["2015-03-06T14:34:00+00:00", 60.0, 1.6666666666666667]]`)
	s.want(t, "GET "+path+"/measures?aggregation=rate:95pct", "", 200, `[["2015-03-06T14:34:00+00:00", 60.0, 2.9]]`)
	s.want(t, "GET "+path+"/measures?aggregation=max", "", 200,
		`[["2015-03-06T14:33:00+00:00", 60.0, 10.0], ["2015-03-06T14:34:00+00:00", 60.0, 15.0]]`)
}

func TestNamedMeasures(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "p")
	s.create(t, "/v1/resource/generic", `{"id":"web","metrics":{"some.counter":{"archive_policy_name":"p"}}}`)
	measures := "/v1/resource/generic/web/metric/some.counter/measures"
	s.want(t, "GET "+measures, "", 200, "[]")
	s.want(t, "POST "+measures,
		`[{"timestamp":"2015-06-06T14:33:00","value":11},{"timestamp":"2015-06-06T14:35:00","value":12}]`, 202, "")
	s.want(t, "GET "+measures+"?refresh=true&start=2015-06-06T14:34", "", 200,
		`[["2015-06-06T14:35:00+00:00", 1.0, 12.0]]`)
	s.want(t, "POST /v1/resource/generic/web/metric/other/measures", `[]`, 404, "~Metric other does not exist")
}

func TestBodyLimit(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.MaxBodyBytes = 40 })
	s.want(t, "POST /v1/batch/metrics/measures", strings.Repeat(" ", 41), 413, "~A body holds 40 bytes at most")
	s.want(t, "POST /v1/batch/metrics/measures", `{}`+strings.Repeat(" ", 38), 202, "")
}

// Without disk space measures are refused, and nothing else is; it passes by itself.
func TestFullDisk(t *testing.T) {
	s := newServer(t, nil)
	path := s.metricOf(t, `{"name":"p","definition":[{"granularity":1}]}`)
	until := func(status int) string {
		for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
			w := s.call(t, "POST "+path+"/measures", `[{"timestamp":1,"value":1}]`)
			if w.Code == status {
				return w.Body.String()
			}
			if time.Now().After(deadline) {
				t.Fatalf("status %d, want %d: %s", w.Code, status, w.Body)
			}
		}
	}
	s.free.Store(0)
	if body := until(507); !strings.Contains(body, "No space is left") {
		t.Error(body)
	}
	s.want(t, "GET "+path+"/measures", "", 200, "~[")
	s.free.Store(1 << 40)
	until(202)
}

// An answer that is sent in pieces has every row once.
func TestLongAnswer(t *testing.T) {
	const rows = 5000
	s := newServer(t, nil)
	path := s.metricOf(t, `{"name":"p","definition":[{"granularity":1}]}`)
	var body strings.Builder
	for i := range rows {
		fmt.Fprintf(&body, `,{"timestamp":%d,"value":%d.25}`, i, i)
	}
	s.want(t, "POST "+path+"/measures", "["+body.String()[1:]+"]", 202, "")
	answer := s.want(t, "GET "+path+"/measures?refresh=true", "", 200, "~").Body.String()
	got := strings.Split(strings.Trim(answer, "[]"), "], [")
	if len(got) != rows {
		t.Fatalf("%d rows", len(got))
	}
	for i, row := range got {
		if want := time.Unix(int64(i), 0).UTC().Format(`"2006-01-02T15:04:05+00:00", 1.0, `) +
			fmt.Sprintf("%d.25", i); row != want {
			t.Fatalf("row %d: %s, want %s", i, row, want)
		}
	}
}

// TestBatchOfTheSameMetrics sends the same metrics again and again, until one is deleted; another user may never.
func TestBatchOfTheSameMetrics(t *testing.T) {
	s := newServer(t, nil)
	first := s.metricOf(t, `{"name":"cookies","definition":[{"granularity":"1 second"}]}`)
	ids := []string{strings.TrimPrefix(first, "/v1/metric/")}
	for len(ids) < 30 {
		ids = append(ids, s.create(t, "/v1/metric", `{"archive_policy_name":"cookies"}`))
	}
	body := `{"` + strings.Join(ids, `":[{"timestamp":1425652437,"value":1}],"`) +
		`":[{"timestamp":1425652437,"value":1}]}`
	for range 3 {
		s.want(t, "POST /v1/batch/metrics/measures", body, 202, "")
		s.want(t, "POST /v1/batch/metrics/measures", body, 403, "~403", "user", "jd")
	}
	s.want(t, "DELETE "+first, "", 204, "")
	s.want(t, "POST /v1/batch/metrics/measures", body, 400, "~Unknown metrics: "+ids[0])
	s.want(t, "POST /v1/batch/metrics/measures", body, 400, "~Unknown metrics: "+ids[0], "user", "jd")
}
