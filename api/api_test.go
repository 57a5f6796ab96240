package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/internal/version"
)

const wantsJSON = "application/json"

func TestVersionsAndLinks(t *testing.T) {
	s := newServer(t, nil)
	s.want(t, "GET /", "", 200, `~"href": "http://example.com/v1/"`, "Authorization", "")
	s.want(t, "GET /gnocchi/", "", 200, `~"href": "http://example.com/gnocchi/v1/"`)
	s.want(t, "GET /gnocchi/", "", 200, `~"href": "http://foobar/gnocchi/v1/"`, "Forwarded",
		"for=192.0.2.60;proto=http;host=foobar")
	s.want(t, "GET /", "", 200, `~"href": "https://outer/x/v1/"`,
		"X-Forwarded-Proto", "https", "X-Forwarded-Host", "outer", "X-Forwarded-Prefix", "/x")
	w := s.want(t, "GET /gnocchi/v1", "", 302, "")
	if location := w.Header().Get("Location"); location != "http://example.com/gnocchi/v1/" {
		t.Errorf("Location %q", location)
	}
	s.want(t, "GET /v1/", "", 200, `~{"rel": "metric", "href": "http://example.com/v1/metric"}`, "Authorization", "")
	s.want(t, "GET /v1/capabilities", "", 200, `~"rate:99pct", "increase", "resets", "sketch", "sum(x*x)", "difference"]}`, "Authorization", "")
	s.want(t, "GET /healthcheck", "", 200, "", "Authorization", "")
	s.want(t, "HEAD /healthcheck", "", 204, "")
	s.want(t, "GET /metrics", "", 200,
		`~gnocco_http_requests_total{code="200",method="GET",route="/v1/capabilities"} 1`)
	s.want(t, "GET /debug/pprof/", "", 404, "~404 Not Found")
}

// Ceilometer compares the build with 4.2.0 as Python's LooseVersion does: part by part, where parts between dots must
// be numbers, as a number cannot be compared with a word.
func TestBuildIsAVersionOfGnocchi(t *testing.T) {
	s := newServer(t, nil)
	var answer struct{ Build string }
	check(t, json.Unmarshal(s.call(t, "GET /", "").Body.Bytes(), &answer))
	gnocchi, own, ok := strings.Cut(answer.Build, "+gnocco.")
	if !ok || own != version.Number {
		t.Errorf("build %q does not end in our version", answer.Build)
	}
	var parts []int
	for part := range strings.SplitSeq(gnocchi, ".") {
		n, err := strconv.Atoi(part)
		check(t, err)
		parts = append(parts, n)
	}
	if slices.Compare(parts, []int{4, 2, 0}) < 0 {
		t.Errorf("build %q is before 4.2.0", answer.Build)
	}
}

// Balancers check with HEAD. The server refuses the same requests as Gnocchi.
func TestHead(t *testing.T) {
	web := httptest.NewServer(newServer(t, nil).handler)
	defer web.Close()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	call := func(method, path string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, web.URL+path, nil)
		check(t, err)
		r.Header.Set("Accept-Encoding", "identity") // else the client asks for gzip, with GET alone
		w, err := client.Do(r)
		check(t, err)
		check(t, w.Body.Close())
		return w
	}
	f := func(path string, status int) {
		t.Helper()
		for _, prefix := range []string{"", "/gnocchi"} {
			head, get := call("HEAD", prefix+path), call("GET", prefix+path)
			if head.StatusCode != status {
				t.Errorf("HEAD %s%s: %d, want %d", prefix, path, head.StatusCode, status)
			}
			for _, name := range []string{"Content-Length", "Content-Type", "Location"} {
				if status < 400 && head.Header.Get(name) != get.Header.Get(name) {
					t.Errorf("%s%s: %s is %q for HEAD, %q for GET", prefix, path, name, head.Header.Get(name),
						get.Header.Get(name))
				}
			}
		}
	}
	f("/", 200)
	f("/v1", 302)
	f("/v1/", 200)
	f("/openapi.yaml", 200)
	f("/docs", 200)
	f("/docs/", 302)
	f("/docs/no-such", 404)
	f("/v1/capabilities", 405)
	f("/v1/archive_policy", 405)
	f("/v1/metric", 405)
	f("/no-such", 404)
	if w := call("HEAD", "/metrics"); w.StatusCode != 200 {
		t.Errorf("HEAD /metrics: %d", w.StatusCode)
	}
}

func TestWithoutProxyHeaders(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.ProxyHeaders = false })
	s.want(t, "GET /", "", 200, `~"href": "http://example.com/v1/"`, "X-Forwarded-Host", "outer",
		"Forwarded", "host=outer")
}

func TestErrorsFollowAccept(t *testing.T) {
	s := newServer(t, nil)
	path := "GET /v1/archive_policy/<none>"
	s.want(t, path, "", 404,
		`{"code": 404, "title": "Not Found", "description": "Archive policy <none> does not exist"}`,
		"Accept", wantsJSON)
	for _, accept := range []string{"*/*", "application/*", "application/JSON", "text/html, application/json"} {
		s.want(t, path, "", 404,
			`{"code": 404, "title": "Not Found", "description": "Archive policy <none> does not exist"}`, "Accept",
			accept)
	}
	s.want(t, path, "", 404, "~<p>Archive policy &lt;none&gt; does not exist</p>", "Accept", "text/html,*/*;q=0.8")
	s.want(t, path, "", 404, "~Archive policy <none> does not exist")
	s.want(t, path, "", 406, "~406 Not Acceptable", "Accept", "text/plain")
	s.want(t, path, "", 406, "~Not Acceptable", "Accept", "application/json;q=0")
	s.want(t, path, "", 404, "~does not exist", "Accept", "text/plain, application/json; q=0.8")
	s.want(t, "GET /v1/nothing", "", 404, `{"code": 404, "title": "Not Found", "description": ""}`, "Accept", wantsJSON)
	w := s.want(t, "PUT /gnocchi/v1/archive_policy/", "", 405, "~405 Method Not Allowed")
	if allow := w.Header().Get("Allow"); allow != "GET, POST" {
		t.Errorf("Allow: %q", allow)
	}
	s.want(t, "HEAD /v1/metric", "", 405, "~405")
}

// URLs that other servers treat as the same are the same here.
func TestEquivalentURLs(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "a;b%zz")
	for _, path := range []string{"/v1/%6detric", "/v1/./metric", "/v1/././metric/", "/%76%31/metric", "/v1/metric?;",
		"/v1/metric?name=%zz", "/v1/metric?name=a;sort=x"} {
		s.want(t, "GET "+path, "", 200, "[]")
	}
	s.want(t, "GET /v1/%6detric%2f", "", 404, "~")
	id := s.create(t, "/v1/metric", `{"archive_policy_name":"a;b%zz","name":"m;%zz"}`)
	s.want(t, "GET /v1/metric?name=m;%zz", "", 200, `~"id": "`+id+`"`)
	s.want(t, "GET /v1/metric?name=m", "", 200, "[]")
}

func TestAuthentication(t *testing.T) {
	s := newServer(t, nil)
	for _, header := range []string{"", "Bearer x", "basic", "basic !!!", "basic Zm9v"} { // the last one: no colon
		s.want(t, "GET /v1/archive_policy", "", 401, "~401 Unauthorized", "Authorization", header)
	}
	s.want(t, "GET /v1/archive_policy", "", 200, "[]", "Authorization", "BASIC Zm9vYmFyOg==")
	for _, path := range []string{"/v1/metric", "/v1/resource", "/v1/resource/generic"} {
		s.want(t, "GET "+path, "", 200, "~", "Authorization", "")
	}
	s.want(t, "GET /v1/status", "", 403, "~Access was denied to this resource")
	s.want(t, "GET /v1/status", "", 200,
		`{"storage": {"summary": {"metrics": 0, "measures": 0}, "measures_to_process": {}}, "metricd": {"processors": null, "statistics": {}}}`, "user", "admin")
	s.want(t, "GET /v1/status?details=False", "", 200,
		`{"storage": {"summary": {"metrics": 0, "measures": 0}}, "metricd": {"processors": null, "statistics": {}}}`,
		"user", "admin")
	s.want(t, "GET /v1/status?details=maybe", "", 400, "~Unable to parse `details'", "user", "admin")
}

func TestCORS(t *testing.T) {
	s := newServer(t, nil)
	w := s.want(t, "OPTIONS /v1/status", "", 200, "", "Origin", "http://notallowed.com",
		"Access-Control-Request-Method", "GET")
	if w.Header().Get("Access-Control-Allow-Origin") != "" || w.Header().Get("Access-Control-Allow-Methods") != "" {
		t.Error("granted to a foreign origin")
	}
	w = s.want(t, "OPTIONS /v1/status", "", 200, "", "Origin", "http://foobar.com",
		"Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "Authorization, Content-Type")
	if h := w.Header(); h.Get("Access-Control-Allow-Origin") != "http://foobar.com" ||
		h.Get("Access-Control-Allow-Methods") != "GET" ||
		h.Get("Access-Control-Allow-Headers") != "Authorization,Content-Type" ||
		h.Get("Access-Control-Allow-Credentials") != "true" {
		t.Errorf("headers %v", h)
	}
	w = s.want(t, "GET /v1/metric", "", 200, "[]", "Origin", "http://foobar.com")
	if origin := w.Header().Get("Access-Control-Allow-Origin"); origin != "http://foobar.com" {
		t.Errorf("origin %q", origin)
	}
	s = newServer(t, func(o *api.Options) { o.CORSOrigins = []string{"*"} })
	w = s.want(t, "GET /v1/metric", "", 200, "[]", "Origin", "http://anyone.net")
	if h := w.Header(); h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("headers %v", h)
	}
}

func TestOptionsAreValidated(t *testing.T) {
	_, err := api.New(api.Options{Sacks: 0, Settings: api.Settings{Prefix: "x/",
		CORSOrigins: []string{"foo"}, MaxLimit: -1}})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, part := range []string{"Index", "Incoming", "Archives", "Sacks", "Prefix", "CORS origin", "MaxLimit"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v\ndoes not name %s", err, part)
		}
	}
}
