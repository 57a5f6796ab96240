package api_test

import "testing"

// The command in docs/reference/promql.md adds std and first to the policy of pushed series that an earlier version
// created.
func TestMethodsAreAddedToThePolicyOfSeries(t *testing.T) {
	s := newServer(t, nil)
	s.want(t, "POST /v1/archive_policy", `{"name":"prometheus","back_window":2,
		"aggregation_methods":["mean","min","max","sum","count","last","95pct"],
		"definition":[{"granularity":10,"timespan":86400},{"granularity":60,"timespan":2678400},
			{"granularity":3600,"timespan":63072000}]}`, 201, "~", "user", "admin")
	s.want(t, "PATCH /v1/archive_policy/prometheus?rebuild=true",
		`{"aggregation_methods":["mean","min","max","sum","count","std","first","last","95pct"]}`, 200,
		`~"std"`, "user", "admin")
	id := s.create(t, "/v1/metric", `{"archive_policy_name":"prometheus"}`)
	s.want(t, "POST /v1/metric/"+id+"/measures", `[{"timestamp":"2026-01-01T00:00:00","value":1},
		{"timestamp":"2026-01-01T00:00:05","value":3}]`, 202, "")
	s.want(t, "GET /v1/metric/"+id+"/measures?aggregation=first&granularity=10&refresh=true", "", 200,
		`[["2026-01-01T00:00:00+00:00", 10.0, 1.0]]`)
	s.want(t, "GET /v1/metric/"+id+"/measures?aggregation=std&granularity=10", "", 200,
		`[["2026-01-01T00:00:00+00:00", 10.0, 1.4142135623730951]]`)
}
