package api

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
)

// trimSlash lets a path end in a slash or not, save for /v1/, which differs from /v1.
func trimSlash(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.RawPath
		if path == "" {
			path = r.URL.Path
		}
		if len(path) > 1 && strings.HasSuffix(path, "/") && !strings.HasSuffix(path, "/v1/") && !strings.HasPrefix(path, "/debug/") {
			chi.RouteContext(r.Context()).RoutePath = strings.TrimSuffix(path, "/")
		}
		next.ServeHTTP(w, r)
	})
}
