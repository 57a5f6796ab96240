package api_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/console"
)

const browserAccepts = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"

// A browser finds the console at the address of the server. A client that does not name text/html finds the versions of
// the API.
func TestRootSendsBrowsersToTheConsole(t *testing.T) {
	s := newServer(t, nil)
	for path, want := range map[string]string{"/": "ui/", "/gnocchi": "gnocchi/ui/", "/gnocchi/": "ui/"} {
		w := s.want(t, "GET "+path, "", http.StatusFound, "", "Authorization", "", "Accept", browserAccepts)
		if got := w.Header().Get("Location"); got != want || !slices.Contains(w.Header().Values("Vary"), "Accept") {
			t.Errorf("%s: %v", path, w.Header())
		}
		s.want(t, "GET "+path, "", http.StatusFound, "", "Authorization", "", "Accept", "text/html")
		for _, accept := range []string{"", "*/*", "application/json", "application/json, text/plain, */*",
			"text/html;q=0, */*", "text/*, */*", "text/html, application/json"} {
			w := s.want(t, "GET "+path, "", http.StatusOK, "~versions", "Authorization", "", "Accept", accept)
			if !slices.Contains(w.Header().Values("Vary"), "Accept") {
				t.Errorf("%s, Accept %q: %v", path, accept, w.Header())
			}
		}
		s.want(t, "GET "+path, "", http.StatusNotAcceptable, "~", "Authorization", "", "Accept", "text/plain")
	}
	for path, status := range map[string]int{"/v1/": 406, "/v1/capabilities": 406, "/v1/metric": 406} {
		s.want(t, "GET "+path, "", status, "~", "Accept", "text/html")
	}
}

// The page and all that it refers to are there, below any prefix and without credentials, and load nothing from
// elsewhere.
func TestConsoleIsServed(t *testing.T) {
	s := newServer(t, nil)
	for _, prefix := range []string{"", "/gnocchi"} {
		if w := s.want(t, "GET "+prefix+"/ui", "", http.StatusFound, "", "Authorization",
			""); w.Header().Get("Location") != "ui/" {
			t.Errorf("%v", w.Header())
		}
		page := s.want(t, "GET "+prefix+"/ui/", "", http.StatusOK, "~<html", "Authorization", "",
			"Accept", browserAccepts)
		links := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page.Body.String(), -1)
		if len(links) < 3 {
			t.Errorf("links: %q", links)
		}
		for _, link := range links {
			w := s.want(t, "GET "+prefix+"/ui/"+link[1], "", http.StatusOK, "~", "Authorization", "")
			if kept := strings.Contains(w.Header().Get("Cache-Control"), "immutable"); !kept {
				t.Errorf("%s: Cache-Control %s", link[1], w.Header().Get("Cache-Control"))
			}
			if policy := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'self';") ||
				strings.Contains(policy, "unsafe") {
				t.Errorf("%s: %s", link[1], policy)
			}
		}
	}
	// The page is asked for each time, and says what a person is asked for.
	for _, path := range []string{"/ui/", "/ui/index.html"} {
		w := s.want(t, "GET "+path, "", http.StatusOK, `~data-credentials="name"`, "Authorization", "")
		if w.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %v", path, w.Header())
		}
	}
	strict := newServer(t, func(o *api.Options) { o.Auth = &auth.Htpasswd{} })
	strict.want(t, "GET /ui/", "", http.StatusOK, `~data-credentials="password"`, "Authorization", "")
	s.want(t, "GET /ui/odd.js", "", http.StatusNotFound, "~no file odd.js", "Authorization", "")
}

// A first visit loads 60 kB at most, and all files have 300 kB at most. The page names files, and scripts name those
// that they load later.
func TestConsoleIsSmall(t *testing.T) {
	entries, err := console.Files.ReadDir("dist")
	check(t, err)
	visited := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		content, err := console.Files.ReadFile("dist/" + name)
		check(t, err)
		visited[name] = true
		for _, link := range regexp.MustCompile(
			`(?:(?:src|href)=|from\s*|\bimport\s*)"(?:\./)?([\w-]+\.\w+)"`).FindAllSubmatch(content, -1) {
			if !visited[string(link[1])] {
				visit(string(link[1]))
			}
		}
	}
	visit("index.html")
	all, first := 0, 0
	for _, entry := range entries {
		content, err := console.Files.ReadFile("dist/" + entry.Name())
		check(t, err)
		var compressed bytes.Buffer
		w, err := gzip.NewWriterLevel(&compressed, gzip.BestCompression)
		check(t, err)
		_, err = w.Write(content)
		check(t, err)
		check(t, w.Close())
		all += compressed.Len()
		if visited[entry.Name()] {
			first += compressed.Len()
		}
	}
	if t.Logf("%d bytes at first, %d in all, %d files", first, all, len(visited)); first > 60_000 ||
		all > 300_000 || first < 30_000 {
		t.Errorf("%d bytes at first, %d in all", first, all)
	}
}

// A page that fetches asks for passwords by itself: the browser must not.
func TestBasicChallengeIsForNavigation(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.Auth = &auth.Htpasswd{} })
	for mode, want := range map[string]bool{"": true, "navigate": true, "cors": false, "same-origin": false,
		"no-cors": false} {
		w := s.want(t, "GET /v1/status", "", http.StatusUnauthorized, "~", "Authorization", "", "Sec-Fetch-Mode", mode)
		if got := w.Header().Get("WWW-Authenticate") != ""; got != want {
			t.Errorf("Sec-Fetch-Mode %q: challenge %q", mode, w.Header().Get("WWW-Authenticate"))
		}
	}
	s.want(t, "GET /v1/authentication", "", http.StatusOK, `{"credentials": "password"}`, "Authorization", "")
}

// Pages of another origin change nothing, unless CORS is granted to them; clients that are no browsers are not asked.
func TestOtherOrigins(t *testing.T) {
	f := func(s *server, want int, headers ...string) {
		t.Helper()
		s.want(t, "POST /v1/search/resource/generic", "{}", want, "~", headers...)
	}
	s := newServer(t, func(o *api.Options) {
		o.CORSOrigins, o.ProxyHeaders = []string{"https://grafana.example"}, false
	})
	f(s, 200)
	f(s, 200, "Sec-Fetch-Site", "same-origin", "Origin", "https://example.com")
	f(s, 200, "Sec-Fetch-Site", "none")
	f(s, 200, "Origin", "http://example.com")
	f(s, 403, "Origin", "http://evil.example")
	f(s, 403, "Sec-Fetch-Site", "cross-site", "Origin", "http://evil.example")
	f(s, 403, "Sec-Fetch-Site", "same-site", "Origin", "http://evil.example.com")
	f(s, 200, "Sec-Fetch-Site", "cross-site", "Origin", "https://grafana.example")
	f(s, 200, "Origin", "https://grafana.example")
	f(s, 403, "Origin", "http://public.example", "X-Forwarded-Host", "public.example")
	s.want(t, "GET /v1/metric", "", 200, "~", "Sec-Fetch-Site", "cross-site", "Origin", "http://evil.example")
	f(newServer(t, func(o *api.Options) { o.CORSOrigins = []string{"*"} }), 200, "Sec-Fetch-Site", "cross-site",
		"Origin", "http://evil.example")
	f(newServer(t, func(o *api.Options) { o.ProxyHeaders = true }), 200, "Origin", "http://public.example",
		"X-Forwarded-Host", "public.example")
}
