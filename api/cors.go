package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/api/web"
)

var (
	corsMethods = []string{"OPTIONS", "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "PATCH"}
	corsHeaders = []string{"accept", "accept-language", "authorization", "cache-control",
		"content-language", "content-type", "expires", "if-match", "if-modified-since", "if-none-match",
		"if-unmodified-since", "last-modified", "pragma",
		"x-auth-token", "x-domain-id", "x-project-id", "x-roles", "x-subject-token", "x-user-id"}
)

// origins are those that browsers may call from; "*" stands for any.
type origins []string

// cors lets browsers call from the origins. It answers every OPTIONS request with 200; the headers say what is granted.
func (o origins) cors(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		if len(o) > 0 {
			header.Add("Vary", "Origin")
		}
		allowed := o.allowed(r)
		if r.Method == http.MethodOptions {
			if allowed != "" {
				setPreflight(header, r, allowed)
			}
			web.WriteBody(w, http.StatusOK, nil)
			return
		}
		if allowed != "" {
			setOrigin(header, allowed)
			header.Set("Access-Control-Expose-Headers", "ETag, Last-Modified, Link, Location")
		}
		next.ServeHTTP(w, r)
	})
}

// allowed returns the origin to grant: r's own if it is listed, "*" if any is allowed, "" for none.
func (o origins) allowed(r *http.Request) string {
	origin := r.Header.Get("Origin")
	switch {
	case origin == "":
		return ""
	case slices.Contains(o, origin):
		return origin
	case slices.Contains(o, "*"):
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

// protect refuses requests that change something and that a browser sends from a page of another origin, unless CORS
// is granted to it: the browser may know the user's password. Clients that are no browsers send neither
// Sec-Fetch-Site nor Origin, and pass.
func (o origins) protect(env *web.Env) func(http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	for _, origin := range o {
		if origin != "*" {
			_ = protection.AddTrustedOrigin(origin) // Validate has looked at it
		}
	}
	anyOrigin := slices.Contains(o, "*")
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !anyOrigin {
				if err := protection.Check(asSent(env, r)); err != nil {
					env.Fail(w, r, &web.Error{Status: http.StatusForbidden,
						Detail: "A page of another origin sent this request", Err: err})
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// asSent returns r with the host that the client used, as far as proxies in between tell it and are believed.
func asSent(env *web.Env, r *http.Request) *http.Request {
	if !env.ProxyHeaders || r.Header.Get("Origin") == "" {
		return r
	}
	if host := env.ClientHost(r); host != r.Host {
		sent := *r
		sent.Host = host
		return &sent
	}
	return r
}
