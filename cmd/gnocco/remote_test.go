package main_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// asking runs each command that asks a server, and wants all to end with the status and to say text.
func asking(t *testing.T, status int, text string, args ...string) {
	t.Helper()
	const rows = "time,a,b\n2026-01-01T00:00:00,1,2\n2026-01-01T00:01:00,2,5\n2026-01-01T00:02:00,5,7\n"
	for _, command := range [][]string{{"import", "csv", "--archive-policy", "medium", "-"}, {"rebuild"},
		{"correlate", "--name", "*"}} {
		stdout, stderr, got := run(t, rows, append(command, args...)...)
		if got != status || !strings.Contains(stdout+stderr, text) {
			t.Errorf("%q: status %d, want %d and %q:\n%s%s", append(command, args...), got, status,
				text, stdout, stderr)
		}
		if strings.Contains(stdout+stderr, "s3cret") {
			t.Errorf("%q: the password is shown:\n%s%s", append(command, args...), stdout, stderr)
		}
	}
}

// withoutCredentials clears what the environment says about who asks.
func withoutCredentials(t *testing.T) {
	t.Helper()
	for _, setting := range os.Environ() {
		name, value, _ := strings.Cut(setting, "=")
		if strings.HasPrefix(name, "OS_") || strings.HasPrefix(name, "GNOCCO_") {
			t.Setenv(name, value) // so that it is set again
			os.Unsetenv(name)
		}
	}
}

func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	fatal.If(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestAskWithPassword(t *testing.T) {
	withoutCredentials(t)
	hash, err := bcrypt.GenerateFromPassword([]byte("s3cret"), bcrypt.MinCost)
	fatal.If(t, err)
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"), "--auth-mode", "htpasswd",
		"--htpasswd-file", file(t, "htpasswd", fmt.Sprintf("admin:%s\nother:%s:admin\n", hash, hash)))
	password, wrong := file(t, "password", "s3cret\n"), file(t, "wrong", "secret\n")
	with := func(user string) string { return strings.Replace(s.url, "//", "//"+user+"@", 1) }

	asking(t, 1, "--user with --password-file or GNOCCO_PASSWORD", "--url", s.url)
	asking(t, 1, "got no valid one", "--url", s.url, "--user", "other", "--password-file", wrong)
	asking(t, 1, "got no valid one", "--url", s.url, "--token", "x")
	asking(t, 1, "--password-file: open ", "--url", s.url, "--password-file", password+"x")
	asking(t, 0, "", "--url", s.url, "--password-file", password)
	asking(t, 0, "", "--url", s.url, "--user", "other", "--password-file", password)
	asking(t, 0, "", "--url", with("other:s3cret"))
	asking(t, 0, "", "--url", with("other"), "--password-file", password)
	asking(t, 0, "", "--url", s.url, "--user", "other", "--config", file(t, "gnocco.toml", "password = \"s3cret\"\n"))
	t.Setenv("GNOCCO_PASSWORD", "s3cret")
	asking(t, 0, "", "--url", s.url, "--user", "other")
	asking(t, 1, "got no valid one", "--url", s.url, "--password-file", wrong)
	t.Setenv("OS_AUTH_URL", "http://127.0.0.1:1/v3") // nobody asks there
	t.Setenv("OS_USERNAME", "x")
	asking(t, 0, "", "--url", s.url)
}

func TestAskOverTLS(t *testing.T) {
	withoutCredentials(t)
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	behind, err := url.Parse(s.url)
	fatal.If(t, err)
	proxy := httptest.NewUnstartedServer(httputil.NewSingleHostReverseProxy(behind))
	proxy.Config.ErrorLog = nil
	proxy.StartTLS()
	defer proxy.Close()
	authority := file(t, "ca.pem",
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: proxy.Certificate().Raw})))
	asking(t, 0, "", "--url", proxy.URL, "--ca-file", authority)
	asking(t, 1, "certificate signed by unknown authority", "--url", proxy.URL)
	asking(t, 1, "has no certificate in PEM", "--url", proxy.URL, "--ca-file", file(t, "empty", ""))
}

// identities is the part of Keystone's API that gives tokens, to one user and one application credential, and lets them
// validate themselves.
type identities struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // methods
}

func newIdentities(t *testing.T) *identities {
	k := new(identities)
	k.Server = httptest.NewServer(k)
	t.Cleanup(k.Close)
	return k
}

func (k *identities) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	token := fmt.Sprintf(
		`{"token":{"expires_at":%q,"user":{"id":"u"},"project":{"id":"p"},"roles":[{"name":"admin"}]}}`,
		time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000000Z"))
	switch {
	case r.URL.Path != "/identity/v3/auth/tokens":
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet && r.Header.Get("X-Subject-Token") == "good":
		fmt.Fprint(w, token)
	case r.Method == http.MethodPost:
		type named struct {
			ID, Name string
			Domain   struct{ ID, Name string }
		}
		var body struct {
			Auth struct {
				Identity struct {
					Methods  []string
					Password struct {
						User struct {
							named
							Password string
						}
					}
					Credential struct {
						named
						User   named
						Secret string
					} `json:"application_credential"`
				}
				Scope struct{ Project named }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Auth.Identity.Methods) != 1 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		identity := &body.Auth.Identity
		k.asked = append(k.asked, identity.Methods[0])
		user, credential := &identity.Password.User, &identity.Credential
		switch {
		case user.Name == "jo" && user.Password == "s3cret" && user.Domain.Name == "Users" &&
			body.Auth.Scope.Project.Name == "team" &&
			body.Auth.Scope.Project.Domain.ID == "default":
		case credential.ID == "c1" && credential.Secret == "s3cret2":
		case credential.Name == "mine" && credential.User.ID == "u" && credential.Secret == "s3cret2":
		default:
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("X-Subject-Token", "good")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, token)
	default:
		w.WriteHeader(http.StatusUnauthorized)
	}
}

// wantAsked wants tokens to have been asked for so many times, by the method, since the last call.
func (k *identities) wantAsked(t *testing.T, n int, method string) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	if got := strings.Join(k.asked, " "); got != strings.TrimSpace(strings.Repeat(method+" ", n)) {
		t.Errorf("Keystone was asked by %q, want %d times by %s", got, n, method)
	}
	k.asked = nil
}

func TestAskWithToken(t *testing.T) {
	withoutCredentials(t)
	k := newIdentities(t)
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"), "--auth-mode", "keystone", "--keystone-url",
		k.URL+"/identity/v3")
	set := func(settings ...string) {
		t.Helper()
		withoutCredentials(t)
		for _, setting := range settings {
			name, value, _ := strings.Cut(setting, "=")
			t.Setenv(name, value)
		}
	}
	asking(t, 1, "OS_AUTH_URL and the other OS_* variables", "--url", s.url)
	asking(t, 1, "got no valid one", "--url", s.url, "--token", "bad")
	asking(t, 0, "", "--url", s.url, "--token", "good")
	set("GNOCCO_TOKEN=good")
	asking(t, 0, "", "--url", s.url)
	k.wantAsked(t, 0, "")

	password := []string{"OS_AUTH_URL=" + k.URL + "/identity", "OS_USERNAME=jo", "OS_USER_DOMAIN_NAME=Users",
		"OS_PROJECT_NAME=team", "OS_PROJECT_DOMAIN_ID=default", "OS_PASSWORD=s3cret"}
	set(password...)
	asking(t, 0, "", "--url", s.url)
	k.wantAsked(t, 3, "password")
	asking(t, 1, "got no valid one", "--url", s.url, "--token", "bad")
	asking(t, 1, "got no valid one", "--url", s.url, "--user", "admin")
	k.wantAsked(t, 0, "")
	set(append(password, "OS_PASSWORD=wrong")...)
	asking(t, 1, "/identity/v3/auth/tokens answers 401 Unauthorized to user jo", "--url", s.url)
	k.wantAsked(t, 3, "password")

	set("OS_AUTH_URL="+k.URL+"/identity/v3/", "OS_AUTH_TYPE=v3applicationcredential", "OS_APPLICATION_CREDENTIAL_ID=c1",
		"OS_APPLICATION_CREDENTIAL_SECRET=s3cret2", "OS_PROJECT_NAME=other")
	asking(t, 0, "", "--url", s.url)
	k.wantAsked(t, 3, "application_credential")
	set("OS_AUTH_URL="+k.URL+"/identity", "OS_APPLICATION_CREDENTIAL_NAME=mine", "OS_USER_ID=u",
		"OS_APPLICATION_CREDENTIAL_SECRET=s3cret2")
	asking(t, 0, "", "--url", s.url)
	k.wantAsked(t, 3, "application_credential")
}

func TestDemoNeedsModeBasic(t *testing.T) {
	if _, stderr, status := run(t, "", "demo", "--auth-mode", "remoteuser", "--data", t.TempDir()); status != 1 ||
		!strings.Contains(stderr, "only mode basic") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
