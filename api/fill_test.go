package api_test

import (
	"net/http"
	"testing"
)

// The right to post measures is enough to put history of any age where a metric has none, without a ledger entry.
func TestFillMeasures(t *testing.T) {
	s := newServer(t, nil)
	s.create(t, "/v1/archive_policy",
		`{"name":"p","back_window":0,"definition":[{"granularity":60},{"granularity":3600}],"aggregation_methods":["sum"]}`,
		"user", "admin")
	s.create(t, "/v1/archive_policy",
		`{"name":"r","back_window":0,"definition":[{"granularity":60}],"aggregation_methods":["rate:mean"]}`,
		"user", "admin")
	id := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`, "user", "jd")
	rate := s.create(t, "/v1/metric", `{"archive_policy_name":"r"}`, "user", "jd")
	s.want(t, "POST /v1/metric/"+id+"/measures", `[{"timestamp":360000,"value":1},{"timestamp":18000,"value":5}]`,
		http.StatusAccepted, "", "user", "jd")
	path := "PUT /v1/metric/" + id + "/measures?where=empty"
	const body = `[{"timestamp":18001,"value":4},{"timestamp":7260,"value":3},{"timestamp":7200,"value":2}]`
	f := func(request, body string, status int, answer, user string) {
		t.Helper()
		s.want(t, request, body, status, answer, "user", user)
	}
	f(path, body, http.StatusForbidden, "~", "other")
	f("PUT /v1/metric/"+rate+"/measures?where=empty", body, http.StatusBadRequest, "~rate:", "jd")
	f("PUT /v1/metric/"+id+"/measures?where=full", body, http.StatusBadRequest, "~Must be empty", "jd")
	f(path+"&start=0", body, http.StatusBadRequest, "~Does not go with where", "jd")
	f(path, `{"x":1}`, http.StatusForbidden, "~", "jd")
	f(path, `[{"timestamp":"2100-01-01","value":4}]`, http.StatusBadRequest, "~too far in the future", "jd")
	f(path, "[]", http.StatusOK, `{"put": 0, "known": 0, "refused": 0, "refused_blocks": []}`, "jd")
	const refused = `"refused": 1, "refused_blocks": ["1970-01-01T05:00:00+00:00"]}`
	f(path+"&dry_run=true", body, http.StatusOK, `{"put": 2, "known": 0, `+refused, "jd")
	f(path, body, http.StatusOK, `{"put": 2, "known": 0, `+refused, "jd")
	f(path, body, http.StatusOK, `{"put": 0, "known": 2, `+refused, "jd")
	f("GET /v1/metric/"+id+"/measures?granularity=3600&aggregation=sum", "", http.StatusOK,
		`[["1970-01-01T02:00:00+00:00", 3600.0, 5.0], ["1970-01-01T05:00:00+00:00", 3600.0, 5.0], `+
			`["1970-01-05T04:00:00+00:00", 3600.0, 1.0]]`, "jd")
	f("GET /v1/ledger", "", http.StatusOK, "[]", "admin")
}

// Administrators put groups whose measures nobody has.
func TestFillGroups(t *testing.T) {
	s := newServer(t, nil)
	s.create(t, "/v1/archive_policy", `{"name":"p","back_window":0,"definition":[{"granularity":60},{"granularity":3600}],
		"aggregation_methods":["sum","count","max"]}`, "user", "admin")
	id := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`, "user", "jd")
	path := "PUT /v1/metric/" + id + "/measures?where=empty"
	f := func(body string, status int, answer string) {
		t.Helper()
		s.want(t, path, body, status, answer, "user", "admin")
	}
	f(`{"groups":1}`, http.StatusBadRequest, "~do not decode")
	f(`{"groups":[{"granularity":61}]}`, http.StatusBadRequest, "~not of archive policy p")
	f(`{"groups":[{"granularity":60},{"granularity":60}]}`, http.StatusBadRequest, "~there twice")
	f(`{"groups":[{"granularity":60,"timestamps":[61]}]}`, http.StatusBadRequest, "~does not start a group")
	f(`{"groups":[{"granularity":60,"timestamps":[120,60]}]}`, http.StatusBadRequest, "~does not start a group")
	f(`{"groups":[{"granularity":60,"timestamps":[60],"columns":{"sum":[]}}]}`, http.StatusBadRequest, "~has 0 values")
	f(`{"groups":[{"granularity":60,"timestamps":[60],"columns":{"none":[1]}}]}`, http.StatusBadRequest,
		"~does not have")
	const body = `{"groups":[
		{"granularity":60,"timestamps":[7200,7260],"columns":{"sum":[2,3],"count":[1,2],"max":[2,"NaN"]}},
		{"granularity":3600,"timestamps":[7200],"columns":{"sum":[5],"count":[3],"max":[null]}}]}`
	f(body, http.StatusOK, `{"put": 3, "known": 0, "refused": 0, "refused_blocks": []}`)
	f(body, http.StatusOK, `{"put": 0, "known": 3, "refused": 0, "refused_blocks": []}`)
	s.want(t, "GET /v1/metric/"+id+"/measures?aggregation=sum", "", http.StatusOK,
		`[["1970-01-01T02:00:00+00:00", 3600.0, 5.0], ["1970-01-01T02:00:00+00:00", 60.0, 2.0], `+
			`["1970-01-01T02:01:00+00:00", 60.0, 3.0]]`, "user", "jd")
	s.want(t, "GET /v1/metric/"+id+"/measures?aggregation=max&granularity=3600", "", http.StatusOK, "[]", "user", "jd")
}
