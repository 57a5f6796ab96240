package api_test

import "testing"

// Timestamps between two seconds have a fraction in every answer. Whole seconds look as in Gnocchi.
func TestTimestampsBelowASecond(t *testing.T) {
	s := newServer(t, nil)
	s.want(t, "POST /v1/archive_policy", `{"name":"half","aggregation_methods":["mean"],
		"definition":[{"granularity":0.5,"points":100},{"granularity":1e-9,"points":5}]}`, 201,
		`~"granularity": "0:00:00.500000"`, "user", "admin")
	s.want(t, "GET /v1/archive_policy/half", "", 200, `~"granularity": "0:00:00.000000001"`)
	id := s.create(t, "/v1/metric", `{"archive_policy_name":"half"}`)
	s.want(t, "POST /v1/metric/"+id+"/measures", `[{"timestamp":"2026-01-01T00:00:00","value":1},
		{"timestamp":"2026-01-01T00:00:00.7","value":2},{"timestamp":"2026-01-01T00:00:01.2","value":3}]`, 202, "")
	const rows = `[["2026-01-01T00:00:00+00:00", 0.5, 1.0], ["2026-01-01T00:00:00.500000+00:00", 0.5, 2.0], ` +
		`["2026-01-01T00:00:01+00:00", 0.5, 3.0]]`
	s.want(t, "GET /v1/metric/"+id+"/measures?granularity=0.5&refresh=true", "", 200, rows)
	s.want(t, "GET /v1/aggregation/metric?metric="+id+"&aggregation=mean&granularity=0.5", "", 200, rows)
	s.want(t, "POST /v1/aggregates?granularity=0.5", `{"operations":"(metric `+id+` mean)"}`, 200, "~"+rows)
	s.want(t, "POST /v1/search/metric?granularity=0.5&metric_id="+id, `{">":1.5}`, 200,
		`~["2026-01-01T00:00:00.500000+00:00", 0.5, 2.0]`)
	s.want(t, "GET /v1/metric/"+id+"/measures?granularity=1e-9&start=2026-01-01T00:00:01", "", 200,
		`[["2026-01-01T00:00:01.200000+00:00", 1e-09, 3.0]]`)
}
