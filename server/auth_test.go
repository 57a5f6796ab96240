package server_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/server"
)

// Modes and rules reach the API. A fault in them ends the start, after which nothing is held.
func TestServerAuth(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
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
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Who", user)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%q: %s, want %d", user, answer.Status, want)
		}
	}
}
