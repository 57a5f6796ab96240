package api_test

import (
	"net/http"
	"testing"
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
