package api_test

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/gnocco-db/gnocco/api"
)

// The routes and openapi.yaml say the same.
func TestRoutesAreDescribed(t *testing.T) {
	c, err := openAPI()
	check(t, err)
	var described []string
	for _, o := range c.Operations() {
		described = append(described, o.Method+" "+o.Path)
		checkParameters(t, o.Path, c.Parameters(o, "path"))
	}
	s := newServer(t, func(o *api.Options) { o.Prefix = "" })
	var routed []string
	check(t, chi.Walk(s.handler.(*api.Handler).Handler.(chi.Routes),
		func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
			routed = append(routed, method+" "+strings.Replace(route, "*", "{group}", 1)) // several parts
			return nil
		}))
	slices.Sort(described)
	slices.Sort(routed)
	for _, route := range routed {
		if !slices.Contains(described, route) {
			t.Errorf("openapi.yaml lacks %s", route)
		}
	}
	for _, route := range described {
		if !slices.Contains(routed, route) {
			t.Errorf("no route for %s of openapi.yaml", route)
		}
	}
}

// Every operation that is described and needs no body answers, with a status below 400 that is described.
func TestDescribedOperationsAnswer(t *testing.T) {
	script, _ := readBadInput(t)
	b := newBadInputServer(t, script)
	c, err := openAPI()
	check(t, err)
	answered := 0
	for _, o := range c.Operations() {
		if o.Method != http.MethodGet && o.Method != http.MethodHead {
			continue
		}
		answered++
		path := strings.NewReplacer("/docs/no-such", "/docs/start.js", "/ui/no-such",
			"/ui/licences.txt").Replace(b.path(o))
		for _, prefix := range []string{"", "/gnocchi"} {
			if o.Path == "/metrics" && prefix != "" {
				continue // for operators of the server
			}
			if w := b.call(t, o.Method+" "+prefix+path, "", "user", "admin", "Accept",
				"*/*"); w.Code >= http.StatusBadRequest {
				t.Errorf("%s %s%s: %d %s", o.Method, prefix, path, w.Code, w.Body)
			}
		}
	}
	if answered < 25 {
		t.Errorf("%d operations answered", answered)
	}
}

// checkParameters reports parts of a path that are not described as parameters, and the other way round.
func checkParameters(t *testing.T, path string, described []string) {
	t.Helper()
	var parts []string
	for _, m := range regexp.MustCompile(`{([^}]*)}`).FindAllStringSubmatch(path, -1) {
		parts = append(parts, m[1])
	}
	slices.Sort(parts)
	if slices.Sort(described); !slices.Equal(parts, described) {
		t.Errorf("%s: its parts are %q, the parameters that are described %q", path, parts, described)
	}
}

// docs/reference/compatibility.md has a state for every path and every parameter.
func TestCompatibilityIsComplete(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/compatibility.md")
	check(t, err)
	c, err := openAPI()
	check(t, err)
	lacks := map[string]bool{}
	for _, o := range c.Operations() {
		names := slices.Concat(c.Parameters(o, "query"), c.Parameters(o, "header"))
		for _, name := range append(names, o.Path) {
			if !strings.Contains(string(page), "`"+name+"`") && !lacks[name] {
				lacks[name] = true
				t.Errorf("docs/reference/compatibility.md lacks `%s`", name)
			}
		}
	}
}
