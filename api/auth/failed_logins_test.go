package auth_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// users returns an Htpasswd of user "jd" with password "secret" and user "new" with "other", its log, and a function
// that asks it.
func users(t *testing.T, mode os.FileMode, now *time.Time, proxyHeaders bool) (
	*bytes.Buffer, func(address, user, password string, headers ...string) error) {
	t.Helper()
	var text string
	for user, password := range map[string]string{"jd": "secret", "new": "other"} {
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
		fatal.If(t, err)
		text += user + ":" + string(hash) + "\n"
	}
	path := filepath.Join(t.TempDir(), "users")
	fatal.If(t, os.WriteFile(path, []byte(text), mode))
	log := new(bytes.Buffer)
	h, err := auth.NewHtpasswd(auth.HtpasswdOptions{File: path, Now: func() time.Time { return *now },
		ProxyHeaders: proxyHeaders, Logger: slog.New(slog.NewTextHandler(log, nil))})
	fatal.If(t, err)
	return log, func(address, user, password string, headers ...string) error {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = address
		r.SetBasicAuth(user, password)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Add(headers[i], headers[i+1])
		}
		_, err := h.Authenticate(r)
		return err
	}
}

// A guesser has to wait after ten wrong passwords. Other addresses do not, nor do users of the same address whose
// password was checked.
func TestFailedLoginsAreSlowed(t *testing.T) {
	now := time.Unix(1e9, 0)
	_, ask := users(t, 0o600, &now, false)
	f := func(want, address, user, password string) {
		t.Helper()
		err := ask(address, user, password)
		var slowed *auth.TooManyLoginsError
		got := "ok"
		switch {
		case errors.As(err, &slowed):
			got = "wait " + slowed.RetryAfter.String()
		case errors.Is(err, auth.ErrNoCredentials):
			got = "wrong"
		case err != nil:
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s %s at %s: %s, want %s", user, password, address, got, want)
		}
	}
	const attacker, other = "192.0.2.1:1000", "192.0.2.2:1000"
	f("ok", attacker, "jd", "secret")
	for i := range 10 {
		f("wrong", attacker, []string{"jd", "nobody"}[i%2], "guess")
	}
	f("wait 2s", "192.0.2.1:2000", "jd", "guess")
	f("wait 2s", attacker, "new", "other") // the right one is no exception: it would tell
	f("ok", attacker, "jd", "secret")
	f("ok", other, "new", "other")
	f("wrong", other, "new", "guess")
	now = now.Add(2 * time.Second)
	f("wrong", attacker, "jd", "guess")
	f("wait 2s", attacker, "jd", "guess")
	now = now.Add(2 * time.Second)
	f("ok", attacker, "new", "other") // costs nothing
	f("ok", attacker, "new", "other")
	for range 5 { // what is asked again and again stays remembered
		now = now.Add(4 * time.Minute)
		f("ok", attacker, "jd", "secret")
	}
	for range 10 {
		f("wrong", attacker, "jd", "guess")
	}
	f("wait 2s", attacker, "jd", "guess")

	for i := range 10 { // one machine has a /64
		f("wrong", "[2001:db8::"+string(rune('1'+i%9))+"]:1", "jd", "guess")
	}
	f("wait 2s", "[2001:db8::ffff:1]:2", "jd", "guess")
	f("wrong", "[2001:db8:0:1::1]:2", "jd", "guess")
}

// Behind a proxy the client is the last in the list, which the proxy has added. Entries from the client itself are
// ignored.
func TestFailedLoginsBehindProxy(t *testing.T) {
	now := time.Unix(1e9, 0)
	for _, names := range [][2]string{{"X-Forwarded-For", "%s"}, {"Forwarded", `proto=https;for="%s:99"`}} {
		_, ask := users(t, 0o600, &now, true)
		from := func(client string) []string {
			return []string{names[0], "198.51.100.7, " + strings.Replace(names[1], "%s", client, 1)}
		}
		var slowed *auth.TooManyLoginsError
		for range 11 {
			err := ask("127.0.0.1:1", "jd", "guess", from("192.0.2.1")...)
			if errors.As(err, &slowed) {
				break
			}
		}
		if slowed == nil {
			t.Fatalf("%s: never slowed", names[0])
		}
		if err := ask("127.0.0.1:1", "jd", "secret", from("192.0.2.2")...); err != nil {
			t.Errorf("%s: another client: %v", names[0], err)
		}
	}
	_, ask := users(t, 0o600, &now, false) // headers that are not believed
	for i := range 11 {
		err := ask("127.0.0.1:1", "jd", "guess", "X-Forwarded-For", "192.0.2."+string(rune('0'+i)))
		if slowed := new(auth.TooManyLoginsError); errors.As(err, &slowed) != (i == 10) {
			t.Errorf("attempt %d: %v", i, err)
		}
	}
}

// Many connections of a client that begin at once all get in.
func TestFirstLoginsAtOnce(t *testing.T) {
	now := time.Unix(1e9, 0)
	_, ask := users(t, 0o600, &now, false)
	var all sync.WaitGroup
	for range 60 {
		all.Go(func() {
			if err := ask("192.0.2.1:1", "jd", "secret"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// A password file that everybody may read is warned about.
func TestReadablePasswordFile(t *testing.T) {
	now := time.Unix(1e9, 0)
	for mode, warned := range map[os.FileMode]bool{0o644: true, 0o640: false, 0o600: false} {
		if log, _ := users(t, mode, &now, false); strings.Contains(log.String(),
			"may be read by every user") != warned {
			t.Errorf("mode %o: %s", mode, log)
		}
	}
}
