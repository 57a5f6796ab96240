package api_test

import (
	"strings"
	"testing"
)

func TestSearchValues(t *testing.T) {
	s := newServer(t, nil)
	s.create(t, "/v1/archive_policy",
		`{"name":"two","definition":[{"granularity":"1 second"},{"granularity":"1 minute"}]}`, "user", "admin")
	id := s.create(t, "/v1/metric", `{"archive_policy_name":"two"}`)
	empty := s.create(t, "/v1/metric", `{"archive_policy_name":"two"}`)
	s.want(t, "POST /v1/metric/"+id+"/measures",
		`[{"timestamp":60,"value":-3},{"timestamp":61,"value":0},{"timestamp":62,"value":4},{"timestamp":63,"value":"nan"}]`, 202, "")
	s.want(t, "GET /v1/metric/"+id+"/measures?refresh=true", "", 200, "~")

	// Which of the values of a second a predicate lets through.
	f := func(predicate, want string) {
		t.Helper()
		var rows []string
		for i, value := range []string{"-3.0", "0.0", "4.0", "NaN"} {
			if strings.Contains(want, string("abcd"[i])) {
				rows = append(rows, `["1970-01-01T00:01:0`+string("0123"[i])+`+00:00", 1.0, `+value+`]`)
			}
		}
		s.want(t, "POST /v1/search/metric?granularity=1s&metric_id="+id, predicate, 200,
			`{"`+id+`": [`+strings.Join(rows, ", ")+`]}`)
	}
	f(`{"=": 4}`, "c")
	f(`{"≠": 4}`, "abd") // NaN differs from everything
	f(`{"<": 0.5}`, "ab")
	f(`{"ge": 0}`, "bc")
	f(`{"and": [{">": -4}, {"<": 4}]}`, "ab")
	f(`{"∨": [{"=": -3}, {"=": 4}]}`, "ac")
	f(`{"and": []}`, "abcd")
	f(`{"or": []}`, "")
	f(`{"=": [{"%": 4}, 1]}`, "a") // the remainder has the sign of the divisor
	f(`{"%": 4}`, "ad")            // any value but zero holds, also NaN
	f(`{">": [{"*": 2}, {"+": 3}]}`, "c")
	f(`{"=": [{"^": [{"-": 1}, 2]}, 9]}`, "c")
	f(`{"=": [9, 9]}`, "abcd")
	f(`{">": [{"÷": 0}, 1e300]}`, "c")
	f(`{"=": true}`, "")

	s.want(t, "POST /v1/search/metric?metric_id="+id+"&metric_id="+id+"&metric_id="+empty+
		"&metric_id=6f1a4f8e-3b0a-4c5e-9b43-6b8c1a2f6a01&stop=62&aggregation=max",
		`{">": -1}`, 200, `{"`+id+`": [["1970-01-01T00:01:01+00:00", 1.0, 0.0]], "`+empty+`": []}`)
	s.want(t, "POST /v1/search/metric?granularity=60&granularity=1&granularity=60&aggregation=count&metric_id="+
		id, `{">": 1}`, 200,
		`{"`+id+`": [["1970-01-01T00:01:00+00:00", 60.0, 4.0]]}`)

	fault := func(query, body, want string) {
		t.Helper()
		s.want(t, "POST /v1/search/metric?"+query, body, 400, "~"+want, "Accept", "application/json")
	}
	metric := "metric_id=" + id
	fault("", `{"=": 1}`, `"detail": "metric_id"`)
	fault("metric_id=x", `{"=": 1}`, `Must be a UUID`)
	fault(metric, ``, "No query specified in body")
	fault(metric, `[]`, "expected a dictionary")
	fault(metric, `{}`, "length of value must be at least 1")
	fault(metric, `{"=": 1, "<": 2}`, "length of value must be at most 1")
	fault(metric, `{"~": 1}`, "extra keys not allowed @ data['~']")
	fault(metric, `{"=": "1"}`, "expected float for dictionary value @ data['=']")
	fault(metric, `{"=": [1]}`, "length of value must be 2")
	fault(metric, `{"=": [1, "x"]}`, "expected float @ data['='][1]")
	fault(metric, `{"=": [1, {"and": []}]}`, "extra keys not allowed")
	fault(metric, `{"and": {"=": 1}}`, "expected a list for dictionary value @ data['and']")
	fault(metric, `{"not": [{"=": 1}]}`, "Unknown operator not")
	fault(metric, `{"=": 1e999}`, "expected float")
	fault(metric, strings.Repeat(`{"and":[`, 300)+`{"=":1}`+strings.Repeat(`]}`, 300), "nested too deep")
	fault(metric+"&start=x", `{"=": 1}`, "Invalid value for start")
	fault(metric+"&stop=x", `{"=": 1}`, "Invalid value for stop")
	fault(metric+"&granularity=x", `{"=": 1}`, "Unable to parse timespan")
	fault(metric+"&granularity=1&granularity=300", `{"=": 1}`,
		`"cause": "Aggregation does not exist", "detail": {"granularity": 300.0, "aggregation_method": "mean"}`)
	fault(metric+"&aggregation=99pct", `{"=": 1}`, `"aggregation_method": "99pct"`)
	fault(metric+"&aggregation=x", `{"=": 1}`, `"aggregation_method": "x"`)
	s.want(t, "POST /v1/search/metric?"+metric, `{"=": 1}`, 403, "~", "user", "jd")
	s.want(t, "POST /v1/search/metric?"+metric, `{"=": 1}`, 415, "~", "Content-Type", "")
}
