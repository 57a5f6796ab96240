package contract_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco"
	"github.com/gnocco-db/gnocco/tests/conformance/contract"
)

// Check reports an exchange that breaks the contract, and only that.
func TestCheck(t *testing.T) {
	c, err := contract.New(gnocco.OpenAPI, "/gnocchi")
	if err != nil {
		t.Fatal(err)
	}
	const policy = `{"name": "low", "back_window": 0, "definition": [], "aggregation_methods": ["mean"]}`
	const rows = "/v1/metric/5a301761-0000-46e2-8900-8b4f6fe6675a/measures"
	for _, test := range []struct {
		request, body string
		status        int
		answer, want  string // want: part of the fault, "" for none
	}{
		{"GET /v1/archive_policy", "", 200, "[" + policy + "]", ""},
		{"GET /gnocchi//v1/archive_policy/", "", 200, "[" + policy + "]", ""},
		{"GET /v1/archive_policy/low", "", 200, policy, ""},
		{"GET /v1/archive_policy/low", "", 200, `{"name": "low"}`, "missing properties"},
		{"GET /v1/archive_policy/low", "", 200, strings.Replace(policy, "0", `"0"`, 1), "want integer"},
		{"GET /v1/archive_policy/low", "", 200, policy + "]", "something follows"},
		{"GET /v1/archive_policy/low", "", 418, `{"code": 418, "title": "", "description": ""}`,
			"status 418 is not described"},
		{"GET /v1/archive_policy/low", "", 404, `{"code": 404, "title": "Not Found", "description": "no"}`, ""},
		{"GET /v1/archive_policy/low", "", 404, `"no"`, "want object"},
		{"DELETE /v1/archive_policy/low", "", 204, "", ""},
		{"DELETE /v1/archive_policy/low", "", 204, "{}", "is not described"},
		{"GET /v1/odd", "", 404, `{"code": 404, "title": "Not Found", "description": ""}`, ""},
		{"GET /v1/odd", "", 200, `{}`, "of what is not described"},
		{"GET " + rows, "", 200,
			`[["2026-01-01T00:00:00+00:00", 60.0, NaN], ["2026-01-01T00:01:00+00:00", 60.0, -Infinity]]`, ""},
		{"GET " + rows, "", 200, `[["2026-01-01T00:00:00+00:00", 60.0]]`, "minItems"},
		{"POST " + rows, `[{"timestamp": 1, "value": NaN}]`, 202, "", ""},
		{"POST " + rows, `[{"timestamp": 1}]`, 202, "", "the accepted request"},
		{"POST " + rows, `[{"timestamp": 1}]`, 400,
			`{"code": 400, "title": "Bad Request", "description": {"cause": "\"NaN", "detail": []}}`, ""},
		{"POST /v1/archive_policy", `{"name": "low", "definition": [{"granularity": "1s"}]}`, 201, policy,
			"Location is missing"},
		{"OPTIONS /v1/odd", "", 200, "", ""},
	} {
		method, target, _ := strings.Cut(test.request, " ")
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		json := http.Header{"Content-Type": {"application/json"}}
		err = c.Check(&contract.Exchange{Method: method, URL: u, Request: json, Body: []byte(test.body),
			Status: test.status, Answer: json, Result: []byte(test.answer)})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %s: %d %s: %v, want %q", test.request, test.body, test.status, test.answer, err, test.want)
		}
	}
}
