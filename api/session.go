package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
)

var errNoSessions = web.NotFound("This server's mode of authentication has no sessions")

// postSession serves POST /v1/session: a browser signs in.
func (a *api) postSession(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	sessions, ok := a.Auth.(*auth.Sessions)
	if !ok {
		return errNoSessions
	}
	cookie, err := sessions.Begin(r)
	if err != nil {
		return web.BadRequest("%s", err)
	}
	a.setCookie(w, r, cookie)
	return nil
}

// deleteSession serves DELETE /v1/session: a browser signs out.
func (a *api) deleteSession(w http.ResponseWriter, r *http.Request) error {
	sessions, ok := a.Auth.(*auth.Sessions)
	if !ok {
		return errNoSessions
	}
	a.setCookie(w, r, sessions.End())
	return nil
}

// setCookie answers with a cookie for the API and the console, by TLS only if the client uses TLS.
func (a *api) setCookie(w http.ResponseWriter, r *http.Request, cookie *http.Cookie) {
	scheme, rest, _ := strings.Cut(a.BaseURL(r), "://")
	_, prefix, _ := strings.Cut(rest, "/")
	cookie.Path, cookie.Secure = (&url.URL{Path: "/" + prefix}).EscapedPath(), scheme == "https"
	http.SetCookie(w, cookie)
	web.WriteBody(w, http.StatusNoContent, nil)
}

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
