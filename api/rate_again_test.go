package api_test

import "testing"

// Rates that are aggregated once more, across metrics or over time, are as docs/reference/compatibility.md says.
func TestRatesAggregatedAgain(t *testing.T) {
	s := newServer(t, nil)
	s.want(t, "POST /v1/archive_policy", `{"name":"rates","aggregation_methods":["rate:mean","rate:max"],
		"definition":[{"granularity":60,"points":100}]}`, 201, "~", "user", "admin")
	counter := func(name, values string) string {
		id := s.create(t, "/v1/metric", `{"name":"`+name+`","archive_policy_name":"rates"}`)
		s.want(t, "POST /v1/metric/"+id+"/measures", values, 202, "")
		return id
	}
	a := counter("a", `[{"timestamp":"2026-01-01T00:00:00","value":0},{"timestamp":"2026-01-01T00:01:00","value":1000},
		{"timestamp":"2026-01-01T00:02:00","value":2000}]`)
	b := counter("b", `[{"timestamp":"2026-01-01T00:00:00","value":0},{"timestamp":"2026-01-01T00:01:00","value":10},
		{"timestamp":"2026-01-01T00:02:00","value":20}]`)
	both := "GET /v1/aggregation/metric?metric=" + a + "&metric=" + b + "&aggregation=rate:mean&refresh=true"
	s.want(t, both, "", 200, `[["2026-01-01T00:02:00+00:00", 60.0, 0.0]]`)
	s.want(t, both+"&reaggregation=mean", "", 200,
		`[["2026-01-01T00:01:00+00:00", 60.0, 505.0], ["2026-01-01T00:02:00+00:00", 60.0, 505.0]]`)

	// Rates of 1, 3, 10, 3 and 100 a minute.
	c := counter("c", `[{"timestamp":"2026-01-01T00:00:00","value":0},{"timestamp":"2026-01-01T00:01:00","value":1},
		{"timestamp":"2026-01-01T00:02:00","value":4},{"timestamp":"2026-01-01T00:03:00","value":14},
		{"timestamp":"2026-01-01T00:04:00","value":17},{"timestamp":"2026-01-01T00:05:00","value":117}]`)
	wider := "GET /v1/metric/" + c + "/measures?aggregation=rate:max&granularity=60&resample=300&refresh=true"
	s.want(t, wider, "", 200, `[["2026-01-01T00:00:00+00:00", 300.0, 7.0], ["2026-01-01T00:05:00+00:00", 300.0, 97.0]]`)
	s.want(t, "GET /v1/metric/"+c+"/measures?aggregation=rate:max&granularity=60&resample=300&exact=true", "", 200,
		`[["2026-01-01T00:00:00+00:00", 300.0, 10.0], ["2026-01-01T00:05:00+00:00", 300.0, 100.0]]`)
}
