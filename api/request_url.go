package api

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"
)

// trimSlash ignores a slash at the end of a path, except for /v1/, which differs from /v1, and takes several slashes in
// a row for one: Gnocchi's own client asks for /v1/archive_policy//low when it changes a policy.
func trimSlash(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.RawPath
		if path == "" {
			path = r.URL.Path
		}
		if !strings.HasPrefix(path, "/debug/") {
			route := joinSlashes(path)
			if len(route) > 1 && strings.HasSuffix(route, "/") && !strings.HasSuffix(route, "/v1/") {
				route = strings.TrimSuffix(route, "/")
			}
			if route != path {
				chi.RouteContext(r.Context()).RoutePath = route
			}
		}
		next.ServeHTTP(w, r)
	})
}

// joinSlashes makes one slash of slashes in a row. A slash that a client escaped belongs to a name, and stays.
func joinSlashes(path string) string {
	if !strings.Contains(path, "//") {
		return path
	}
	joined := make([]byte, 0, len(path))
	for i := range len(path) {
		if path[i] != '/' || i == 0 || path[i-1] != '/' {
			joined = append(joined, path[i])
		}
	}
	return string(joined)
}

// requireText refuses a URL that is not UTF-8 after unescaping, as all our names are UTF-8. It also refuses a query
// that cannot be parsed: net/url leaves out the bad parameters, and a request without its filter is another request.
func (a *api) requireText(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !utf8.ValidString(r.URL.Path) {
			a.fail(w, r, badRequest("The path is not UTF-8"))
			return
		}
		if err := checkQuery(r.URL.RawQuery); err != nil {
			a.fail(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func checkQuery(query string) error {
	if !strings.ContainsAny(query, "%;") && utf8.ValidString(query) {
		return nil
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return badRequest("The query cannot be read: %s", err)
	}
	for name, texts := range values {
		for _, text := range append(texts, name) {
			if !utf8.ValidString(text) {
				return badArgument(name, "not UTF-8")
			}
		}
	}
	return nil
}
