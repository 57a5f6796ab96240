package api_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

func TestBatchResources(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "low")
	s.create(t, "/v1/archive_policy_rule", `{"name":"r","metric_pattern":"disk.*","archive_policy_name":"low"}`, "user",
		"admin")
	s.want(t, "POST /v1/resource/generic", `{"id":"`+aID+`","metrics":{"cpu":{"archive_policy_name":"low"}}}`, 201, "~")
	s.want(t, "POST /v1/resource/generic", `{"id":"web"}`, 201, "~")
	post := func(query, body string, status int, want string, headers ...string) {
		t.Helper()
		s.want(t, "POST /v1/batch/resources/metrics/measures"+query, body, status, want,
			append(headers, "Accept", wantsJSON)...)
	}
	measures := func(value string) string { return `[{"timestamp":"2015-03-06T14:33:57","value":` + value + `}]` }
	read := func(resource, metric, want string) {
		t.Helper()
		s.want(t, "GET /v1/resource/generic/"+resource+"/metric/"+metric+
			"/measures?refresh=true&aggregation=sum", "", 200, want)
	}
	post("", `{}`, 202, "")
	post("", `{"`+aID+`":{}}`, 202, "")
	post("", `[]`, 400, "~expected a dictionary")
	post("", `{"a/b":{"cpu":`+measures("1")+`}}`, 400, "~extra keys not allowed @ data['a/b']")
	post("?create_metrics=perhaps", `{}`, 400, "~create_metrics")
	post("", `{"`+aID+`":{"cpu":`+measures("1")+`}}`, 403, "~403", "user", "other")
	post("", `{"`+aID+`":{"cpu":`+measures("1")+`}}`, 202, "")
	read(aID, "cpu", `[["2015-03-06T14:33:57+00:00", 1.0, 1.0]]`)

	// All or nothing, and what is unknown is named.
	post("", `{"`+aID+`":{"cpu":`+measures("5")+`,"x":`+measures("5")+`},"web":{"y":`+measures("5")+`}}`, 400,
		`~Unknown metrics: `+aID+`/x, ce0c9925-23be-55c8-afeb-ec6621912658/y`)
	read(aID, "cpu", `[["2015-03-06T14:33:57+00:00", 1.0, 1.0]]`)
	post("?create_metrics=true", `{"`+aID+`":{"disk.a":`+measures("5")+`},"gone":{"disk.b":`+measures("5")+`}}`, 400,
		`~{"cause": "Unknown resources", "detail": [{"resource_id": "`)
	post("?create_metrics=true", `{"gone":{"disk.b":`+measures("5")+`}}`, 400, `~"original_resource_id": "gone"}]}`)
	post("?create_metrics=true", `{"`+aID+`":{"disk.a":`+measures("5")+`,"x":`+measures("5")+`}}`, 400,
		"~no archive policy rule found matching the metric name x")
	post("?create_metrics=true", `{"`+aID+`":{"disk.a":{"measures":`+measures("5")+`,"archive_policy_name":"none"}}}`,
		400, "~Archive policy none does not exist")
	post("?create_metrics=true", `{"`+aID+`":{"disk.a":{"measures":`+measures("5")+
		`,"unit":"over_length_unit_over_length_unit"}}}`, 400, "~unit")
	post("?create_metrics=true", `{"`+aID+`":{"disk/a":`+measures("5")+`}}`, 400,
		"~'/' is not supported in metric name")
	post("?create_metrics=true", `{"`+aID+`":{"disk.a":`+measures("5")+`}}`, 403, "~403", "user", "other")
	s.want(t, "GET /v1/resource/generic/"+aID+"/metric/disk.a", "", 404, "~")

	// The same resource by two texts.
	post("?create_metrics=true", `{"`+aID+`":{"disk.a":{"measures":`+measures("5")+`,"unit":"B"}},"`+
		strings.ToUpper(aID)+`":{"disk.a":`+
		`[{"timestamp":"2015-03-06T14:33:58","value":6}],"x":{"measures":[],"archive_policy_name":"low"}}}`, 202, "")
	read(aID, "disk.a", `[["2015-03-06T14:33:57+00:00", 1.0, 5.0], ["2015-03-06T14:33:58+00:00", 1.0, 6.0]]`)
	s.want(t, "GET /v1/resource/generic/"+aID+"/metric/disk.a", "", 200,
		`~"creator": "foobar", "created_by_user_id": "foobar", "created_by_project_id": "", "name": "disk.a", "unit": "B"`)
	s.want(t, "GET /v1/resource/generic/"+aID+"/metric/x", "", 200, `~"name": "x"`)
}

// Many who want the same metrics at the same time get them, once.
func TestBatchResourcesAtTheSameTime(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "low")
	s.want(t, "POST /v1/resource/generic", `{"id":"web"}`, 201, "~")
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			body := fmt.Sprintf(
				`{"web":{"a":{"archive_policy_name":"low","measures":[{"timestamp":0.%d,"value":1}]},"b":{"archive_policy_name":"low","measures":[{"timestamp":0.%d,"value":1}]}}}`, i, i)
			if w := s.call(t, "POST /v1/batch/resources/metrics/measures?create_metrics=true", body); w.Code != 202 {
				t.Errorf("%d: %s", w.Code, w.Body)
			}
		})
	}
	wg.Wait()
	for _, name := range []string{"a", "b"} {
		s.want(t, "GET /v1/resource/generic/web/metric/"+name+"/measures?refresh=true&aggregation=count", "", 200,
			`[["1970-01-01T00:00:00+00:00", 1.0, 4.0]]`)
	}
}
