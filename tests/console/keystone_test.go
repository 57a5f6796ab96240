package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/server"
)

// newKeystone returns the URL of a Keystone that answers the server's questions: whether a token is valid, which only
// "good" is, and a token for an application credential.
func newKeystone(t *testing.T) string {
	token := fmt.Sprintf(
		`{"token":{"expires_at":%q,"user":{"id":"u"},"project":{"id":"p"},"roles":[{"name":"admin"}]}}`,
		time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v3/auth/tokens", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Subject-Token") != "good" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, token)
	})
	mux.HandleFunc("POST /v3/auth/tokens", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Auth struct {
				Identity struct {
					Credential struct{ ID, Secret string } `json:"application_credential"`
				}
			}
		}
		err := json.NewDecoder(r.Body).Decode(&body)
		if credential := body.Auth.Identity.Credential; err != nil || credential.ID != "c1" ||
			credential.Secret != "s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("X-Subject-Token", "good")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, token)
	})
	k := httptest.NewServer(mux)
	t.Cleanup(k.Close)
	return k.URL
}

// Mode keystone accepts a token, or an application credential. The page says if Keystone does not know it, and the user
// may type it again.
func TestSignInWithKeystone(t *testing.T) {
	s, c := start(t, func(o *server.Options) { o.Auth.Mode, o.Auth.KeystoneURL = "keystone", newKeystone(t) })
	send(t, c, "host", time.Now(), 60, "a")
	b := open(t, s.URL(), "")
	b.allow = "status of 401"
	signIn := func(fields map[string]string) {
		t.Helper()
		for name, value := range fields {
			b.write(".sign-in [name="+name+"]", value)
			b.wait(fmt.Sprintf("document.querySelector('.sign-in [name=%s]').value === %q", name, value))
		}
		b.click(".sign-in button[type=submit]", "Sign in")
	}
	signIn(map[string]string{"secret": "bad"})
	b.waitText("Wrong token or secret")
	signIn(map[string]string{"secret": "good"})
	b.wait("document.querySelectorAll('.tile canvas').length === 1")

	b.click(".settings button", "token")
	b.click(".sign-in button", "Use an application credential")
	b.wait("document.querySelector('.sign-in [name=user]')")
	signIn(map[string]string{"user": "c1", "secret": "wrong"})
	b.waitText("Wrong token or secret")
	b.picture("sign-in-keystone")
	signIn(map[string]string{"user": "c1", "secret": "s3cret"})
	b.wait("document.querySelectorAll('.tile canvas').length === 1")
	b.wait("document.querySelector('.settings')?.textContent.includes('c1')")
}
