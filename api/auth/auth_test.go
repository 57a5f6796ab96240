package auth_test

import (
	"encoding/pem"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestTrustedHeaders(t *testing.T) {
	f := func(want string, headers ...string) {
		t.Helper()
		r := httptest.NewRequest("GET", "/", nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		who, err := auth.TrustedHeaders{}.Authenticate(r)
		got := "nobody"
		if err == nil {
			got = who.User
		}
		if got != want {
			t.Errorf("%q: %s, want %s", headers, got, want)
		}
	}
	f("u:p", "X-User-Id", "u", "X-Project-Id", "p", "X-Roles", "member", "X-Identity-Status", "Confirmed")
	f("u:", "X-User-Id", "u")
	f("nobody", "X-Project-Id", "p", "X-Roles", "admin")
	f("nobody", "X-User-Id", "u", "X-Roles", "admin", "X-Identity-Status", "Invalid")
}

// A Keystone with a certificate from a private authority is asked if the options name that authority.
func TestKeystoneAuthority(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0) // of clients that do not trust it
	server.StartTLS()
	defer server.Close()
	path := filepath.Join(t.TempDir(), "ca.pem")
	fatal.If(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		0o600))
	f := func(want error, authority string) {
		t.Helper()
		k, err := auth.NewKeystone(auth.KeystoneOptions{URL: server.URL, CAFile: authority})
		fatal.If(t, err)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/metric", nil)
		r.Header.Set("X-Auth-Token", "x")
		if _, err := k.Authenticate(r); !errors.Is(err, want) {
			t.Errorf("authority %q: %v", authority, err)
		}
	}
	f(auth.ErrNoCredentials, path) // the server was asked: it does not know the token
	f(auth.ErrKeystone, "")        // the server is not trusted
	if _, err := auth.NewKeystone(auth.KeystoneOptions{URL: server.URL, CAFile: "/nowhere"}); err == nil {
		t.Error("an authority that is not there was taken")
	}
}

func TestKeystoneOptions(t *testing.T) {
	if _, err := auth.NewKeystone(auth.KeystoneOptions{URL: "keystone:5000"}); err == nil {
		t.Error("an URL without a scheme is accepted")
	}
	refused := func(a auth.KeystoneAccount, part string) {
		t.Helper()
		if _, err := auth.NewKeystone(auth.KeystoneOptions{URL: "http://127.0.0.1:5000", Account: a}); err == nil ||
			!strings.Contains(err.Error(), part) {
			t.Errorf("%+v: error %v, want %q", a, err, part)
		}
	}
	refused(auth.KeystoneAccount{User: "u", ApplicationCredential: "a", SecretFile: "s"}, "exclude")
	refused(auth.KeystoneAccount{User: "u"}, "no file")
	refused(auth.KeystoneAccount{SecretFile: "s"}, "neither")
	refused(auth.KeystoneAccount{ApplicationCredential: "a", Project: "p", SecretFile: "s"}, "has its own")
}

func TestOptions(t *testing.T) {
	f := func(o auth.Options, fault string) {
		t.Helper()
		_, err := o.New(nil)
		if fault == "" && err != nil || fault != "" && (err == nil || !strings.Contains(err.Error(), fault)) {
			t.Errorf("%+v: %v, want %q", o, err, fault)
		}
	}
	f(auth.Options{}, "")
	f(auth.Options{Mode: "keystone"}, "")
	f(auth.Options{Mode: "keystone", KeystoneURL: "http://127.0.0.1:5000"}, "")
	f(auth.Options{Mode: "remoteuser", RemoteUserHeader: "X-User"}, "")
	f(auth.Options{Mode: "noauth"}, "is none of basic")
	f(auth.Options{Mode: "htpasswd"}, "needs one")
	f(auth.Options{Mode: "htpasswd", HtpasswdFile: "/nonexistent/file"}, "no such file")
	f(auth.Options{HtpasswdFile: "x"}, "goes with mode htpasswd")
	f(auth.Options{Mode: "keystone", KeystoneAccount: auth.KeystoneAccount{User: "u", SecretFile: "s"}},
		"goes with a Keystone URL only")
	f(auth.Options{Mode: "basic", KeystoneURL: "http://127.0.0.1"}, "goes with mode keystone only")
	f(auth.Options{Mode: "basic", RemoteUserHeader: "X"}, "goes with mode remoteuser only")
}
