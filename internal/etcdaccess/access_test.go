package etcdaccess_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/internal/etcdaccess"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testcert"
)

func TestURL(t *testing.T) {
	f := func(url, prefix string, endpoints ...string) {
		t.Helper()
		a := etcdaccess.Access{URL: url}
		s, err := a.Read()
		if err != nil || !slices.Equal(s.Endpoints, endpoints) || s.Prefix != prefix || (s.TLS != nil) !=
			strings.HasPrefix(url, "etcds") {
			t.Errorf("%s: %+v, %v", url, s, err)
		}
	}
	f("etcd://a:1", "", "a:1")
	f("etcd://a:1,[::1]:2/x/y", "/x/y", "a:1", "[::1]:2")
	f("etcds://a:1,b:2/", "", "https://a:1", "https://b:2")
}

// An Access that would show a password, or be ignored, is refused with words that say what to do.
func TestAccessIsRefused(t *testing.T) {
	cert, key := testcert.SelfSigned(t)
	login := filepath.Join(t.TempDir(), "login")
	fatal.If(t, os.WriteFile(login, []byte("gnocco:p:w\n"), 0o600))
	f := func(want string, a etcdaccess.Access) {
		t.Helper()
		if _, err := a.Read(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "p:w") {
			t.Errorf("%+v: %v, want %q", a, err, want)
		}
	}
	f("--coordination-login", etcdaccess.Access{URL: "etcd://user:p:w@a:1"})
	f("--coordination-login", etcdaccess.Access{URL: "etcds://user:p:w@a:1"})
	f("in clear", etcdaccess.Access{URL: "etcd://a:1", Login: login})
	f("not like host:2379", etcdaccess.Access{URL: "etcd://a"})
	f("not like host:2379", etcdaccess.Access{URL: "etcd://a:1,"})
	f("not like host:2379", etcdaccess.Access{URL: "etcds://"})
	f("are for etcds://", etcdaccess.Access{URL: "etcd://a:1", CA: cert})
	f("needs its key", etcdaccess.Access{URL: "etcds://a:1", Certificate: cert})
	f("its certificate", etcdaccess.Access{URL: "etcds://a:1", Key: key})
	f("no such file", etcdaccess.Access{URL: "etcds://a:1", CA: cert + ".none"})
	f("holds no certificate", etcdaccess.Access{URL: "etcds://a:1", CA: key})
	f("no such file", etcdaccess.Access{URL: "etcds://a:1", Login: login + ".none"})
	f("not one line like user:password", etcdaccess.Access{URL: "etcds://a:1", Login: cert})
	f("certificate", etcdaccess.Access{URL: "etcds://a:1", Certificate: key, Key: cert})

	a := etcdaccess.Access{URL: "etcd://a:1", Login: login, PlainLogin: true}
	if s, err := a.Read(); err != nil || s.User != "gnocco" || s.Password != "p:w" {
		t.Errorf("a login as told: %+v, %v", s, err)
	}
	a = etcdaccess.Access{URL: "etcds://a:1", CA: cert, Certificate: cert, Key: key, Login: login}
	if s, err := a.Read(); err != nil || s.TLS.RootCAs == nil || s.TLS.GetClientCertificate == nil ||
		a.Expires().IsZero() {
		t.Errorf("all of it: %+v, %v", s, err)
	}
}
