package server_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Modes and rules reach the API. A fault in them ends the start, after which nothing is held.
func TestServerAuth(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		fatal.If(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	data := filepath.Join(dir, "data")
	fails := func(want string, o server.Options) {
		t.Helper()
		o.Cluster.Data, o.Cluster.Sacks, o.Listen = data, 2, "127.0.0.1:0"
		s, err := server.Start(t.Context(), o)
		if err == nil {
			stop(t, s)
			t.Fatal("starts")
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	fails("is none of basic", server.Options{Auth: auth.Options{Mode: "none"}})
	fails("not hashed by bcrypt", server.Options{Auth: auth.Options{Mode: "htpasswd",
		HtpasswdFile: file("users", "jd:pw\n")}})
	fails("no such file", server.Options{PolicyFile: filepath.Join(dir, "absent.yaml")})
	fails(`rule "get status": expected a check`, server.Options{PolicyFile: file("bad.yaml", "get status: admin\n")})

	s := start(t, server.Options{Cluster: cluster.Options{Data: data, Sacks: 2},
		Auth:       auth.Options{Mode: "remoteuser", RemoteUserHeader: "X-Who"},
		PolicyFile: file("good.yaml", "get status: user:jd\n")})
	defer stop(t, s)
	for user, want := range map[string]int{"jd": http.StatusOK, "admin": http.StatusForbidden,
		"": http.StatusUnauthorized} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/v1/status", nil)
		fatal.If(t, err)
		request.Header.Set("X-Who", user)
		answer, err := http.DefaultClient.Do(request)
		fatal.If(t, err)
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%q: %s, want %d", user, answer.Status, want)
		}
	}
}

// A session that begins in one process is valid in the others, with the index and without it, and after a restart.
func TestSessionInAnyProcess(t *testing.T) {
	dir := t.TempDir()
	users := filepath.Join(dir, "users")
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	fatal.If(t, err)
	fatal.If(t, os.WriteFile(users, []byte("admin:"+string(hash)+"\n"), 0o600))
	begin := func(role cluster.Role) *server.Server {
		return start(t, server.Options{Cluster: cluster.Options{Data: filepath.Join(dir, "data"), Role: role, Sacks: 2},
			Auth: auth.Options{Mode: "htpasswd", HtpasswdFile: users}})
	}
	ask := func(s *server.Server, method, path string, headers ...string) *http.Response {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, nil)
		fatal.If(t, err)
		for i := 0; i < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		answer, err := http.DefaultClient.Do(request)
		fatal.If(t, err)
		answer.Body.Close()
		return answer
	}
	first, second := begin(cluster.RoleBoth), begin(cluster.RoleAPI)
	var cookies []string
	for _, s := range []*server.Server{first, second} {
		answer := ask(s, http.MethodPost, "/v1/session", "Authorization", "Basic YWRtaW46c2VjcmV0")
		if answer.StatusCode != http.StatusNoContent || len(answer.Cookies()) != 1 {
			t.Fatalf("%s: %v", answer.Status, answer.Header)
		}
		cookies = append(cookies, answer.Cookies()[0].Name+"="+answer.Cookies()[0].Value)
	}
	check := func(s *server.Server) {
		t.Helper()
		for _, cookie := range cookies {
			for _, path := range []string{"/v1/archive_policy", "/v1/status"} { // the index's, and any process's
				if answer := ask(s, http.MethodGet, path, "Cookie", cookie, "X-Gnocco-Session",
					"1"); answer.StatusCode != http.StatusOK {
					t.Errorf("%s: %s", path, answer.Status)
				}
			}
		}
	}
	check(first)
	check(second)
	stop(t, second)
	stop(t, first)
	first = begin(cluster.RoleBoth)
	check(first)
	stop(t, first)
}
