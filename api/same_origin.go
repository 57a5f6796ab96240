package api

import (
	"github.com/gnocco-db/gnocco/api/web"
	"net/http"
	"slices"
)

// sameOrigin refuses requests that change something and that a browser sends from a page of another origin, unless CORS
// is granted to it: the browser may know the user's password. Clients that are no browsers send neither
// Sec-Fetch-Site nor Origin, and pass.
func (a *api) sameOrigin() func(http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	for _, origin := range a.options.CORSOrigins {
		if origin != "*" {
			_ = protection.AddTrustedOrigin(origin) // Validate has looked at it
		}
	}
	anyOrigin := slices.Contains(a.options.CORSOrigins, "*")
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !anyOrigin {
				if err := protection.Check(a.asSent(r)); err != nil {
					a.Fail(w, r, &web.Error{Status: http.StatusForbidden,
						Detail: "A page of another origin sent this request", Err: err})
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// asSent returns r with the host that the client used, as far as proxies in between tell it and are believed.
func (a *api) asSent(r *http.Request) *http.Request {
	if !a.ProxyHeaders || r.Header.Get("Origin") == "" {
		return r
	}
	if host := a.ClientHost(r); host != r.Host {
		sent := *r
		sent.Host = host
		return &sent
	}
	return r
}
