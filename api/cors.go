package api

import (
	"net/http"
	"slices"
	"strings"
)

var (
	corsMethods = []string{"OPTIONS", "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "PATCH"}
	corsHeaders = []string{"accept", "accept-language", "authorization", "cache-control", "content-language", "content-type",
		"expires", "if-match", "if-modified-since", "if-none-match", "if-unmodified-since", "last-modified", "pragma",
		"x-auth-token", "x-domain-id", "x-project-id", "x-roles", "x-subject-token", "x-user-id"}
)

// cors lets browsers call from the allowed origins. Every OPTIONS request ends here, with 200: what it may do
// is said by the headers.
func (a *api) cors(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		if len(a.CORSOrigins) > 0 {
			header.Add("Vary", "Origin")
		}
		allowed := a.allowedOrigin(r)
		if r.Method == http.MethodOptions {
			if allowed != "" {
				setPreflight(header, r, allowed)
			}
			writeBody(w, http.StatusOK, nil)
			return
		}
		if allowed != "" {
			setOrigin(header, allowed)
			header.Set("Access-Control-Expose-Headers", "ETag, Last-Modified, Link, Location")
		}
		next.ServeHTTP(w, r)
	})
}

// allowedOrigin returns the origin to grant: r's own if it is listed, "*" if any is allowed, "" for none.
func (a *api) allowedOrigin(r *http.Request) string {
	origin := r.Header.Get("Origin")
	switch {
	case origin == "":
		return ""
	case slices.Contains(a.CORSOrigins, origin):
		return origin
	case slices.Contains(a.CORSOrigins, "*"):
		return "*"
	}
	return ""
}

// setOrigin grants origin. A browser may send the user's credentials only from an origin that is listed by name.
func setOrigin(header http.Header, origin string) {
	header.Set("Access-Control-Allow-Origin", origin)
	if origin != "*" {
		header.Set("Access-Control-Allow-Credentials", "true")
	}
}

// setPreflight grants the method and headers that r asks for, or nothing.
func setPreflight(header http.Header, r *http.Request, origin string) {
	method := r.Header.Get("Access-Control-Request-Method")
	if !slices.Contains(corsMethods, method) {
		return
	}
	var names []string
	for name := range strings.SplitSeq(r.Header.Get("Access-Control-Request-Headers"), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if !slices.Contains(corsHeaders, strings.ToLower(name)) {
			return
		}
		names = append(names, name)
	}
	setOrigin(header, origin)
	header.Set("Access-Control-Allow-Methods", method)
	header.Set("Access-Control-Max-Age", "3600")
	if len(names) > 0 {
		header.Set("Access-Control-Allow-Headers", strings.Join(names, ","))
	}
}
