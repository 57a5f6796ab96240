package api_test

import (
	"strings"
	"testing"
)

// A body that is nested a hundred thousand times is a 400 in every request.
func TestNestedBodies(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "p")
	id := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`)
	const deep = 100_000
	lists := strings.Repeat("[", deep) + strings.Repeat("]", deep)
	text := func(before string) string {
		return strings.Repeat(before, deep) + "(metric " + id + " mean)" + strings.Repeat(")", deep)
	}
	objects := func(key string) string {
		return strings.Repeat(`{"`+key+`":`, deep) + `{"=":{"id":"r"}}` + strings.Repeat("}", deep)
	}
	f := func(request, body, want string) {
		t.Helper()
		s.want(t, request, body, 400, "~"+want, "Accept", wantsJSON, "user", "admin")
	}
	const document, nested = "exceeded max depth", "nested too deep"
	for _, path := range []string{"/v1/metric", "/v1/resource/generic", "/v1/archive_policy", "/v1/archive_policy_rule",
		"/v1/resource_type", "/v1/aggregates", "/v1/search/resource/generic", "/v1/search/metric?metric_id=" + id} {
		f("POST "+path, lists, document)
		f("POST "+path, objects("not"), document)
	}
	f("POST /v1/metric/"+id+"/measures", lists, nested)
	f("POST /v1/batch/metrics/measures", objects(id), nested)
	f("POST /v1/batch/resources/metrics/measures", objects("r"), nested)
	f("POST /v1/aggregates", `{"operations":"`+text("(abs ")+`"}`, "nested more than 100 deep")
	f("POST /v1/search/resource/generic?filter="+strings.Repeat("(", 10_000), "", nested)
	f("POST /v1/search/resource/generic?filter="+strings.Repeat("not+", 10_000), "", nested)
	const most = 1000 // below what encoding/json takes
	f("POST /v1/aggregates", `{"operations":`+strings.Repeat(`["abs",`, most)+`["metric","`+id+`","mean"]`+
		strings.Repeat("]", most)+"}", "nested more than 100 deep")
	f("POST /v1/search/resource/generic", strings.Repeat(`{"not":`, most)+`{"=":{"id":"r"}}`+strings.Repeat("}", most),
		nested)
	f("POST /v1/search/metric?metric_id="+id, strings.Repeat(`{"and":[`, most)+`{"=":1}`+strings.Repeat("]}", most),
		nested)
}
