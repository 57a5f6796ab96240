package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// Series come out with the times of their samples: the latest one as text, and all of them as JSON lines. Users get
// what they may read.
func TestFederateAndExport(t *testing.T) {
	s := newServer(t, nil)
	s.create(t, "/v1/archive_policy", `{"name":"p","back_window":0,"definition":[{"granularity":60}],`+
		`"aggregation_methods":["mean"]}`, "user", "admin")
	s.create(t, "/v1/resource/generic", `{"id":"a \"b\"","metrics":{"cpu":{"archive_policy_name":"p"},`+
		`"mem":{"archive_policy_name":"p"}}}`, "user", "jd")
	post := func(name, body string) {
		t.Helper()
		s.want(t, "POST /v1/resource/generic/a%20%22b%22/metric/"+name+"/measures", body, http.StatusAccepted, "", "user", "jd")
	}
	post("cpu", `[{"timestamp":"2026-01-02T03:01:10","value":1},{"timestamp":"2026-01-02T03:02:20","value":2.5}]`)
	post("mem", `[{"timestamp":"2026-01-01T00:00:00","value":"inf"},{"timestamp":"2026-01-01T00:01:30","value":"nan"}]`)
	get := func(path, user string) string {
		t.Helper()
		return s.want(t, "GET "+path, "", http.StatusOK, "~", "user", user).Body.String()
	}
	// The series mem has ended.
	const all = "?match[]=%7B__name__=~%22cpu|mem%22%7D"
	text := get("/federate"+all, "jd")
	if !strings.HasPrefix(text, "# TYPE cpu untyped\ncpu{resource_id=") || !strings.HasSuffix(text, "} 2.5 1767322940000\n") ||
		strings.Contains(text, "mem") {
		t.Errorf("federated: %s", text)
	}
	lines := strings.SplitAfter(get("/api/v1/export"+all, "jd"), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], `{"metric":{"__name__":"cpu"`) ||
		!strings.HasSuffix(lines[0], `"values":[1,2.5],"timestamps":[1767322920000,1767322940000]}`+"\n") ||
		!strings.HasSuffix(lines[1], `"values":["Infinity",null],"timestamps":[1767225660000,1767225690000]}`+"\n") {
		t.Errorf("exported: %q", lines)
	}
	if text := get("/api/v1/export"+all+"&start=2026-01-02T03:02:20Z&end=2026-01-02T03:02:20Z", "jd"); strings.Count(text,
		"\n") != 1 || !strings.Contains(text, `"values":[2.5]`) {
		t.Errorf("one moment: %s", text)
	}
	if text := get("/api/v1/export"+all, "other") + get("/federate"+all, "other"); text != "" {
		t.Errorf("another user gets %s", text)
	}
}
