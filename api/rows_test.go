package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// The rows of measures are also written as lines of CSV and JSON.
func TestRowsAsLines(t *testing.T) {
	s := newServer(t, nil)
	s.want(t, "POST /v1/archive_policy", `{"name":"p","back_window":0,"definition":[{"granularity":"1s"},
		{"granularity":"1m"}],"aggregation_methods":["sum"]}`, http.StatusCreated, "~p", "user", "admin")
	path := "/v1/metric/" + s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`) + "/measures"
	s.want(t, "POST "+path, `[{"timestamp":60,"value":0.1},{"timestamp":61,"value":1e300}]`, http.StatusAccepted, "")
	const (
		csv = "timestamp,granularity,value\n1970-01-01T00:01:00+00:00,60.0,1e+300\n" +
			"1970-01-01T00:01:00+00:00,1.0,0.1\n1970-01-01T00:01:01+00:00,1.0,1e+300\n"
		lines = `{"timestamp": "1970-01-01T00:01:00+00:00", "granularity": 60.0, "value": 1e+300}
{"timestamp": "1970-01-01T00:01:00+00:00", "granularity": 1.0, "value": 0.1}
{"timestamp": "1970-01-01T00:01:01+00:00", "granularity": 1.0, "value": 1e+300}
`
		lists = `[["1970-01-01T00:01:00+00:00", 60.0, 1e+300], ["1970-01-01T00:01:00+00:00", 1.0, 0.1], ` +
			`["1970-01-01T00:01:01+00:00", 1.0, 1e+300]]`
	)
	f := func(accept, kind, want string) {
		t.Helper()
		answer := s.call(t, "GET "+path+"?aggregation=sum&refresh=true", "", "Accept", accept)
		if body := answer.Body.String(); answer.Code != http.StatusOK || body != want ||
			answer.Header().Get("Content-Type") != kind {
			t.Errorf("Accept %q: %d %s\n%s", accept, answer.Code, answer.Header(), body)
		}
	}
	f("", "application/json", lists)
	f("*/*", "application/json", lists)
	f("text/html, text/csv;q=0.5, */*;q=0.8", "application/json", lists)
	f("text/csv", "text/csv; charset=utf-8", csv)
	f("application/json;q=0.5, TEXT/CSV", "text/csv; charset=utf-8", csv)
	f("application/x-ndjson", "application/x-ndjson", lines)
	s.want(t, "GET "+path, "", http.StatusNotAcceptable, "~", "Accept", "text/html")
	s.want(t, "GET "+path, "", http.StatusNotAcceptable, "~", "Accept", "text/csv;q=0")
	answer := s.call(t, "GET "+path+"?aggregation=max", "", "Accept", "text/csv")
	if answer.Code != http.StatusNotFound {
		t.Errorf("an error: %d %s", answer.Code, answer.Body)
	}
}

// Answers of aggregates are also rows as lines, with columns that say what each is of.
func TestAggregatesAsLines(t *testing.T) {
	s := newServer(t, nil)
	s.want(t, "POST /v1/archive_policy", `{"name":"p","back_window":0,"definition":[{"granularity":"1m"}],
		"aggregation_methods":["sum","max"]}`, http.StatusCreated, "~p", "user", "admin")
	s.want(t, "POST /v1/resource_type", `{"name":"room","attributes":{"floor":{"type":"number","required":false}}}`,
		http.StatusCreated, "~room", "user", "admin")
	var ids []string
	for i, room := range []string{`{"id":"attic","floor":2.5,`, `{"id":"hall, \"red\"",`} {
		created := s.want(t, "POST /v1/resource/room", room+`"metrics":{"heat":{"archive_policy_name":"p"}}}`,
			http.StatusCreated, "~heat")
		var resource struct {
			ID      string
			Metrics map[string]string
		}
		fatal.If(t, json.Unmarshal(created.Body.Bytes(), &resource))
		ids = append(ids, resource.Metrics["heat"])
		s.want(t, "POST /v1/metric/"+ids[i]+"/measures", fmt.Sprintf(`[{"timestamp":60,"value":%d}]`, i+1),
			http.StatusAccepted, "")
		s.want(t, "GET /v1/metric/"+ids[i]+"/measures?refresh=true&aggregation=sum", "", http.StatusOK, "~1970")
	}
	f := func(path, body, accept, want string) {
		t.Helper()
		answer := s.call(t, "POST "+path, body, "Accept", accept)
		if got := answer.Body.String(); answer.Code != http.StatusOK || got != want ||
			!slices.Contains(answer.Header().Values("Vary"), "Accept") {
			t.Errorf("%s %s, %s: %d %s\n%s\nnot\n%s", path, body, accept, answer.Code, answer.Header(), got, want)
		}
	}
	const (
		csv, lines = "text/csv", "application/x-ndjson"
		named      = `{"resource_type":"room","search":{},"operations":"(metric heat sum)"}`
		sum        = `{"resource_type":"room","search":{},"operations":"(aggregate sum (metric heat sum))"}`
		at         = "1970-01-01T00:01:00+00:00"
		stamp      = `"timestamp": "` + at + `", "granularity": 60.0, "value": `
	)
	f("/v1/aggregates", `{"operations":["metric",["`+ids[0]+`","sum"],["`+ids[0]+`","max"]]}`, csv,
		"resource,metric,aggregation,timestamp,granularity,value\n"+
			","+ids[0]+",sum,"+at+",60.0,1.0\n,"+ids[0]+",max,"+at+",60.0,1.0\n")
	f("/v1/aggregates", `{"operations":["metric","`+ids[0]+`","sum"]}`, lines,
		`{"resource": null, "metric": "`+ids[0]+`", "aggregation": "sum", `+stamp+"1.0}\n")
	f("/v1/aggregates?details=true", named, csv, "resource,metric,aggregation,timestamp,granularity,value\n"+
		"attic,heat,sum,"+at+",60.0,1.0\n"+`"hall, ""red""",heat,sum,`+at+",60.0,2.0\n")
	f("/v1/aggregates", sum, csv, "resource,metric,aggregation,timestamp,granularity,value\n,,,"+at+",60.0,3.0\n")
	f("/v1/aggregates?groupby=floor", sum, csv, "group_floor,resource,metric,aggregation,timestamp,granularity,value\n"+
		"2.5,,,,"+at+",60.0,1.0\n,,,,"+at+",60.0,2.0\n")
	f("/v1/aggregates?groupby=floor", named, lines,
		`{"group_floor": 2.5, "resource": "attic", "metric": "heat", "aggregation": "sum", `+stamp+"1.0}\n"+
			`{"group_floor": null, "resource": "hall, \"red\"", "metric": "heat", "aggregation": "sum", `+stamp+"2.0}\n")
	f("/v1/aggregates?groupby=floor&use_history=true&details=true", sum, lines,
		`{"group_floor": 2.5, "resource": null, "metric": null, "aggregation": null, `+stamp+"1.0}\n"+
			`{"group_floor": null, "resource": null, "metric": null, "aggregation": null, `+stamp+"2.0}\n")
	f("/v1/aggregation/metric?aggregation=sum", `["`+ids[0]+`","`+ids[1]+`"]`, csv,
		"timestamp,granularity,value\n"+at+",60.0,3.0\n")
	f("/v1/aggregation/metric?aggregation=sum", `[]`, csv, "timestamp,granularity,value\n")
	f("/v1/aggregation/resource/room/metric/heat?aggregation=sum&groupby=floor", `{}`, csv,
		"group_floor,timestamp,granularity,value\n2.5,"+at+",60.0,1.0\n,"+at+",60.0,2.0\n")
	s.want(t, "POST /v1/aggregates", sum, http.StatusNotAcceptable, "~", "Accept", "text/html")
}
