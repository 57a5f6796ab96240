package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api"
)

// measured creates metrics of a policy with measures, as bodies, and returns their IDs.
func (s *server) measured(t testing.TB, policy string, bodies ...string) []string {
	t.Helper()
	var ids []string
	for _, body := range bodies {
		id := s.create(t, "/v1/metric", `{"archive_policy_name":"`+policy+`"}`)
		s.want(t, "POST /v1/metric/"+id+"/measures", body, 202, "")
		s.want(t, "GET /v1/metric/"+id+"/measures?refresh=true", "", 200, "~[")
		ids = append(ids, id)
	}
	return ids
}

// operate sends operations, in which A, B and C stand for the IDs.
func operate(operations string, ids []string) string {
	for i, id := range ids {
		operations = strings.ReplaceAll(operations, string(rune('A'+i)), id)
	}
	return fmt.Sprintf(`{"operations":%q}`, operations)
}

func TestAggregates(t *testing.T) {
	s := newServer(t, nil)
	s.create(t, "/v1/archive_policy",
		`{"name":"p","definition":[{"granularity":1},{"granularity":60}],"aggregation_methods":["mean","max","rate:mean"]}`, "user", "admin")
	s.policy(t, "other")
	ids := s.measured(t, "p", `[{"timestamp":0,"value":1},{"timestamp":30,"value":3},{"timestamp":60,"value":5}]`,
		`[{"timestamp":30,"value":10},{"timestamp":60,"value":20}]`, `[]`)
	ask := func(query, operations, want string) {
		t.Helper()
		s.want(t, "POST /v1/aggregates"+query, operate(operations, ids), 200, want)
	}
	ask("?granularity=60", "(metric A mean)", `{"measures": {"`+ids[0]+
		`": {"mean": [["1970-01-01T00:00:00+00:00", 60.0, 2.0], ["1970-01-01T00:01:00+00:00", 60.0, 5.0]]}}}`)
	ask("", "(aggregate sum (metric (A mean) (B max)))",
		`{"measures": {"aggregated": [["1970-01-01T00:00:00+00:00", 60.0, 12.0], `+
			`["1970-01-01T00:01:00+00:00", 60.0, 25.0], ["1970-01-01T00:00:00+00:00", 1.0, 1.0], ["1970-01-01T00:00:30+00:00", 1.0, 13.0], ["1970-01-01T00:01:00+00:00", 1.0, 25.0]]}}`)
	ask("?granularity=1&fill=null", "(- (metric A mean) (metric B mean))",
		`{"measures": {"aggregated": [["1970-01-01T00:00:00+00:00", 1.0, NaN], `+
			`["1970-01-01T00:00:30+00:00", 1.0, -7.0], ["1970-01-01T00:01:00+00:00", 1.0, -15.0]]}}`)
	ask("?granularity=1&needed_overlap=50", "(- (metric A mean) (metric B mean))",
		`{"measures": {"aggregated": [["1970-01-01T00:00:30+00:00", 1.0, -7.0], `+
			`["1970-01-01T00:01:00+00:00", 1.0, -15.0]]}}`)
	ask("?granularity=60&start=30&stop=60", "(> (metric (A mean) (A max)) 2)",
		`{"measures": {"`+ids[0]+
			`": {"mean": [["1970-01-01T00:00:00+00:00", 60.0, 0.0]], "max": [["1970-01-01T00:00:00+00:00", 60.0, 1.0]]}}}`)
	ask("", "(metric C mean)", `{"measures": {"`+ids[2]+`": {"mean": []}}}`)
	ask("?granularity=1", "(metric A rate:mean)", `{"measures": {"`+ids[0]+
		`": {"rate:mean": [["1970-01-01T00:00:30+00:00", 1.0, 2.0], ["1970-01-01T00:01:00+00:00", 1.0, 2.0]]}}}`)
	s.want(t, "POST /v1/aggregates", operate("(metric "+strings.ToUpper(ids[2])+" mean)", nil), 200,
		`{"measures": {"`+ids[2]+`": {"mean": []}}}`)
	s.want(t, "POST /v1/aggregates?details=true", operate("(metric (C mean) (C max))", ids), 200,
		`~"references": [{"id": "`+ids[2]+`"`)
	s.create(t, "/v1/resource/generic", `{"id":"`+strings.Repeat("1", 8)+
		`-1111-1111-1111-111111111111","metrics":{"m":"`+ids[2]+`"}}`)
	s.want(t, "POST /v1/aggregates?details=true", operate("(metric C mean)", ids), 200,
		`~"resource": {"id": "11111111-1111-1111-1111-111111111111"`)
	// The references' resources have all of their metrics, not only those that are read.
	s.create(t, "/v1/resource/generic", `{"id":"`+strings.Repeat("2", 8)+
		`-2222-2222-2222-222222222222","metrics":{"read":"`+ids[0]+`","other":"`+ids[1]+`"}}`)
	s.want(t, "POST /v1/aggregates?details=true",
		`{"operations":"(metric read mean)","resource_type":"generic","search":{}}`, 200,
		`~"metrics": {"other": "`+ids[1]+`", "read": "`+ids[0]+`"}`)

	refuse := func(query, body string, status int, part string) {
		t.Helper()
		s.want(t, "POST /v1/aggregates"+query, body, status, "~"+part, "Accept", wantsJSON)
	}
	other := s.create(t, "/v1/metric", `{"archive_policy_name":"other"}`)
	foreign := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`, "user", "jd")
	refuse("", `{}`, 400, `"detail": ["operations"]`)
	refuse("", `[]`, 400, "expected a dictionary")
	refuse("", `{"operations":"(metric a mean)","x":1}`, 400, "extra keys not allowed")
	refuse("", `{"operations":"(metric a mean)","search":{}}`, 400, "resource_type")
	refuse("", `{"operations":"(metric a mean)","resource_type":"generic"}`, 400, "search")
	refuse("", `{"operations":"(metric a mean)","resource_type":"none","search":{}}`, 400, "none")
	refuse("", `{"operations":"(metric a mean)","resource_type":"generic","search":{"=":{"x":1}}}`, 400, "x")
	refuse("", `{"operations":"(metric a mean)","resource_type":"generic","search":"x ="}`, 400, "")
	refuse("", operate("(metric A mean", ids), 400,
		`{"cause": "Invalid operations", "reason": "Fail to parse the operations string"`)
	refuse("", operate("(rolling mean x (metric A mean))", ids), 400,
		`"reason": "'rolling' operation invalid for dictionary value @ data['operations']: the window has to be a whole number of at least 1, got 'x'", "detail": ["operations"]`)
	refuse("", operate("(+ 1 2)", ids), 400,
		`{"cause": "Operations is invalid", "reason": "At least one 'metric' is required", "detail": "(+ 1 2)"}`)
	refuse("", operate("(metric x mean)", ids), 400,
		`{"cause": "Invalid metric references", "reason": "badly formed hexadecimal UUID string", "detail": [["x", "mean"]]}`)
	refuse("", operate("(metric 4b9b2a2a-3c22-4d1d-8d1a-5d4f9d2b6c11 mean)", ids), 404,
		`"detail": ["4b9b2a2a-3c22-4d1d-8d1a-5d4f9d2b6c11"]`)
	refuse("", operate("(metric A last)", ids), 404, `{"cause": "Metrics with unknown aggregation", "detail": [["`+
		ids[0]+`", "last"]]}`)
	refuse("?granularity=5", operate("(metric A mean)", ids), 400,
		`{"cause": "Metrics cannot be aggregated", "reason": "Granularities are missing", "detail": [["`+ids[0]+
			`", "mean", 5.0]]}`)
	refuse("?granularity=60", operate("(metric (A mean) ("+other+" mean))", ids), 400, "Granularities are missing")
	refuse("?needed_overlap=100", operate("(metric (A mean) (C mean))", ids), 400,
		`"reason": "No overlap", "detail": [["`+ids[0]+`", "mean"], ["`+ids[2]+`", "mean"]]`)
	refuse("?granularity=60", operate("(rolling mean 5 (metric A mean))", ids), 400,
		"Rolling window '5' is greater than serie length '2'")
	refuse("", operate("(metric "+foreign+" mean)", nil), 403, "")
	refuse("?details=perhaps", operate("(metric A mean)", ids), 400, "details")
	for _, name := range []string{"start", "stop", "granularity", "needed_overlap", "fill"} {
		refuse("?"+name+"=foobar", "", 400, `"detail": "`+name+`"`)
	}
	s.want(t, "POST /v1/aggregates", operate("(metric A mean)", ids), 415, "~415", "Content-Type", "text/plain")
	s.want(t, "POST /v1/aggregates", operate("(metric A mean)", ids), 401, "~401", "Authorization", "")
}

func TestAggregatesOfResources(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "p")
	for i, project := range []string{"a", "b", "a"} {
		path := "/v1/resource/generic"
		s.create(t, path,
			fmt.Sprintf(
				`{"id":"r%d","project_id":%q,"metrics":{"cpu.util":{"archive_policy_name":"p"},"only%d":{"archive_policy_name":"p"}}}`, i, project, i))
		measures := fmt.Sprintf("%s/r%d/metric/cpu.util/measures", path, i)
		s.want(t, "POST "+measures, fmt.Sprintf(`[{"timestamp":60,"value":%d}]`, i+1), 202, "")
		s.want(t, "GET "+measures+"?refresh=true", "", 200, "~[[")
	}
	ask := func(query, operations, search string, status int, want string) {
		t.Helper()
		s.want(t, "POST /v1/aggregates"+query,
			fmt.Sprintf(`{"resource_type":"generic","search":%s,"operations":%q}`, search, operations), status, want)
	}
	at := `"1970-01-01T00:01:00+00:00", 1.0, `
	ask("", "(aggregate sum (metric cpu.* mean))", `{}`, 200, `{"measures": {"aggregated": [[`+at+`6.0]]}}`)
	ask("", "(aggregate sum (metric cpu.* mean))", `"project_id = 'a'"`, 200,
		`{"measures": {"aggregated": [[`+at+`4.0]]}}`)
	for query, want := range map[string]string{
		"":              `{"measures": {"aggregated": [[` + at + `6.0]]}}`,
		"?details=true": `~{"measures": {"aggregated": [[` + at + `6.0]]}, "references": [{`,
	} {
		ask(query, "(aggregate sum (metric cpu.util mean))", `{}`, 200, want)
	}
	ask("", "(aggregate sum (metric cpu.util mean))", `{"=":{"project_id":"a"}}`, 200,
		`{"measures": {"aggregated": [[`+at+`4.0]]}}`)
	ask("", "(aggregate sum (metric cpu.util mean))", `{"=":{"project_id":"none"}}`, 404, "~Metric [")
	ask("?exact=true", "(aggregate mean (metric cpu.util mean))", `{}`, 200,
		`{"measures": {"aggregated": [[`+at+`2.0]]}}`)
	ask("", "(aggregate sum (metric cpu.util 1pct))", `{}`, 404, "~Metrics with unknown aggregation")
	ask("?groupby=project_id", "(aggregate mean (metric cpu.util mean))", `{}`, 200,
		`[{"group": {"project_id": "a"}, "measures": {"measures": {"aggregated": [[`+at+
			`2.0]]}}}, {"group": {"project_id": "b"}, "measures": {"measures": {"aggregated": [[`+at+`2.0]]}}}]`)
	ask("?groupby=project_id", "(aggregate mean (metric only1 mean))", `{}`, 200,
		`[{"group": {"project_id": "b"}, "measures": {"measures": {"aggregated": []}}}]`)
	ask("", "(metric only1 mean)", `{"=":{"id":"r1"}}`, 200, "~{\"only1\": {\"mean\": []}}}}")
	ask("", "(metric (x* mean) (y mean))", `{}`, 404, "~Metric [")
	ask("?groupby=project_id", "(metric x mean)", `{}`, 404, "~Metric [")
	ask("?groupby=", "(aggregate mean (metric only1 mean))", `{}`, 200, `{"measures": {"aggregated": []}}`)
	ask("?groupby=unit", "(metric x mean)", `{}`, 400, "~Sort key supplied is invalid: unit")
	ask("?groupby=project_id&use_history=true", "(metric cpu.util mean)", `{}`, 400, "~use_history")

	// Groups are read together only where they have the same granularities.
	s.create(t, "/v1/archive_policy", `{"name":"minutes","definition":[{"granularity":"60s"}]}`, "user", "admin")
	for project, policy := range map[string]string{"k": "p", "l": "minutes", "m": "p"} {
		s.create(t, "/v1/resource/generic",
			fmt.Sprintf(`{"id":%q,"project_id":%q,"metrics":{"memory":{"archive_policy_name":%q}}}`,
				project, project, policy))
		measures := "/v1/resource/generic/" + project + "/metric/memory/measures"
		s.want(t, "POST "+measures, fmt.Sprintf(`[{"timestamp":60,"value":%d}]`, project[0]), 202, "")
		s.want(t, "GET "+measures+"?refresh=true", "", 200, "~[[")
	}
	ask("", "(aggregate mean (metric memory mean))", `{}`, 400,
		`~"detail": [["memory", "mean"], ["memory", "mean"], ["memory", "mean"]]`)
	group := func(project, granularity, value string) string {
		return `{"group": {"project_id": "` + project +
			`"}, "measures": {"measures": {"aggregated": [["1970-01-01T00:01:00+00:00", ` + granularity +
			`, ` + value + `]]}}}`
	}
	ask("?groupby=project_id", "(aggregate mean (metric memory mean))", `{}`, 200,
		"["+group("k", "1.0", "107.0")+", "+group("l", "60.0", "108.0")+", "+group("m", "1.0", "109.0")+"]")
	ask("?groupby=project_id&granularity=60", "(aggregate mean (metric memory mean))", `{}`, 400,
		"~Granularities are missing")
	ask("?groupby=project_id&exact=true", "(aggregate mean (metric memory mean))", `{}`, 200,
		"["+group("k", "1.0", "107.0")+", "+group("l", "60.0", "108.0")+", "+group("m", "1.0", "109.0")+"]")

	aggregation := "POST /v1/aggregation/resource/generic/metric/cpu.util"
	s.want(t, aggregation+"?aggregation=mean&reaggregation=max", "", 200, `[[`+at+`3.0]]`)
	s.want(t, aggregation+"?groupby=project_id", `{"=":{"project_id":"b"}}`, 200,
		`[{"group": {"project_id": "b"}, "measures": [[`+at+`2.0]]}]`)
	s.want(t, aggregation+"?filter=project_id+%3D+'a'&refresh=true", "", 200, `[[`+at+`2.0]]`)
	s.want(t, aggregation+"?groupby=unit", "", 400, "~Invalid groupby attribute")
	s.want(t, "POST /v1/aggregation/resource/generic/metric/none", "", 200, `[]`)
	s.want(t, "POST /v1/aggregation/resource/none/metric/cpu.util", "", 404, "~none")
	s.want(t, "POST /v1/aggregation/resource/generic/metric", "", 405, "~405")
}

// A resource counts for a group only while it was in it, and a period that it was in it for half counts by half.
func TestAggregatesUseHistory(t *testing.T) {
	now := int64(1000)
	s := newServer(t, func(o *api.Options) { o.SetNow(clock(&now)) })
	s.create(t, "/v1/archive_policy", `{"name":"p","definition":[{"granularity":100}]}`, "user", "admin")
	s.create(t, "/v1/resource/generic", `{"id":"r","project_id":"a","metrics":{"m":{"archive_policy_name":"p"}}}`)
	s.create(t, "/v1/resource/generic", `{"id":"q","project_id":"b","metrics":{"m":{"archive_policy_name":"p"}}}`)
	for _, id := range []string{"r", "q"} {
		s.want(t, "POST /v1/resource/generic/"+id+"/metric/m/measures",
			`[{"timestamp":1000,"value":8},{"timestamp":1100,"value":8},{"timestamp":1200,"value":8}]`, 202, "")
	}
	now = 1125
	s.want(t, "PATCH /v1/resource/generic/r", `{"project_id":"b"}`, 200, "~")
	now = 1250
	s.want(t, "PATCH /v1/resource/generic/r", `{"project_id":"a"}`, 200, "~")
	s.want(t, "POST /v1/aggregation/resource/generic/metric/m?refresh=true", "", 200, "~[[")
	row := func(minute string, value string) string {
		return `["1970-01-01T00:` + minute + `+00:00", 100.0, ` + value + `]`
	}
	s.want(t, "POST /v1/aggregates?groupby=project_id&use_history=true",
		`{"resource_type":"generic","search":{},"operations":"(aggregate mean (metric m mean))"}`, 200,
		`[{"group": {"project_id": "a"}, "measures": {"measures": {"aggregated": [`+row("16:40", "8.0")+", "+
			row("18:20", "2.0")+", "+row("20:00", "4.0")+`]}}}, `+
			`{"group": {"project_id": "b"}, "measures": {"measures": {"aggregated": [`+row("16:40", "8.0")+", "+
			row("18:20", "14.0")+", "+row("20:00", "12.0")+`]}}}]`)
	s.want(t, "POST /v1/aggregates?groupby=project_id&use_history=true&start=1150",
		`{"resource_type":"generic","search":"id = 'r'","operations":"(aggregate mean (metric m mean))"}`, 200,
		`[{"group": {"project_id": "a"}, "measures": {"measures": {"aggregated": [`+row("20:00", "4.0")+`]}}}, `+
			`{"group": {"project_id": "b"}, "measures": {"measures": {"aggregated": [`+row("18:20", "4.0")+", "+
			row("20:00", "4.0")+`]}}}]`)
	s.want(t, "POST /v1/aggregates?groupby=project_id&use_history=true&start=1150&stop=1250",
		`{"resource_type":"generic","search":"id = 'r'","operations":"(aggregate mean (metric m mean))"}`, 200,
		`[{"group": {"project_id": "b"}, "measures": {"measures": {"aggregated": [`+row("18:20", "4.0")+", "+
			row("20:00", "4.0")+`]}}}]`)
}
