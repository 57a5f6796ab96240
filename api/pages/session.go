package pages

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
)

var errNoSessions = web.NotFound("This server's mode of authentication has no sessions")

// postSession serves POST /v1/session: a browser signs in.
func (a *Handlers) postSession(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
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
func (a *Handlers) deleteSession(w http.ResponseWriter, r *http.Request) error {
	sessions, ok := a.Auth.(*auth.Sessions)
	if !ok {
		return errNoSessions
	}
	a.setCookie(w, r, sessions.End())
	return nil
}

// setCookie answers with a cookie for the API and the console, by TLS only if the client uses TLS.
func (a *Handlers) setCookie(w http.ResponseWriter, r *http.Request, cookie *http.Cookie) {
	scheme, rest, _ := strings.Cut(a.BaseURL(r), "://")
	_, prefix, _ := strings.Cut(rest, "/")
	cookie.Path, cookie.Secure = (&url.URL{Path: "/" + prefix}).EscapedPath(), scheme == "https"
	http.SetCookie(w, cookie)
	web.WriteBody(w, http.StatusNoContent, nil)
}
