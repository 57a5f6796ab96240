package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/policy"
)

// Users who may post to both metrics load history older than the back window through a metric of its own.
func TestBackfill(t *testing.T) {
	s := newServer(t, nil)
	s.create(t, "/v1/archive_policy",
		`{"name":"p","back_window":0,"definition":[{"granularity":60},{"granularity":3600}],"aggregation_methods":["sum"]}`,
		"user", "admin")
	s.create(t, "/v1/archive_policy",
		`{"name":"r","back_window":0,"definition":[{"granularity":60}],"aggregation_methods":["rate:mean"]}`,
		"user", "admin")
	id := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`, "user", "jd")
	rate := s.create(t, "/v1/metric", `{"archive_policy_name":"r"}`, "user", "jd")
	send := func(id, body string) {
		t.Helper()
		s.want(t, "POST /v1/metric/"+id+"/measures", body, http.StatusAccepted, "", "user", "jd")
	}
	send(id, `[{"timestamp":360000,"value":1},{"timestamp":18000,"value":5}]`)
	path := "POST /v1/metric/" + id + "/backfill"
	s.want(t, path, "", http.StatusForbidden, "~", "user", "other")
	s.want(t, "POST /v1/metric/"+rate+"/backfill", "", http.StatusBadRequest, "~rate:", "user", "jd")
	w := s.want(t, path, "", http.StatusCreated, "~id", "user", "jd")
	var history struct{ ID string }
	check(t, json.Unmarshal(w.Body.Bytes(), &history))
	send(history.ID, `[{"timestamp":7200,"value":2},{"timestamp":7260,"value":3},{"timestamp":18001,"value":4}]`)
	step := path + "/" + history.ID
	s.want(t, step, "", http.StatusForbidden, "~", "user", "other")
	s.want(t, path+"/"+rate, "", http.StatusBadRequest, "~", "user", "jd")
	// A metric like the one that a backfill creates was not created by one.
	like := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`, "user", "jd")
	s.want(t, path+"/"+like, "", http.StatusBadRequest, "~was not created by a backfill of this metric", "user", "jd")
	s.want(t, path+"/"+id, "", http.StatusBadRequest, "~was not created by a backfill of this metric", "user", "jd")
	s.want(t, path+"/00000000-0000-0000-0000-000000000000", "", http.StatusNotFound, "~", "user", "jd")
	s.want(t, step+"?start=x", "", http.StatusBadRequest, "~start", "user", "jd")
	s.want(t, step, "", http.StatusOK,
		`{"moved": 1, "known": 0, "refused": ["1970-01-01T05:00:00+00:00"], "next": null}`, "user", "jd")
	s.want(t, step, "", http.StatusOK,
		`{"moved": 0, "known": 1, "refused": ["1970-01-01T05:00:00+00:00"], "next": null}`, "user", "jd")
	s.want(t, "GET /v1/metric/"+id+"/measures?granularity=3600&aggregation=sum", "", http.StatusOK,
		`[["1970-01-01T02:00:00+00:00", 3600.0, 5.0], ["1970-01-01T05:00:00+00:00", 3600.0, 5.0], ["1970-01-05T04:00:00+00:00", 3600.0, 1.0]]`,
		"user", "jd")
}

// A backfill creates a metric, so users who may only post measures cannot begin one.
func TestBackfillCreatesMetric(t *testing.T) {
	rules, err := policy.Parse([]byte(`{"create metric": "role:admin", "post measures": "", "get measures": ""}`))
	check(t, err)
	s := newServer(t, func(o *api.Options) { o.Policy = rules })
	s.create(t, "/v1/archive_policy",
		`{"name":"p","back_window":0,"definition":[{"granularity":60}],"aggregation_methods":["sum"]}`, "user", "admin")
	id := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`, "user", "admin")
	s.want(t, "POST /v1/metric/"+id+"/measures", `[{"timestamp":60,"value":1}]`, http.StatusAccepted, "", "user", "jd")
	s.want(t, "POST /v1/metric/"+id+"/backfill", "", http.StatusForbidden, "~", "user", "jd")
	s.want(t, "POST /v1/metric/"+id+"/backfill", "", http.StatusCreated, "~id", "user", "admin")
}

// A user's next backfill deletes the metric of an earlier one that did not end. Its measures are not moved, because
// some may be missing. Metrics of other users, and those that only have such a name, stay.
func TestBackfillReplacesLeftOver(t *testing.T) {
	s := newServer(t, nil)
	s.create(t, "/v1/archive_policy",
		`{"name":"p","back_window":0,"definition":[{"granularity":60}],"aggregation_methods":["sum"]}`, "user", "admin")
	id := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`, "user", "jd")
	other := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`, "user", "jd")
	begin := func(id, user string) string {
		t.Helper()
		var made struct{ ID string }
		check(t, json.Unmarshal(s.want(t, "POST /v1/metric/"+id+"/backfill", "", http.StatusCreated, "~id", "user",
			user).Body.Bytes(), &made))
		return made.ID
	}
	name := "backfill of " + id
	s.create(t, "/v1/resource/generic", `{"id":"r","metrics":{"`+name+`":{"archive_policy_name":"p"}}}`, "user", "jd")
	kept := []string{begin(other, "jd")}
	left := begin(id, "jd")
	s.want(t, "POST /v1/metric/"+left+"/measures", `[{"timestamp":60,"value":1}]`, http.StatusAccepted, "", "user", "jd")
	next := begin(id, "jd")
	s.want(t, "GET /v1/metric/"+left, "", http.StatusNotFound, "~", "user", "jd")
	s.want(t, "POST /v1/metric/"+left+"/measures", `[{"timestamp":120,"value":1}]`, http.StatusNotFound, "~", "user", "jd")
	s.want(t, "POST /v1/metric/"+id+"/backfill/"+left, "", http.StatusNotFound, "~", "user", "jd")
	s.want(t, "POST /v1/metric/"+id+"/backfill/"+next, "", http.StatusOK,
		`{"moved": 0, "known": 0, "refused": [], "next": null}`, "user", "jd")
	kept = append(kept, next, begin(id, "admin")) // who could delete jd's
	for _, kept := range kept {
		s.want(t, "GET /v1/metric/"+kept, "", http.StatusOK, "~", "user", "admin")
	}
	s.want(t, "GET /v1/resource/generic/r/metric/"+strings.ReplaceAll(name, " ", "%20"), "", http.StatusOK, "~",
		"user", "jd")
}
