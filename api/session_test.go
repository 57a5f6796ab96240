package api_test

import (
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/auth"
)

// cookieOf returns the only cookie that an answer sets.
func cookieOf(t *testing.T, header http.Header) *http.Cookie {
	t.Helper()
	cookie, err := http.ParseSetCookie(header.Get("Set-Cookie"))
	check(t, err)
	return cookie
}

// withSessions returns a server whose users have sessions, and the time that has passed for it, in seconds.
func withSessions(t *testing.T, users auth.Authenticator, secret string) (*server, *atomic.Int64) {
	t.Helper()
	late := new(atomic.Int64)
	sessions, err := auth.NewSessions(users, []byte(secret), func() time.Time {
		return time.Unix(1e9+late.Load(), 0)
	})
	check(t, err)
	return newServer(t, func(o *api.Options) { o.Auth, o.CORSOrigins = sessions, []string{"*"} }), late
}

// byCookie are the headers of a console that has a session.
func byCookie(c *http.Cookie, more ...string) []string {
	return append([]string{"Authorization", "", "Cookie", c.Name + "=" + c.Value, "X-Gnocco-Session", "1"}, more...)
}

const (
	secretA = "0123456789abcdef0123456789abcdef"
	secretB = "0123456789abcdef0123456789abcdeF"
)

func TestSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users")
	write := func(users ...string) {
		var text string
		for i := 0; i < len(users); i += 2 {
			hash, err := bcrypt.GenerateFromPassword([]byte(users[i+1]), bcrypt.MinCost)
			check(t, err)
			text += users[i] + ":" + string(hash) + "\n"
		}
		check(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("admin", "secret", "jd", "pw")
	var checked atomic.Int64
	users, err := auth.NewHtpasswd(auth.HtpasswdOptions{File: path, Now: func() time.Time {
		return time.Unix(1e9+checked.Add(10), 0) // the file is looked at for each request
	}})
	check(t, err)
	s, late := withSessions(t, users, secretA)
	const admin, jd = "Basic YWRtaW46c2VjcmV0", "Basic amQ6cHc="
	s.want(t, "POST /v1/session", "", 401, "~", "Authorization", "")
	s.want(t, "POST /v1/session", "", 401, "~", "Authorization", "Basic YWRtaW46d3Jvbmc=")
	answer := s.want(t, "POST /v1/session", "", 204, "", "Authorization", admin).Header()
	cookie := cookieOf(t, answer)
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Secure || cookie.Path != "/" ||
		cookie.MaxAge != 7*24*3600 {
		t.Errorf("cookie: %v", answer)
	}
	if raw, _ := base64.RawURLEncoding.DecodeString(cookie.Value); strings.Contains(string(raw), "admin") {
		t.Error("the cookie names the user")
	}
	mounted := cookieOf(t, s.want(t, "POST /gnocchi/v1/session", "", 204, "", "Authorization", admin,
		"X-Forwarded-Proto", "https", "X-Forwarded-Prefix", "/tools").Header())
	if !mounted.Secure || mounted.Path != "/tools/gnocchi" {
		t.Errorf("cookie behind a proxy: %v", mounted)
	}
	s.want(t, "GET /v1/status", "", 200, "~", byCookie(cookie)...)
	s.want(t, "POST /v1/resource_type", `{"name":"host"}`, 201, "~", byCookie(cookie, "Sec-Fetch-Site", "same-origin",
		"Origin", "http://example.com")...)
	s.want(t, "POST /v1/session", "", 400, "~begins with credentials in a header", byCookie(cookie)...)
	// A header counts before a cookie.
	s.want(t, "GET /v1/status", "", 401, "~", byCookie(cookie, "Authorization", "Basic YWRtaW46d3Jvbmc=")...)

	// Without the header, or from another origin, the cookie does not count, even if CORS grants every origin.
	s.want(t, "GET /v1/status", "", 401, "~", byCookie(cookie, "X-Gnocco-Session", "")...)
	s.want(t, "POST /v1/resource_type", `{"name":"a"}`, 401, "~", byCookie(cookie, "X-Gnocco-Session", "")...)
	for _, site := range []string{"cross-site", "same-site", "none"} {
		s.want(t, "POST /v1/resource_type", `{"name":"a"}`, 401, "~", byCookie(cookie, "Sec-Fetch-Site", site,
			"Origin", "http://evil.example")...)
		s.want(t, "GET /v1/status", "", 401, "~", byCookie(cookie, "Sec-Fetch-Site", site)...)
	}
	preflight := s.want(t, "OPTIONS /v1/resource_type", "", 200, "", "Origin", "http://evil.example",
		"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "x-gnocco-session").Header()
	if preflight.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("CORS grants the header of sessions: %v", preflight)
	}

	// Each bit of the cookie counts, and so do the secret and the time.
	sealed, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	check(t, err)
	for i := range sealed {
		forged := append([]byte(nil), sealed...)
		forged[i] ^= 1
		s.want(t, "GET /v1/status", "", 401, "~", byCookie(&http.Cookie{Name: cookie.Name,
			Value: base64.RawURLEncoding.EncodeToString(forged)})...)
	}
	for _, value := range []string{"", "x", "!", cookie.Value[:20]} {
		s.want(t, "GET /v1/status", "", 401, "~", byCookie(&http.Cookie{Name: cookie.Name, Value: value})...)
	}
	other, _ := withSessions(t, users, secretB)
	renamed := cookieOf(t, other.want(t, "POST /v1/session", "", 204, "", "Authorization", admin).Header())
	if renamed.Name == cookie.Name {
		t.Errorf("two secrets, one name %s", cookie.Name)
	}
	renamed.Name = cookie.Name
	s.want(t, "GET /v1/status", "", 401, "~", byCookie(renamed)...)
	same, _ := withSessions(t, users, secretA)
	same.want(t, "GET /v1/status", "", 200, "~", byCookie(cookie)...) // as another process of the cluster
	late.Store(7*24*3600 - 1)
	s.want(t, "GET /v1/status", "", 200, "~", byCookie(cookie)...)
	late.Store(7 * 24 * 3600)
	s.want(t, "GET /v1/status", "", 401, "~", byCookie(cookie)...)
	late.Store(0)

	// A new password ends a session, and so does the end of the user.
	jds := cookieOf(t, s.want(t, "POST /v1/session", "", 204, "", "Authorization", jd).Header())
	s.want(t, "GET /v1/status", "", 403, "~", byCookie(jds)...)
	write("admin", "other", "jd", "pw")
	s.want(t, "GET /v1/status", "", 401, "~", byCookie(cookie)...)
	write("admin", "other")
	s.want(t, "GET /v1/metric", "", 401, "~", byCookie(jds)...)

	gone := cookieOf(t, s.want(t, "DELETE /v1/session", "", 204, "", "Authorization", "").Header())
	if gone.Name != cookie.Name || gone.MaxAge >= 0 || gone.Path != "/" {
		t.Errorf("signed out by %v", gone)
	}
}

// A session with Keystone holds a token, which is asked about as before. Modes without a check of credentials have no
// sessions.
func TestSessionWithKeystone(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	k := newAccounts(t, now)
	secret := filepath.Join(t.TempDir(), "secret")
	check(t, os.WriteFile(secret, []byte("s3cret\n"), 0o600))
	tokens, err := auth.NewKeystone(auth.KeystoneOptions{URL: k.URL, Now: now,
		Account: auth.KeystoneAccount{User: "gnocco", Project: "service", ProjectDomain: "ops", SecretFile: secret}})
	check(t, err)
	s, _ := withSessions(t, tokens, secretA)
	with := func(token string) []string { return []string{"Authorization", "", "X-Auth-Token", token} }
	cookie := cookieOf(t, s.want(t, "POST /v1/session", "", 204, "", with("u p admin")...).Header())
	s.want(t, "GET /v1/status", "", 200, "~", byCookie(cookie)...)
	s.want(t, "POST /v1/session", "", 400, "~a cookie holds", with("u p "+strings.Repeat("r", 3000))...)
	member := cookieOf(t, s.want(t, "POST /v1/session", "", 204, "", with("u p member")...).Header())
	s.want(t, "GET /v1/status", "", 403, "~", byCookie(member)...)
	passwords, _ := withSessions(t, &auth.Htpasswd{}, secretA)
	passwords.want(t, "GET /v1/status", "", 401, "~", byCookie(cookie)...) // sealed for another mode

	open := newServer(t, nil)
	open.want(t, "POST /v1/session", "", 404, "~has no sessions")
	open.want(t, "DELETE /v1/session", "", 404, "~has no sessions")
}
