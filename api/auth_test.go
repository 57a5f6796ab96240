package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/policy"
	"github.com/gnocco-db/gnocco/model"
)

// trusted are the headers of a user of mode keystone behind a proxy.
func trusted(user, project, roles string) []string {
	return []string{"Authorization", "", "X-User-Id", user, "X-Project-Id", project, "X-Roles", roles}
}

// In mode keystone Gnocchi's rules decide. Each row has a method, a path and the letters of the permitted users.
func TestRulesAcrossUsers(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.Auth = auth.TrustedHeaders{} })
	users := map[string][]string{
		"a": trusted("root", "ops", "admin"),
		"s": trusted("billing", "ops", "service"),
		"c": trusted("carla", "web", "member"), // made what the requests are about
		"m": trusted("mark", "web", "member"),  // is of her project
		"o": trusted("olga", "shop", "member"), // whose project the resource is said to be of
		"x": trusted("xaver", "elsewhere", "member"),
		"n": trusted("", "", ""), // has no credentials
	}
	s.create(t, "/v1/archive_policy", `{"name":"simple","definition":[{"granularity":"1 second"}]}`, users["a"]...)
	s.create(t, "/v1/archive_policy_rule", `{"name":"all","metric_pattern":"*","archive_policy_name":"simple"}`,
		users["a"]...)
	s.create(t, "/v1/resource_type", `{"name":"host"}`, users["s"]...)
	const id = "6f1a4f8e-3b0a-4c5e-9b43-6b8c1a2f6a01"
	s.create(t, "/v1/resource/generic", `{"id":"`+id+
		`","project_id":"shop","metrics":{"load":{"archive_policy_name":"simple"}}}`, users["c"]...)
	metric := s.create(t, "/v1/metric", `{"name":"free","archive_policy_name":"simple"}`, users["c"]...)
	resource := "/v1/resource/generic/" + id

	f := func(request, body, may string, denied int) {
		t.Helper()
		for letter, headers := range users {
			want := denied
			if letter == "n" {
				want = http.StatusUnauthorized
			}
			got := s.call(t, request, body, headers...)
			if strings.Contains(may, letter) {
				if got.Code >= 300 && got.Code != http.StatusBadRequest { // what they may, they may do wrong
					t.Errorf("%s, %s: status %d: %s", request, letter, got.Code, got.Body)
				}
			} else if got.Code != want {
				t.Errorf("%s, %s: status %d, want %d: %s", request, letter, got.Code, want, got.Body)
			}
		}
	}
	everyone := "ascmox"
	f("GET /v1/status", "", "a", 403)
	f("GET /v1/archive_policy", "", everyone, 0)
	f("GET /v1/archive_policy/simple", "", everyone, 0)
	f("POST /v1/archive_policy", `{}`, "as", 403)
	f("PATCH /v1/archive_policy/simple", `{}`, "a", 403)
	f("DELETE /v1/archive_policy/simple", "", "a", 403)
	f("GET /v1/archive_policy_rule", "", everyone, 0)
	f("GET /v1/archive_policy_rule/all", "", everyone, 0)
	f("POST /v1/archive_policy_rule", `{}`, "a", 403)
	f("PATCH /v1/archive_policy_rule/all", `{"name":"all"}`, "a", 403)
	f("GET /v1/resource_type", "", everyone, 0)
	f("GET /v1/resource", "", everyone, 0)
	f("GET /v1/resource_type/host", "", everyone, 0)
	f("POST /v1/resource_type", `{"name":1}`, "as", 403)
	f("DELETE /v1/resource_type/generic", "", "a", 403)
	f("POST /v1/resource/generic", `{}`, everyone, 0)
	f("POST /v1/metric", `{"x":1}`, everyone, 0)

	f("GET "+resource, "", "acmo", 404) // others are not told that there is one
	f("GET "+resource+"/history", "", "acmo", 404)
	f("GET "+resource+"/metric", "", "acmo", 404)
	f("PATCH "+resource, `{"user_id":"u"}`, "ascm", 403)
	f("POST "+resource+"/metric", `{"x":1}`, "ascm", 403)
	f("GET "+resource+"/metric/load", "", "ascmo", 403)
	f("GET "+resource+"/metric/load/measures", "", "ascmo", 403)
	f("POST "+resource+"/metric/load/measures", `[{"timestamp":1,"value":1}]`, "ascm", 403)
	f("GET /v1/metric/"+metric, "", "ascm", 403)
	f("GET /v1/metric/"+metric+"/measures", "", "ascm", 403)
	f("POST /v1/metric/"+metric+"/measures", `[{"timestamp":1,"value":1}]`, "ascm", 403)
	f("POST /v1/batch/metrics/measures", `{"`+metric+`":[{"timestamp":1,"value":1}]}`, "ascm", 403)
	f("POST /v1/search/metric?metric_id="+metric, `{"=":1}`, "acm", 403)
	f("PATCH /v1/archive_policy/simple?rebuild=true", `{}`, "a", 403)
	f("PATCH /v1/metric/"+metric, `{}`, "a", 403)
	f("GET /v1/rebuild", "", "a", 403)
	f("POST /v1/rebuild", `{}`, "a", 403)
	s.want(t, "POST /v1/rebuild", `{"archive_policy_name":"simple"}`, 202, "~running", users["a"]...)
	again := "/v1/rebuild/" + model.RebuildOfPolicy("simple").String()
	f("GET "+again, "", "a", 403)
	f("DELETE "+again, "", "a", 403)

	// Lists and searches show what their user may see.
	seen := func(request, body, part, may string) {
		t.Helper()
		for letter, headers := range users {
			if letter == "n" {
				s.want(t, request, body, 401, "~", headers...)
				continue
			}
			w := s.want(t, request, body, 200, "~", headers...)
			if got := strings.Contains(w.Body.String(), part); got != strings.Contains(may, letter) {
				t.Errorf("%s: %s sees it: %v", request, letter, got)
			}
		}
	}
	seen("GET /v1/resource/generic", "", id, "acmo")
	seen("GET /v1/resource/generic?history=true", "", id, "acmo")
	seen("POST /v1/search/resource/generic", `{}`, id, "ascmo")
	seen("POST /v1/search/resource/generic", `{"=":{"id":"`+id+`"}}`, id, "ascmo")
	seen("GET /v1/metric", "", `"load"`, "acmo")
	seen("GET /v1/metric", "", metric, "acm")

	// Users delete only their own resources and metrics.
	for _, letter := range []string{"x", "o", "s"} {
		s.want(t, "DELETE /v1/resource/generic", `{"=":{"id":"`+id+`"}}`, 200, `{"deleted": 0}`, users[letter]...)
	}
	for _, letter := range []string{"s", "o", "x"} {
		s.want(t, "DELETE "+resource, "", 403, "~", users[letter]...)
		s.want(t, "DELETE "+resource+"/metric/load", "", 403, "~", users[letter]...)
		s.want(t, "DELETE /v1/metric/"+metric, "", 403, "~", users[letter]...)
	}
	s.want(t, "DELETE /v1/metric/"+metric, "", 204, "", users["m"]...)
	s.want(t, "DELETE /v1/resource/generic", `{"=":{"id":"`+id+`"}}`, 200, `{"deleted": 1}`, users["m"]...)
}

// In Gnocchi's open modes everyone reads resources and lists, and changes what they made.
func TestOpenModes(t *testing.T) {
	modes := map[string]struct {
		auth auth.Authenticator
		as   func(user string) []string
	}{
		"basic": {auth.Basic{}, func(user string) []string { return []string{"user", user} }},
		"remoteuser": {auth.RemoteUser{Header: "X-Remote-User"}, func(user string) []string {
			return []string{"Authorization", "", "X-Remote-User", user}
		}},
	}
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, func(o *api.Options) { o.Auth = mode.auth })
			s.create(t, "/v1/archive_policy", `{"name":"simple","definition":[{"granularity":"1 second"}]}`,
				mode.as("admin")...)
			s.want(t, "POST /v1/archive_policy", `{}`, 403, "~", mode.as("jd")...)
			s.create(t, "/v1/resource/generic",
				`{"id":"6f1a4f8e-3b0a-4c5e-9b43-6b8c1a2f6a01","metrics":{"load":{"archive_policy_name":"simple"}}}`,
				mode.as("jd")...)
			resource := "/v1/resource/generic/6f1a4f8e-3b0a-4c5e-9b43-6b8c1a2f6a01"
			s.want(t, "GET "+resource, "", 200, "~", mode.as("pasta")...)
			s.want(t, "PATCH "+resource, `{"user_id":"u"}`, 403, "~", mode.as("pasta")...)
			s.want(t, "DELETE "+resource, "", 403, "~", mode.as("pasta")...)
			s.want(t, "DELETE /v1/resource/generic?filter=type%3Dgeneric", "", 200, `{"deleted": 0}`,
				mode.as("pasta")...)
			s.want(t, "GET "+resource+"/metric/load/measures", "", 403, "~", mode.as("pasta")...)
			s.want(t, "GET /v1/resource/generic", "", 200, "~6f1a4f8e", "Authorization", "")
			s.want(t, "GET /v1/metric", "", 200, `~"load"`, "Authorization", "")
			s.want(t, "GET /v1/resource", "", 200, "~generic", "Authorization", "")
			s.want(t, "GET "+resource, "", 401, "~", "Authorization", "")
			s.want(t, "POST /v1/search/resource/generic", "", 401, "~", "Authorization", "")
			s.want(t, "DELETE "+resource, "", 204, "", mode.as("jd")...)
		})
	}
}

// A rule in a file counts in the open modes too, where Gnocchi's own counts for nothing.
func TestPolicyFile(t *testing.T) {
	rules, err := policy.Parse(
		[]byte(
			`{"get resource": "rule:admin_or_creator", "list resource": "rule:admin_or_creator", "create archive policy": "user:jd or role:admin"}`))
	check(t, err)
	s := newServer(t, func(o *api.Options) { o.Policy = rules })
	s.want(t, "POST /v1/archive_policy", `{"name":"simple","definition":[{"granularity":"1 second"}]}`,
		201, "~", "user", "jd")
	s.create(t, "/v1/resource/generic", `{"id":"6f1a4f8e-3b0a-4c5e-9b43-6b8c1a2f6a01"}`, "user", "jd")
	resource := "/v1/resource/generic/6f1a4f8e-3b0a-4c5e-9b43-6b8c1a2f6a01"
	s.want(t, "GET "+resource, "", 200, "~", "user", "jd")
	s.want(t, "GET "+resource, "", 404, "~", "user", "pasta")
	s.want(t, "GET /v1/resource/generic", "", 401, "~", "Authorization", "")
	s.want(t, "GET /v1/resource/generic", "", 200, "[]", "user", "pasta")
}

func TestRolesOfTrustedHeaders(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.Auth = auth.TrustedHeaders{} })
	s.want(t, "GET /v1/status", "", 200, "~", trusted("u", "p", "member, Admin")...)
	s.want(t, "GET /v1/status", "", 403, "~", trusted("u", "p", "member,administrator")...)
}

// keystone is a small part of Keystone's API: tokens "USER PROJECT ROLE" validate themselves, and application
// credentials of such IDs have the secret "s3cret".
type keystone struct {
	*httptest.Server
	asked  atomic.Int32
	status atomic.Int32 // to answer with; 0: as the token deserves
	now    func() time.Time
}

func newKeystone(t *testing.T, now func() time.Time) *keystone {
	k := &keystone{now: now}
	k.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k.asked.Add(1)
		subject := r.Header.Get("X-Subject-Token")
		created := http.StatusOK
		if r.Method == "POST" {
			var body struct {
				Auth struct {
					Identity struct {
						Credential struct{ ID, Secret string } `json:"application_credential"`
					}
				}
			}
			if err := json.NewDecoder(r.Body).Decode(&body); err == nil &&
				body.Auth.Identity.Credential.Secret == "s3cret" {
				subject = body.Auth.Identity.Credential.ID
			}
			r.Method, created = "GET", http.StatusCreated
			r.Header.Set("X-Auth-Token", subject)
		}
		parts := strings.Fields(subject)
		switch {
		case r.Method != "GET" || r.URL.Path != "/identity/v3/auth/tokens" || r.Header.Get("X-Auth-Token") != subject:
			w.WriteHeader(http.StatusBadRequest)
		case k.status.Load() != 0:
			w.WriteHeader(int(k.status.Load()))
		case len(parts) != 3:
			w.WriteHeader(http.StatusUnauthorized)
		default:
			w.WriteHeader(created)
			fmt.Fprintf(w,
				`{"token":{"methods":["password"],"expires_at":%q,"user":{"id":%q,"name":"x","domain":{"id":"default"}},
				"project":{"id":%q,"name":"y"},"roles":[{"id":"1","name":%q}],"catalog":[]}}`,
				k.now().Add(time.Minute).Format("2006-01-02T15:04:05.000000Z"), parts[0], parts[1], parts[2])
		}
	}))
	t.Cleanup(k.Close)
	return k
}

func TestKeystone(t *testing.T) {
	var late atomic.Int64
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(late.Load())) }
	k := newKeystone(t, now)
	authenticator, err := auth.NewKeystone(auth.KeystoneOptions{URL: k.URL + "/identity/", Now: now})
	check(t, err)
	s := newServer(t, func(o *api.Options) { o.Auth = authenticator })
	with := func(token string) []string {
		// the latter two are a lie
		return []string{"Authorization", "", "X-Auth-Token", token, "X-User-Id", "root", "X-Roles", "admin"}
	}
	asked := func(want int32) {
		t.Helper()
		if got := k.asked.Load(); got != want {
			t.Fatalf("Keystone was asked %d times, want %d", got, want)
		}
	}
	s.want(t, "GET /v1/status", "", 200, "~", with("u p admin")...)
	s.want(t, "GET /v1/status", "", 403, "~", with("u p member")...)
	s.want(t, "GET /v1/status", "", 200, "~", with("u p admin")...)
	asked(2)
	if w := s.want(t, "GET /v1/status", "", 401, "~", with("stolen")...); w.Header().Get(
		"WWW-Authenticate") != `Keystone uri="`+k.URL+`/identity"` {
		t.Errorf("challenge %q", w.Header().Get("WWW-Authenticate"))
	}
	s.want(t, "GET /v1/status", "", 401, "~", with("stolen")...)
	asked(3)
	s.want(t, "GET /v1/status", "", 401, "~", with("")...)
	s.want(t, "GET /v1/resource/generic", "", 401, "~", with("")...)
	asked(3)

	// A token's end is not overlooked for being remembered.
	late.Store(int64(2 * time.Minute))
	k.status.Store(http.StatusNotFound)
	s.want(t, "GET /v1/status", "", 401, "~", with("u p admin")...)
	asked(4)

	// That Keystone does not answer says nothing of a token, and is not remembered.
	k.status.Store(http.StatusInternalServerError)
	s.want(t, "GET /v1/status", "", 503, "~", with("v p admin")...)
	k.status.Store(0)
	s.want(t, "GET /v1/status", "", 200, "~", with("v p admin")...)
	asked(6)

	// Requests at once ask once.
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { s.want(t, "GET /v1/status", "", 200, "~", with("w p admin")...) })
	}
	all.Wait()
	if got := k.asked.Load(); got < 7 || got > 8 { // a request may come when the first answer has just been given
		t.Errorf("asked %d times", got)
	}
}

// Clients that cannot renew tokens send an application credential by Basic. The server asks Keystone for its token now
// and then.
func TestKeystoneApplicationCredential(t *testing.T) {
	var late atomic.Int64
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(late.Load())) }
	k := newKeystone(t, now)
	authenticator, err := auth.NewKeystone(auth.KeystoneOptions{URL: k.URL + "/identity/", Now: now})
	check(t, err)
	s := newServer(t, func(o *api.Options) { o.Auth = authenticator })
	f := func(id, secret, path string, status int, asked int32) {
		t.Helper()
		r := httptest.NewRequest("GET", "/", nil)
		r.SetBasicAuth(id, secret)
		s.want(t, "GET "+path, "", status, "~", "Authorization", r.Header.Get("Authorization"))
		if got := k.asked.Load(); got != asked {
			t.Fatalf("Keystone was asked %d times, want %d", got, asked)
		}
	}
	f("u p admin", "s3cret", "/v1/status", 200, 1)
	f("u p admin", "s3cret", "/api/v1/labels", 200, 1)
	f("u p member", "s3cret", "/v1/status", 403, 2)
	f("u p admin", "wrong", "/v1/status", 401, 3)
	f("u p admin", "wrong", "/v1/status", 401, 3)
	f("u p admin", "", "/v1/status", 401, 3)
	late.Store(int64(2 * time.Minute)) // after the token's end
	f("u p admin", "s3cret", "/v1/status", 200, 4)
	k.status.Store(http.StatusInternalServerError)
	f("v p admin", "s3cret", "/v1/status", 503, 5)
	k.status.Store(0)
	f("v p admin", "s3cret", "/v1/status", 200, 6)
}

// accounts is another small part of Keystone's API: it gives tokens to an account, which alone may validate others.
type accounts struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string        // that asked for tokens
	valid  map[string]bool // tokens of the account
	secret string
	now    func() time.Time
}

func newAccounts(t *testing.T, now func() time.Time) *accounts {
	k := &accounts{now: now, valid: map[string]bool{}, secret: "s3cret"}
	k.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k.mu.Lock()
		defer k.mu.Unlock()
		ends := k.now().Add(10 * time.Minute).Format("2006-01-02T15:04:05.000000Z")
		if r.Method == "POST" && r.URL.Path == "/v3/auth/tokens" {
			body, _ := io.ReadAll(r.Body)
			k.bodies = append(k.bodies, string(body))
			if !strings.Contains(string(body), `"`+k.secret+`"`) {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			token := fmt.Sprintf("own%d", len(k.bodies))
			k.valid[token] = true
			w.Header().Set("X-Subject-Token", token)
			w.WriteHeader(http.StatusCreated)
			fmt.Fprintf(w, `{"token":{"expires_at":%q}}`, ends)
			return
		}
		parts := strings.Fields(r.Header.Get("X-Subject-Token"))
		switch {
		case !k.valid[r.Header.Get("X-Auth-Token")]:
			w.WriteHeader(http.StatusUnauthorized)
		case len(parts) != 3:
			w.WriteHeader(http.StatusNotFound)
		default:
			fmt.Fprintf(w, `{"token":{"expires_at":%q,"user":{"id":%q},"project":{"id":%q},"roles":[{"name":%q}]}}`,
				ends, parts[0], parts[1], parts[2])
		}
	}))
	t.Cleanup(k.Close)
	return k
}

func (k *accounts) asked() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.bodies)
}

func TestKeystoneAccount(t *testing.T) {
	var late atomic.Int64
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(late.Load())) }
	k := newAccounts(t, now)
	secret := filepath.Join(t.TempDir(), "secret")
	check(t, os.WriteFile(secret, []byte("s3cret\n"), 0o600))
	authenticator, err := auth.NewKeystone(auth.KeystoneOptions{URL: k.URL, Now: now,
		Account: auth.KeystoneAccount{User: "gnocco", Project: "service", ProjectDomain: "ops", SecretFile: secret}})
	check(t, err)
	s := newServer(t, func(o *api.Options) { o.Auth = authenticator })
	with := func(token string) []string { return []string{"Authorization", "", "X-Auth-Token", token} }
	asked := func(want int) {
		t.Helper()
		if got := len(k.asked()); got != want {
			t.Fatalf("%d tokens were asked for, want %d", got, want)
		}
	}
	s.want(t, "GET /v1/status", "", 200, "~", with("u p admin")...)
	s.want(t, "GET /v1/status", "", 403, "~", with("u p member")...)
	s.want(t, "GET /v1/status", "", 401, "~", with("stolen")...)
	asked(1)
	want :=
		`{"auth":{"identity":{"methods":["password"],"password":{"user":{"domain":{"name":"Default"},"name":"gnocco","password":"s3cret"}}},` +
			`"scope":{"project":{"domain":{"name":"ops"},"name":"service"}}}}`
	if got := k.asked()[0]; got != want {
		t.Errorf("asked for a token with %s, want %s", got, want)
	}
	// Before its end, and when Keystone has forgotten it, the account's token is replaced.
	late.Store(int64(9*time.Minute + 1))
	s.want(t, "GET /v1/status", "", 200, "~", with("v p admin")...)
	asked(2)
	k.mu.Lock()
	clear(k.valid)
	k.mu.Unlock()
	s.want(t, "GET /v1/status", "", 200, "~", with("w p admin")...)
	asked(3)
	// A secret that does not fit is our fault, not the user's; a new one is read from the file.
	k.mu.Lock()
	clear(k.valid)
	k.secret = "new"
	k.mu.Unlock()
	s.want(t, "GET /v1/status", "", 503, "~", with("x p admin")...)
	asked(4)
	check(t, os.WriteFile(secret, []byte("new"), 0o600))
	s.want(t, "GET /v1/status", "", 200, "~", with("x p admin")...)
	asked(5)

	authenticator, err = auth.NewKeystone(auth.KeystoneOptions{URL: k.URL, Now: now,
		Account: auth.KeystoneAccount{ApplicationCredential: "abc", SecretFile: secret}})
	check(t, err)
	s = newServer(t, func(o *api.Options) { o.Auth = authenticator })
	s.want(t, "GET /v1/status", "", 200, "~", with("u p admin")...)
	want =
		`{"auth":{"identity":{"application_credential":{"id":"abc","secret":"new"},"methods":["application_credential"]}}}`
	if got := k.asked()[5]; got != want {
		t.Errorf("asked for a token with %s, want %s", got, want)
	}
}

func TestHtpasswd(t *testing.T) {
	hash := func(password string) string {
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
		check(t, err)
		return string(hash)
	}
	path := filepath.Join(t.TempDir(), "users")
	write := func(text string) { check(t, os.WriteFile(path, []byte(text), 0o600)) }
	write("# users\nadmin:" + hash("secret") + "\n\njd:" + hash("pw:with colon") + ":member, service\n")
	var late atomic.Int64
	authenticator, err := auth.NewHtpasswd(auth.HtpasswdOptions{File: path, Now: func() time.Time {
		return time.Unix(1e9+late.Load(), 0)
	}})
	check(t, err)
	s := newServer(t, func(o *api.Options) { o.Auth = authenticator })
	as := func(user, password string) []string {
		r := httptest.NewRequest("GET", "/", nil)
		r.SetBasicAuth(user, password)
		return []string{"Authorization", r.Header.Get("Authorization")}
	}
	for range 2 { // the second time it is remembered
		s.want(t, "GET /v1/status", "", 200, "~", as("admin", "secret")...)
		s.want(t, "GET /v1/status", "", 401, "~", as("admin", "wrong")...)
		s.want(t, "GET /v1/status", "", 401, "~", as("admin", "")...)
		s.want(t, "GET /v1/status", "", 401, "~", as("stranger", "secret")...)
		s.want(t, "GET /v1/status", "", 403, "~", as("jd", "pw:with colon")...)
	}
	// by the role service
	s.want(t, "POST /v1/resource_type", `{"name":"host"}`, 201, "~", as("jd", "pw:with colon")...)
	w := s.want(t, "GET /v1/metric", "", 401, "~", "Authorization", "")
	if w.Header().Get("WWW-Authenticate") == "" {
		t.Error("no challenge")
	}

	// A new password counts, the old one no more; a broken file changes nothing.
	write("admin:" + hash("other") + "\n")
	late.Add(2)
	s.want(t, "GET /v1/status", "", 401, "~", as("admin", "secret")...)
	s.want(t, "GET /v1/status", "", 200, "~", as("admin", "other")...)
	s.want(t, "GET /v1/status", "", 401, "~", as("jd", "pw:with colon")...)
	write("admin:{SHA}nonsense\n")
	late.Add(2)
	s.want(t, "GET /v1/status", "", 200, "~", as("admin", "other")...)

	for _, text := range []string{"admin", ":" + hash("x"), "admin:plain", "a:" + hash("x") + "\na:" + hash("y")} {
		write(text)
		if _, err := auth.NewHtpasswd(auth.HtpasswdOptions{File: path}); err == nil ||
			!strings.Contains(err.Error(), "line ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
