package api_test

import (
	"strings"
	"testing"
)

// Increase and resets of a counter are exact: over resets, gaps and late measures, wherever the range begins, for one
// metric and several, resampled
// and not.
func TestCounters(t *testing.T) {
	s := newServer(t, nil)
	s.create(t, "/v1/archive_policy", `{"name":"c","back_window":1,"definition":[{"granularity":60},{"granularity":3600}],`+
		`"aggregation_methods":["increase","resets","mean"]}`, "user", "admin")
	ids := s.measured(t, "c", `[{"timestamp":10,"value":5},{"timestamp":70,"value":8},{"timestamp":130,"value":2},`+
		`{"timestamp":150,"value":1},{"timestamp":200,"value":4}]`, `[{"timestamp":20,"value":1},{"timestamp":80,"value":7}]`)
	get := func(query, want string) {
		t.Helper()
		s.want(t, "GET /v1/metric/"+ids[0]+"/measures?"+query, "", 200, want)
	}
	at := func(clock, rest string) string { return `["1970-01-01T` + clock + `+00:00", ` + rest + `]` }
	list := func(rows ...string) string { return "[" + strings.Join(rows, ", ") + "]" }
	get("aggregation=increase&granularity=60",
		list(at("00:00:00", "60.0, 0.0"), at("00:01:00", "60.0, 3.0"), at("00:02:00", "60.0, 3.0"), at("00:03:00", "60.0, 3.0")))
	get("aggregation=resets&granularity=60",
		list(at("00:00:00", "60.0, 0.0"), at("00:01:00", "60.0, 0.0"), at("00:02:00", "60.0, 2.0"), at("00:03:00", "60.0, 0.0")))
	get("aggregation=increase&granularity=60&start=120", list(at("00:02:00", "60.0, 3.0"), at("00:03:00", "60.0, 3.0")))
	get("aggregation=increase&granularity=3600", list(at("00:00:00", "3600.0, 9.0")))
	get("aggregation=increase&granularity=60&resample=120", list(at("00:00:00", "120.0, 3.0"), at("00:02:00", "120.0, 6.0")))
	get("aggregation=increase&granularity=60&resample=120&exact=true&start=120", list(at("00:02:00", "120.0, 6.0")))

	both := "metric=" + ids[0] + "&metric=" + ids[1]
	s.want(t, "GET /v1/aggregation/metric?aggregation=increase&granularity=60&fill=0&"+both, "", 200,
		list(at("00:00:00", "60.0, 0.0"), at("00:01:00", "60.0, 9.0"), at("00:02:00", "60.0, 3.0"), at("00:03:00", "60.0, 3.0")))
	s.want(t, "POST /v1/aggregates?granularity=60&start=60&stop=120",
		operate("(/ (aggregate sum (metric (A increase) (B increase))) 60)", ids), 200,
		`{"measures": {"aggregated": `+list(at("00:01:00", "60.0, 0.15"))+`}}`)

	post := func(body string) {
		t.Helper()
		s.want(t, "POST /v1/metric/"+ids[0]+"/measures", body, 202, "")
		s.want(t, "GET /v1/metric/"+ids[0]+"/measures?refresh=true", "", 200, "~[")
	}
	post(`[{"timestamp":100,"value":9}]`)
	get("aggregation=increase&granularity=60&start=60",
		list(at("00:01:00", "60.0, 4.0"), at("00:02:00", "60.0, 3.0"), at("00:03:00", "60.0, 3.0")))
	post(`[{"timestamp":1209600,"value":10}]`) // a split lies between
	get("aggregation=increase&granularity=60&start=240", `[["1970-01-15T00:00:00+00:00", 60.0, 6.0]]`)

	s.want(t, "GET /v1/capabilities", "", 200, `~"increase", "resets", "sketch", "sum(x*x)", "difference"]`)
	s.want(t, "POST /v1/aggregates", operate("(resample increase 60 (metric A increase))", ids), 400, "~no such aggregation method")
	s.want(t, "POST /v1/archive_policy", `{"name":"d","definition":[{"granularity":60}],"aggregation_methods":["rate:increase"]}`,
		400, "~not a valid value", "user", "admin")
}
