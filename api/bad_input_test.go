package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/tests/conformance/contract"
)

var rewrite = flag.Bool("rewrite", false, "write the answers into "+badInputFile)

// Each wrong request of the script gets the answer that stands there, names what is wrong, and changes nothing.
func TestBadInput(t *testing.T) {
	script, _ := readBadInput(t)
	b := newBadInputServer(t, script)
	refused := 0
	for _, step := range script {
		if step.setup {
			continue
		}
		before := b.digest(t)
		w := b.call(t, b.fill(step.request), b.fill(step.body),
			append([]string{"user", "admin", "Accept", "application/json"}, step.headers...)...)
		if after := b.digest(t); after != before {
			t.Errorf("%s:%d: %s %s changed what is stored:\n%s\nbefore:\n%s", badInputFile, step.line, step.request,
				step.body, after, before)
		}
		got := b.describe(w)
		if step.names != "" && !strings.Contains(got, strings.ReplaceAll(step.names, `"`, `\"`)) {
			t.Errorf("%s:%d: %s %s: %s\ndoes not name %s", badInputFile, step.line, step.request,
				step.body, got, step.names)
		}
		if w.Code >= http.StatusInternalServerError && w.Code != http.StatusNotImplemented {
			t.Errorf("%s:%d: %s %s: %s", badInputFile, step.line, step.request, step.body, got)
		}
		if w.Code >= http.StatusBadRequest {
			refused++
		}
		if *rewrite {
			step.want = got
		} else if got != step.want {
			t.Errorf("%s:%d: %s %s:\n%s\nwant:\n%s", badInputFile, step.line, step.request, step.body, got, step.want)
		}
	}
	if *rewrite {
		writeBadInput(t, script)
	}
	if refused < 400 {
		t.Errorf("%d requests are refused", refused)
	}
}

// anyText are query parameters for which no text is wrong.
var anyText = map[string][]string{
	"listMetrics /v1/metric": {"name", "unit", "creator", "user_id", "project_id", "archive_policy_name", "labels"},
	"/v1/influxdb/query":     {"q"}, "/v1/influxdb/write": {"db"},
	"/query": {"q"}, "/write": {"db", "u", "p"}, "/api/v2/write": {"bucket"}, "/api/v3/write_lp": {"db"},
	"/v1/resource/{type}": {"attrs"}, "/v1/search/resource/{type}": {"attrs"},
	"/api/v1/query": {"stats"}, "/api/v1/query_range": {"stats"}, "/api/v1/metadata": {"metric"},
	"/api/v1/series_count": {"label"}, "/v1/quotas": {"marker"}, "/api/v1/rules": {"type"},
	"/v1/rules/{name}": {"project"},
}

// Every operation of openapi.yaml has rows: one for each of its query parameters, and one for its body at least.
func TestBadInputIsComplete(t *testing.T) {
	c, err := openAPI()
	check(t, err)
	script, _ := readBadInput(t)
	bodies, parameters := map[contract.Operation]int{}, map[contract.Operation][]string{}
	rows := map[contract.Operation]int{}
	for _, step := range script {
		method, target, _ := strings.Cut(step.request, " ")
		u, err := url.Parse(target)
		check(t, err)
		o, ok := c.Match(method, u)
		if !ok || step.setup {
			continue
		}
		rows[o]++
		if step.body != "" {
			bodies[o]++
		}
		for name := range u.Query() {
			parameters[o] = append(parameters[o], name)
		}
	}
	for _, o := range c.Operations() {
		for _, name := range c.Parameters(o, "query") {
			if !slices.Contains(parameters[o], name) && !slices.Contains(anyText[o.Path], name) &&
				!slices.Contains(anyText["listMetrics "+o.Path], name) {
				t.Errorf("%s: no row about parameter %s of %s %s", badInputFile, name, o.Method, o.Path)
			}
		}
		if len(c.BodyTypes(o)) > 0 && bodies[o] == 0 && o.Path != "/v1/influxdb/query" {
			t.Errorf("%s: no row about the body of %s %s", badInputFile, o.Method, o.Path)
		}
		if len(c.Parameters(o, "path")) > 0 && rows[o] == 0 {
			t.Errorf("%s: no row about %s %s", badInputFile, o.Method, o.Path)
		}
	}
}

// Some input is wrong for every operation: unknown names, names that are no text, and bodies of the wrong type, cut
// off, deep, huge or not UTF-8. The requests are made from openapi.yaml, so a new operation is among them.
func TestBadInputOfAnyOperation(t *testing.T) {
	script, _ := readBadInput(t)
	b := newBadInputServer(t, script)
	c, err := openAPI()
	check(t, err)
	for _, o := range c.Operations() {
		if o.Method == http.MethodHead {
			continue
		}
		before := b.digest(t)
		refuse := func(path, body, contentType string, statuses ...int) {
			t.Helper()
			w := b.call(t, o.Method+" "+path, body, "user", "admin", "Accept", "application/json",
				"Content-Type", contentType)
			if !slices.Contains(statuses, w.Code) {
				t.Errorf("%s %.100s %.100q as %s: %d %.300s, want %v", o.Method, path, body, contentType,
					w.Code, w.Body, statuses)
			}
			if w.Code >= 400 && !json.Valid(w.Body.Bytes()) {
				t.Errorf("%s %.100s %.100q: the refusal is no JSON: %.200q", o.Method, path, body, w.Body)
			}
		}
		kinds := c.BodyTypes(o)
		kind := ""
		if len(kinds) > 0 {
			kind = kinds[0]
		}
		path := b.path(o)
		refuse(path+"?x=%ff", "", kind, 400)
		if len(c.Parameters(o, "path")) > 0 {
			template := regexp.MustCompile(`\{\w+\}`)
			for _, odd := range []string{"%ff", "%00", "%E2%80%AE", strings.Repeat("x", 5000), "..%2f..%2fetc"} {
				statuses := []int{400, 404, 405}
				if len(kinds) > 0 {
					statuses = append(statuses, 415) // the body that is not sent
				}
				if strings.HasPrefix(o.Path, "/api/v1/label/") {
					statuses = append(statuses, 200) // what no series has, has no values
				}
				refuse(template.ReplaceAllLiteralString(o.Path, odd), "", "", statuses...)
			}
		}
		if !strings.HasSuffix(kind, "json") {
			continue
		}
		deep := 120_000
		for _, body := range []string{
			"", "{", "[", `{"`, "nul", "\x00", "\xff\xfe", `{"a" 1}`, "[1,]", "{} {}", `"text"`, "5",
			"true", "null", "1e999",
			`{"name":"` + "\xff" + `"}`, `{"name":"\ud800"}`, strings.Repeat("[", deep), strings.Repeat(`{"a":`, deep),
			strings.Repeat(`{"and":[`, deep),
			strings.Repeat("[", deep) + strings.Repeat("]", deep),
			strings.Repeat(`{"not":`, deep) + "{}" + strings.Repeat("}", deep),
			`["` + strings.Repeat("x", 1<<20) + `"]`, `["` + strings.Repeat("x", 5<<20) + `"]`,
		} {
			statuses, most := []int{400}, 1<<20
			if strings.Contains(o.Path, "/batch/") {
				most = 4 << 20
			}
			switch {
			case len(body) > most && !strings.HasSuffix(o.Path, "/measures") && !strings.HasSuffix(o.Path, "/v1/metrics"):
				statuses = []int{413}
			case strings.Contains(path, "no-such"):
				statuses = []int{400, 404}
			case body == "" && mayBeEmpty(o):
				statuses = []int{200, 400, 415}
			case (body == "{}" || body == "null") && o.Path == "/v1/batch/metrics/measures":
				statuses = []int{202, 400}
			case strings.HasSuffix(o.Path, "/v1/metrics"):
				statuses = []int{200, 400} // a request without metrics, or with unknown fields
			}
			refuse(path, body, kind, statuses...)
		}
		for _, wrong := range []string{"", "text/plain", "application/xml", "odd", "application/jsonx",
			"multipart/form-data; boundary=x"} {
			if !mayBeEmpty(o) {
				refuse(path, "{}", wrong, 415)
			}
		}
		if after := b.digest(t); after != before {
			t.Errorf("%s %s changed what is stored:\n%s\nbefore:\n%s", o.Method, o.Path, after, before)
		}
	}
}

// mayBeEmpty reports whether the filter of an operation may stand in the query instead of the body.
func mayBeEmpty(o contract.Operation) bool {
	return o.Method == http.MethodDelete || strings.HasPrefix(o.Path, "/v1/search/resource/") ||
		strings.HasPrefix(o.Path, "/v1/aggregation/resource/")
}

// badInputServer is a server with the metrics and resources that the script needs.
type badInputServer struct {
	*server
	names map[string]string // IDs by name
}

func newBadInputServer(t *testing.T, script []*badInput) *badInputServer {
	b := &badInputServer{newServer(t, func(o *api.Options) { o.MaxLimit = 1000 }), map[string]string{}}
	for _, step := range script {
		if !step.setup {
			continue
		}
		w := b.call(t, b.fill(step.request), b.fill(step.body), "user", "admin", "Accept", "application/json")
		if w.Code >= 300 {
			t.Fatalf("%s:%d: %d %s", badInputFile, step.line, w.Code, w.Body)
		}
		if step.save != "" {
			var answer struct{ ID string }
			check(t, json.Unmarshal(w.Body.Bytes(), &answer))
			b.names[step.save] = answer.ID
		}
	}
	var cpu struct{ ID string }
	check(t, json.Unmarshal(b.call(t, "GET /v1/resource/host/web/metric/cpu", "", "user", "admin").Body.Bytes(), &cpu))
	b.names["cpu"] = cpu.ID
	b.want(t, "GET /v1/metric/"+b.names["metric"]+"/measures?refresh=true", "", 200, "~2026", "user", "admin")
	b.want(t, "GET /v1/metric/"+b.names["bare"]+"/measures?refresh=true", "", 200, "~2026", "user", "admin")
	return b
}

// fill puts IDs in the place of their names.
func (b *badInputServer) fill(text string) string {
	for name, id := range b.names {
		text = strings.ReplaceAll(text, "$"+name, id)
	}
	return text
}

// describe returns an answer on one line, with names in the place of IDs.
func (b *badInputServer) describe(w *httptest.ResponseRecorder) string {
	var answer struct{ Description, Error, Message json.RawMessage } // Error: of Prometheus' API
	text := fmt.Sprint(w.Code)
	if w.Code >= 400 && json.Unmarshal(w.Body.Bytes(), &answer) == nil {
		text += " " + string(answer.Description) + string(answer.Error)
		if answer.Error == nil { // InfluxDB's have both
			text += string(answer.Message)
		}
	}
	for name, id := range b.names {
		text = strings.ReplaceAll(text, id, "$"+name)
	}
	return strings.ReplaceAll(text, "\n", `\n`)
}

// path returns a path of o's that is about what the script sets up.
func (b *badInputServer) path(o contract.Operation) string {
	path := o.Path
	for _, part := range [][2]string{
		{"/v1/archive_policy/{name}", "/v1/archive_policy/spare"},
		{"/v1/archive_policy_rule/{name}", "/v1/archive_policy_rule/disks"},
		{"/v1/resource_type/{name}", "/v1/resource_type/host"}, {"/v1/metric/{id}", "/v1/metric/" + b.names["metric"]},
		{"/v1/correlations/{id}", "/v1/correlations/" + b.names["job"]},
		{"/v1/rebuild/{id}", "/v1/rebuild/" + b.names["again"]}, {"/v1/boards/{id}", "/v1/boards/" + b.names["board"]},
		{"{project}", "admin"},
		{"{type}", "host"}, {"{id}", "web"}, {"{name}", "cpu"}, {"{file}", "no-such"}, {"{group}", "job/odd"},
	} {
		path = strings.ReplaceAll(path, part[0], part[1])
	}
	switch o.Path {
	case "/v1/search/metric":
		path += "?metric_id=" + b.names["metric"]
	case "/api/v1/query", "/api/v1/format_query", "/api/v1/parse_query", "/api/v1/query_exemplars":
		path += "?query=up"
	case "/api/v1/query_range":
		path += "?query=up&start=1&end=2&step=1"
	case "/api/v1/series", "/api/v1/export", "/federate":
		path += "?match%5B%5D=up"
	}
	return path
}

// digest is all that can be listed.
func (b *badInputServer) digest(t *testing.T) string {
	var all bytes.Buffer
	for _, path := range []string{
		"archive_policy", "archive_policy_rule", "resource_type",
		"resource/generic?details=true&history=true", "metric",
		"rebuild", "boards", "quotas", "status", "metric/$metric/measures?refresh=true", "metric/$bare/measures?refresh=true",
		"resource/host/web/metric/cpu/measures?refresh=true",
	} {
		w := b.call(t, "GET /v1/"+b.fill(path), "", "user", "admin")
		fmt.Fprintf(&all, "%s: %d %s\n", path, w.Code, w.Body)
	}
	return ratesOfUsage.ReplaceAllString(all.String(), "") // each request changes them
}

var ratesOfUsage = regexp.MustCompile(`, "(measures|requests)_per_second": [0-9.]+`)

// Names that are no text do not come in by any way.
func TestNamesAreText(t *testing.T) {
	script, _ := readBadInput(t)
	b := newBadInputServer(t, script)
	before := b.digest(t)
	for _, request := range []struct{ request, body, contentType string }{
		{"POST /v1/batch/resources/metrics/measures?create_metrics=true",
			`{"web": {"net.` + "\xff" + `": [{"timestamp": 1, "value": 1}]}}`, "application/json"},
		{"POST /v1/batch/resources/metrics/measures?create_metrics=true",
			`{"web": {"net.\ud800": [{"timestamp": 1, "value": 1}]}}`, "application/json"},
		{"POST /v1/batch/resources/metrics/measures?create_metrics=true",
			`{"web": {"net": {"unit": "` + "\xff" + `", "measures": []}}}`, "application/json"},
		{"POST /v1/influxdb/write?db=host", "net.x,host=web idle" + "\xff" + "=1 1767268800000000000", "text/plain"},
		{"POST /v1/influxdb/query?q=create+database+%ff", "", "application/x-www-form-urlencoded"},
		{"POST /v1/influxdb/query", "q=create+database+%ff", "application/x-www-form-urlencoded"},
	} {
		w := b.call(t, request.request, request.body, "user", "admin", "Accept", "application/json", "Content-Type",
			request.contentType)
		if w.Code != http.StatusBadRequest && w.Code != http.StatusNotImplemented { // no query that we know
			t.Errorf("%s %q: %d %s", request.request, request.body, w.Code, w.Body)
		}
	}
	if after := b.digest(t); after != before {
		t.Errorf("stored:\n%s\nbefore:\n%s", after, before)
	}
}
