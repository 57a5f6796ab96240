package api_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

func TestRebuild(t *testing.T) {
	s := newServer(t, nil)
	admin := []string{"user", "admin", "Accept", wantsJSON}
	s.create(t, "/v1/archive_policy",
		`{"name":"p","aggregation_methods":["mean","max"],"definition":[{"granularity":"1 minute","timespan":"7 days"}]}`, admin...)
	s.create(t, "/v1/archive_policy",
		`{"name":"q","aggregation_methods":["max"],"definition":[{"granularity":"1 hour"}]}`, admin...)
	metric := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`, admin...)

	// Without rebuild it is as in Gnocchi.
	const hours = `{"definition":[{"granularity":"1 minute","timespan":"1 day"},{"granularity":"1 hour"}],"aggregation_methods":["mean","95pct"]}`
	s.want(t, "PATCH /v1/archive_policy/p", hours, 400, "~extra keys not allowed", admin...)
	s.want(t, "PATCH /v1/archive_policy/p?rebuild=true&dry_run=true", hours, 200,
		`{"archive_policy": {"name": "p", "back_window": 0, `+
			`"definition": [{"timespan": "1 day, 0:00:00", "granularity": "0:01:00", "points": 1440}, {"timespan": null, "granularity": "1:00:00", "points": null}], `+
			`"aggregation_methods": ["mean", "95pct"]}, "metrics": 1, "aggregates": [`+
			`{"granularity": "0:01:00", "aggregation_method": "mean", "from": "stored", "of_granularity": null, "reaches_back": "1 day, 0:00:00"}, `+
			`{"granularity": "0:01:00", "aggregation_method": "95pct", "from": "raw", "of_granularity": null, "reaches_back": "0:00:00"}, `+
			`{"granularity": "1:00:00", "aggregation_method": "mean", "from": "moments", "of_granularity": "0:01:00", "reaches_back": "7 days, 0:00:00"}, `+
			`{"granularity": "1:00:00", "aggregation_method": "95pct", "from": "raw", "of_granularity": null, "reaches_back": "0:00:00"}], `+
			`"removed_granularities": [], "removed_aggregation_methods": ["max"]}`, admin...)
	s.want(t, "GET /v1/archive_policy/p", "", 200, `~"aggregation_methods": ["mean", "max"]`)
	s.want(t, "GET /v1/rebuild", "", 200, "[]", admin...)

	location := func(request, body, part, want string) {
		t.Helper()
		w := s.want(t, request, body, 200, "~"+part, admin...)
		if want != "" {
			want = "http://example.com/v1/rebuild/" + want
		}
		if got := w.Header().Get("Location"); got != want {
			t.Errorf("%s: Location %q, want %q", request, got, want)
		}
	}
	ofPolicy, ofMetric := model.RebuildOfPolicy("p").String(), model.RebuildOfMetric(uuid.MustParse(metric)).String()
	// archives stay as they are
	location("PATCH /v1/archive_policy/p?rebuild=true", `{"back_window":2}`, `"back_window": 2`, "")
	location("PATCH /v1/archive_policy/p?rebuild=true", hours, `"aggregation_methods": ["mean", "95pct"]`, ofPolicy)
	location("PATCH /v1/archive_policy/p", `{"back_window":1}`, `"back_window": 1`, "")
	s.want(t, "GET /v1/rebuild/"+ofPolicy, "", 200, `{"id": "`+ofPolicy+
		`", "archive_policy_name": "p", "metric_id": null, "state": "running", `+
		`"started_at": "2026-01-02T03:04:05Z", "finished_at": null, "metrics": 0, "changed": 0, "unchanged": 0, "failed": 0, "error": null, "unknown": null}`, admin...)
	location("PATCH /v1/metric/"+metric+"?dry_run=yes", `{"archive_policy_name":"q"}`,
		`"removed_granularities": ["0:01:00"]`, "")
	location("PATCH /v1/metric/"+metric, `{"archive_policy_name":"q"}`, `"archive_policy_name": "q"`, ofMetric)
	s.want(t, "GET /v1/metric/"+metric, "", 200, `~"name": "q"`, admin...)
	s.want(t, "DELETE /v1/rebuild/"+ofMetric, "", 204, "", admin...)
	s.want(t, "DELETE /v1/rebuild/"+ofMetric, "", 204, "", admin...)
	s.want(t, "GET /v1/rebuild/"+ofMetric, "", 200, `~"state": "cancelled"`, admin...)
	s.want(t, "POST /v1/rebuild", `{"metric_id":"`+metric+`"}`, 202, `~"state": "running"`, admin...)
	s.want(t, "PATCH /v1/metric/"+metric, `{"archive_policy_name":"p","after":"7 days"}`, 400,
		"~a rebuild of the metric is running", admin...)
	s.want(t, "DELETE /v1/rebuild/"+ofMetric, "", 204, "", admin...)
	location("PATCH /v1/metric/"+metric, `{"archive_policy_name":"p","after":"7 days"}`, `"archive_policy_name": "q"`, ofMetric)
	s.want(t, "GET /v1/rebuild/"+ofMetric, "", 200, `~"archive_policy_name": "p", "metric_id": "`+metric+
		`", "state": "planned", "started_at": "2026-01-09T03:04:05Z", "finished_at": null`, admin...)
	s.want(t, "DELETE /v1/rebuild/"+ofMetric, "", 204, "", admin...)
	s.want(t, "GET /v1/rebuild/"+ofMetric, "", 200, `~"state": "cancelled"`, admin...)
	for body, want := range map[string]string{
		`{"archive_policy_name":"p","after":"soon"}`:      "~after",
		`{"archive_policy_name":"no-such","after":"7d"}`:  "~no-such",
		`{"after":"7 days"}`:                              "~archive_policy_name",
		`{"type":"gauge","after":"7 days"}`:               "~archive_policy_name",
		`{"archive_policy_name":"p","after":"-1 days"}`:   "~after",
		`{"archive_policy_name":"p","after":"1e9 years"}`: "~after",
		`{"archive_policy_name":"p","after":0}`:           "~after",
	} {
		s.want(t, "PATCH /v1/metric/"+metric, body, 400, want, admin...)
	}
	s.want(t, "POST /v1/rebuild", `{"archive_policy_name":"p"}`, 202, `~"archive_policy_name": "p"`, admin...)
	s.want(t, "GET /v1/rebuild/odd", "", 404, "~Rebuild odd does not exist", admin...)
}
