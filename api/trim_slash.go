package api

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
)

// trimSlash lets a path end in a slash or not, save for /v1/, which differs from /v1, and takes slashes in a row for one:
// Gnocchi's own client asks for /v1/archive_policy//low when it changes a policy.
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

// joinSlashes makes one slash of slashes in a row. A slash that a client escaped, to have it in a name, is none.
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
