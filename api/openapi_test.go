package api_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-chi/chi/v5"

	"github.com/gnocco-db/gnocco"
	"github.com/gnocco-db/gnocco/api"
)

// The routes and openapi.yaml say the same.
func TestRoutesAreDescribed(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromData(gnocco.OpenAPI)
	check(t, err)
	check(t, document.Validate(t.Context()))
	var described []string
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			described = append(described, method+" "+path)
			checkParameters(t, method+" "+path, slices.Concat(item.Parameters, operation.Parameters))
		}
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

// checkParameters reports path parameters that are not declared, and the other way round.
func checkParameters(t *testing.T, operation string, parameters openapi3.Parameters) {
	t.Helper()
	for _, p := range parameters {
		if p.Value.In == "path" && !strings.Contains(operation, "{"+p.Value.Name+"}") {
			t.Errorf("%s: no parameter %s in the path", operation, p.Value.Name)
		}
	}
	for rest := operation; ; {
		_, after, ok := strings.Cut(rest, "{")
		if !ok {
			return
		}
		name, tail, _ := strings.Cut(after, "}")
		if parameters.GetByInAndName("path", name) == nil {
			t.Errorf("%s: parameter %s is not described", operation, name)
		}
		rest = tail
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
