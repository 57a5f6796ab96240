package api_test

import (
	"strings"
	"testing"
)

func TestArchivePolicies(t *testing.T) {
	s := newServer(t, nil)
	admin := []string{"user", "admin", "Accept", wantsJSON}
	s.want(t, "GET /v1/archive_policy/", "", 200, "[]")
	refuse := func(body string, status int, part string) {
		t.Helper()
		s.want(t, "POST /v1/archive_policy", body, status, "~"+part, admin...)
	}
	refuse(`{"cowsay":"moo"}`, 400,
		`{"cause": "Invalid input", "reason": "extra keys not allowed @ data['cowsay']", "detail": ["cowsay"]}`)
	refuse(`{"name":"medium"}`, 400,
		`"reason": "required key not provided @ data['definition']", "detail": ["definition"]`)
	refuse(`{"name":"medium","definition":[]}`, 400,
		`"length of value must be at least 1 for dictionary value @ data['definition']"`)
	refuse(`{"name":"medium","definition":"foobar"}`, 400,
		`"expected a list for dictionary value @ data['definition']"`)
	refuse(`{"name":"medium","definition":[{"cowsay":"moo"}]}`, 400,
		`"extra keys not allowed @ data['definition'][0]['cowsay']", "detail": ["definition", "0", "cowsay"]`)
	refuse(`{"name":"x","definition":[{"granularity":0,"points":60}]}`, 400,
		`"Timespan must be positive for dictionary value @ data['definition'][0]['granularity']", "detail": ["definition", "0", "granularity"]`)
	refuse(`{"name":"x","definition":[{"granularity":10,"points":0}]}`, 400,
		`"value must be at least 1 for dictionary value @ data['definition'][0]['points']"`)
	refuse(`{"name":"x","definition":[{"granularity":1,"points":60},{"granularity":1}]}`, 400,
		"More than one archive policy uses granularity `1.0'")
	refuse(`{"name":"x","definition":[{"granularity":1,"points":60,"timespan":"0:01:01"}]}`, 400,
		"timespan ≠ granularity × points")
	refuse(`{"name":"x","definition":[{"granularity":1,"timespan":"1 shenanigan"}]}`, 400, "Unable to parse timespan")
	refuse(`{"name":"x","aggregation_methods":["mean","wtf"],"definition":[{"granularity":1}]}`, 400,
		"not a valid value @ data['aggregation_methods'][1]")
	refuse(`{"name":"x","back_window":-1,"definition":[{"granularity":1}]}`, 400, "value must be at least 0")
	refuse(`{"name":"x","definition":[`+strings.Repeat(`{"granularity":1},`, 64)+`{"granularity":1}]}`, 400,
		"length of value must be at most 64 for dictionary value @ data['definition']")
	refuse(`{"name":`, 400, `"cause": "Unable to decode body"`)
	refuse(`{} {}`, 400, `"cause": "Unable to decode body"`)
	s.want(t, "POST /v1/archive_policy", `{}`, 415, "~Unsupported Media Type", "user", "admin",
		"Content-Type", "text/plain")
	s.want(t, "POST /v1/archive_policy", `{}`, 415, "~Unsupported Media Type", "user", "admin", "Content-Type", "")
	s.want(t, "POST /v1/archive_policy", `{"cowsay":"moo"}`, 403, "~Access was denied")

	medium :=
		`{"name": "medium", "back_window": 0, "definition": [{"timespan": "0:00:20", "granularity": "0:00:01", "points": 20}, ` +
			`{"timespan": null, "granularity": "0:00:02", "points": null}], "aggregation_methods": ["mean", "sum", "max", "min", "std", "count"]}`
	w := s.want(t, "POST /v1/archive_policy",
		`{"name":"medium","definition":[{"granularity":"1 second","points":20},{"granularity":"2 second"}]}`,
		201, medium, admin...)
	if location := w.Header().Get("Location"); location != "http://example.com/v1/archive_policy/medium" {
		t.Errorf("Location %q", location)
	}
	refuse(`{"name":"medium","definition":[{"granularity":1}]}`, 409, "Archive policy medium already exists")
	s.want(t, "GET /v1/archive_policy/medium", "", 200, medium)
	s.want(t, "GET /v1/archive_policy", "", 200, "["+medium+"]")

	patch := func(body string, status int, part string) {
		t.Helper()
		s.want(t, "PATCH /v1/archive_policy/medium", body, status, "~"+part, admin...)
	}
	patch(`{"definition":[{"granularity":1,"points":50,"timespan":"1 hour"},{"granularity":2}]}`, 400,
		"timespan ≠ granularity × points")
	patch(`{"definition":[{"granularity":1,"points":50}]}`, 400,
		"Archive policy medium does not support change: Cannot add or drop granularities")
	patch(`{"definition":[{"granularity":5,"points":20},{"granularity":2}]}`, 400,
		"does not support change: 1.0 granularity interval was changed")
	patch(`{}`, 400, "required key not provided @ data['definition']")
	patch(`{"definition":[{"granularity":1,"points":50},{"granularity":2}]}`, 200, `"timespan": "0:00:50"`)
	patch(`{"back_window":3}`, 200, `"back_window": 3`)
	s.want(t, "GET /v1/archive_policy/medium", "", 200, `~"timespan": "0:00:50"`)
	// Gnocchi's own client writes two slashes.
	s.want(t, "PATCH /v1/archive_policy//medium", `{"back_window":2}`, 200, `~"back_window": 2`, admin...)
	s.want(t, "PATCH //v1/archive_policy///medium//", `{"back_window":3}`, 200, `~"back_window": 3`, admin...)
	s.want(t, "GET /gnocchi//v1//archive_policy/medium", "", 200, `~"back_window": 3`)
	s.want(t, "PATCH /v1/archive_policy/medium", `{}`, 403, "~Access was denied")
	s.want(t, "PATCH /v1/archive_policy/other", `{}`, 404, "~Archive policy other does not exist")

	w = s.want(t, "POST /gnocchi/v1/archive_policy",
		`{"name":"✔éñ☃","definition":[{"granularity":"1 minute","points":20}]}`, 201, "~✔éñ☃", admin...)
	if location := w.Header().Get(
		"Location"); location != "http://example.com/gnocchi/v1/archive_policy/%E2%9C%94%C3%A9%C3%B1%E2%98%83" {
		t.Errorf("Location %q", location)
	}
	for _, path := range []string{"%E2%9C%94%C3%A9%C3%B1%E2%98%83", "%e2%9c%94%c3%a9%c3%b1%e2%98%83/"} {
		s.want(t, "GET /v1/archive_policy/"+path, "", 200, "~✔éñ☃")
	}
	s.want(t, "DELETE /v1/archive_policy/medium", "", 403, "~403")
	s.want(t, "DELETE /v1/archive_policy/medium", "", 204, "", admin...)
	s.want(t, "GET /v1/archive_policy/medium", "", 404, "~404")
	s.want(t, "DELETE /v1/archive_policy/grandiose", "", 404, "~Archive policy grandiose does not exist", admin...)

	s.policy(t, "used")
	s.create(t, "/v1/metric", `{"archive_policy_name":"used"}`)
	s.want(t, "DELETE /v1/archive_policy/used", "", 400, "~Archive policy used is still in use", admin...)
}

func TestArchivePolicyRules(t *testing.T) {
	s := newServer(t, nil)
	admin := []string{"user", "admin", "Accept", wantsJSON}
	s.want(t, "GET /v1/archive_policy_rule", "", 200, "[]")
	s.policy(t, "low")
	rule := func(name, pattern string) {
		t.Helper()
		s.create(t, "/v1/archive_policy_rule", `{"name":"`+name+`","metric_pattern":"`+pattern+
			`","archive_policy_name":"low"}`, "user", "admin")
	}
	rule("rule1", "*")
	rule("rule2", "disk.foo.*")
	rule("rule3", "disk.*")
	post := func(body string, status int, part string) {
		t.Helper()
		s.want(t, "POST /v1/archive_policy_rule", body, status, "~"+part, admin...)
	}
	post(`{"name":"x","metric_pattern":"y"}`, 400, "required key not provided @ data['archive_policy_name']")
	post(`{"whaa":"foobar"}`, 400, `"detail": ["whaa"]`)
	post(`{"name":"x","metric_pattern":"y","archive_policy_name":"not-exists"}`, 400,
		`{"cause": "Archive policy does not exist", "detail": "not-exists"}`)
	post(`{"name":"rule1","metric_pattern":"y","archive_policy_name":"low"}`, 409,
		"Archive policy rule rule1 already exists")
	s.want(t, "POST /v1/archive_policy_rule", `{}`, 403, "~403")
	s.want(t, "GET /v1/archive_policy_rule", "", 200,
		`[{"name": "rule2", "metric_pattern": "disk.foo.*", "archive_policy_name": "low"}, `+
			`{"name": "rule3", "metric_pattern": "disk.*", "archive_policy_name": "low"}, {"name": "rule1", "metric_pattern": "*", "archive_policy_name": "low"}]`)
	s.want(t, "DELETE /v1/archive_policy/low", "", 400, "~still in use", admin...)
	s.want(t, "PATCH /v1/archive_policy_rule/rule3", "", 400, "~", admin...)
	s.want(t, "PATCH /v1/archive_policy_rule/rule3", `{"name":"renamed"}`, 403, "~403")
	s.want(t, "PATCH /v1/archive_policy_rule/rule3", `{"name":"renamed"}`, 200, `~"renamed"`, admin...)
	s.want(t, "GET /v1/archive_policy_rule/renamed", "", 200,
		`{"name": "renamed", "metric_pattern": "disk.*", "archive_policy_name": "low"}`)
	s.want(t, "GET /v1/archive_policy_rule/rule3", "", 404, "~Archive policy rule rule3 does not exist")
	s.want(t, "PATCH /v1/archive_policy_rule/rule2", `{"name":"renamed"}`, 400,
		"~Archive policy rule renamed already exists.", admin...)
	s.want(t, "DELETE /v1/archive_policy_rule/rule1", "", 403, "~403")
	s.want(t, "DELETE /v1/archive_policy_rule/rule1", "", 204, "", admin...)
	s.want(t, "DELETE /v1/archive_policy_rule/rule1", "", 404, "~404", admin...)
}
