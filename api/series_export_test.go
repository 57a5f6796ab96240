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
	s.refreshAll(t, "jd")
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
		!strings.HasSuffix(lines[1], `"values":["Infinity","NaN"],"timestamps":[1767225660000,1767225690000]}`+"\n") {
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

// Measures of one ms count alike after an export and its import, and NaN and infinities come back.
func TestMeasuresOfAMillisecondComeBack(t *testing.T) {
	s := newServer(t, nil)
	s.want(t, "POST /api/v1/import", `{"metric":{"__name__":"a"},"values":[1,2,3,4,"NaN","-Infinity"],"timestamps":[1000,1000,1000,2000,3000,4000]}`,
		http.StatusNoContent, "", "user", "jd")
	line := func(selector string) string {
		s.refreshAll(t, "jd")
		return s.want(t, "GET /api/v1/export?match[]="+selector+"&start=1&end=4", "", http.StatusOK, "~", "user", "jd").Body.String()
	}
	first := line("a")
	if want := `"values":[1,2,3,4,"NaN","-Infinity"],"timestamps":[1000,1000,1000,2000,3000,4000]}`; !strings.Contains(first, want) {
		t.Errorf("%s lacks %s", first, want)
	}
	s.want(t, "POST /api/v1/import", strings.Replace(first, `"a"`, `"b"`, 1), http.StatusNoContent, "", "user", "jd")
	if again := line("b"); strings.Replace(again, `"b"`, `"a"`, 1) != first {
		t.Errorf("%s comes back as %s", first, again)
	}
	if one := s.want(t, "GET /api/v1/export?match[]=a&start=1&end=1", "", http.StatusOK, "~", "user", "jd").Body.String(); !strings.Contains(one,
		`"values":[1,2,3],"timestamps":[1000,1000,1000]}`) {
		t.Errorf("of one ms: %s", one)
	}
	s.want(t, "GET /api/v1/query?time=2&query=sum_over_time(b[5s])", "", http.StatusOK, `~"10"`, "user", "jd")
	s.want(t, "GET /api/v1/query?time=1&query=b", "", http.StatusOK, `~"3"`, "user", "jd")
}

// Samples of a query are lines for clients that ask for them, and warnings are headers.
func TestQueriesAsLines(t *testing.T) {
	s := newServer(t, nil)
	get := func(path, accept, want string) http.Header {
		t.Helper()
		w := s.want(t, "GET /api/v1/"+path, "", http.StatusOK, want, "user", "jd", "Accept", accept)
		if kind := w.Header().Get("Content-Type"); !strings.HasPrefix(kind, strings.Split(accept, ",")[0]) {
			t.Errorf("%s: Content-Type %s", path, kind)
		}
		return w.Header()
	}
	const vector = `label_replace(vector(1.5),%22a%22,%22x\"y%22,%22%22,%22%22)`
	get("query?time=1.5&query=2", "text/csv", "metric,timestamp,value\n\"{}\",1970-01-01T00:00:01.5Z,2\n")
	get("query_range?start=0&end=60&step=60&query=time()", "application/x-ndjson",
		`{"metric":{},"timestamp":"1970-01-01T00:00:00Z","value":0}`+"\n"+
			`{"metric":{},"timestamp":"1970-01-01T00:01:00Z","value":60}`+"\n")
	get("query?time=0&query="+vector, "text/csv",
		"metric,timestamp,value\n\"{a=\"\"x\\\"\"y\"\"}\",1970-01-01T00:00:00Z,1.5\n")
	get("query?time=0&query=0/vector(0)", "application/x-ndjson",
		`{"metric":{},"timestamp":"1970-01-01T00:00:00Z","value":"NaN"}`+"\n")
	get("query?time=0&query=1", "application/json", "~success")
	if h := get("query?time=0&query=quantile(7,vector(1))", "text/csv", "~+Inf"); !strings.Contains(h.Get("Warning"),
		"quantile value should be between 0 and 1") {
		t.Errorf("Warning: %q", h.Get("Warning"))
	}
}
