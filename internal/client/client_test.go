package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/internal/keystone"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// The calls that need a Gnocchi to answer are tested with the commands that make them; here is what only a server that
// misbehaves shows.
func TestSendMeasuresTriesAgain(t *testing.T) {
	f := func(wantRequests int, wantError string, statuses ...int) {
		t.Helper()
		var requests atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n := int(requests.Add(1))
			user, _, _ := r.BasicAuth()
			body, _ := io.ReadAll(r.Body)
			if user != "somebody" || string(body) != "{}" || r.URL.Path != "/below/v1/batch/metrics/measures" {
				t.Errorf("request %d: user %q, path %s, body %q", n, user, r.URL.Path, body)
			}
			if n <= len(statuses) && statuses[n-1] == 0 { // hang up
				connection, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				connection.Close()
				return
			}
			if n <= len(statuses) {
				w.WriteHeader(statuses[n-1])
				fmt.Fprint(w, `{"code": 0, "description": {"cause": "Unknown metrics"}}`)
				return
			}
			w.WriteHeader(http.StatusAccepted)
		}))
		defer server.Close()
		c, err := client.New(server.URL+"/below/", client.Options{User: "somebody"})
		fatal.If(t, err)
		err = c.SendMeasures(t.Context(), []byte("{}"))
		if (err == nil) != (wantError == "") || err != nil && !strings.Contains(err.Error(), wantError) {
			t.Errorf("statuses %v: got %v, want %q", statuses, err, wantError)
		}
		if got := int(requests.Load()); got != wantRequests {
			t.Errorf("statuses %v: %d requests, want %d", statuses, got, wantRequests)
		}
	}
	f(1, "")
	f(3, "", http.StatusServiceUnavailable, http.StatusTooManyRequests)
	f(2, "", 0)
	f(1, `400 Bad Request: {"cause": "Unknown metrics"}`, http.StatusBadRequest)
	f(1, "507", http.StatusInsufficientStorage)
}

func TestStatusErrorOfText(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	c, err := client.New(strings.Replace(server.URL, "//", "//me:secret@", 1), client.Options{})
	fatal.If(t, err)
	err = c.Do(t.Context(), http.MethodGet, "/v1/metric", nil, nil)
	var answer *client.StatusError
	if !errors.As(err, &answer) || answer.Status != http.StatusNotFound || answer.Description != "404 page not found" ||
		strings.Contains(err.Error(), "secret") {
		t.Fatalf("got %v", err)
	}
	if _, err := client.New("gnocco", client.Options{}); err == nil {
		t.Error("a URL without a scheme was taken")
	}
}

// The client asks for a token once, again before its end, and once more if the server refuses it. A second refusal is
// an error.
func TestTokens(t *testing.T) {
	var lasting atomic.Int64 // seconds
	lasting.Store(3600)
	var given, requests atomic.Int32
	var accepted atomic.Pointer[string]
	keystoneServer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Subject-Token", fmt.Sprintf("t%d", given.Add(1)))
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"token":{"expires_at":%q}}`,
			time.Now().Add(time.Duration(lasting.Load())*time.Second).UTC().Format(time.RFC3339Nano))
	}))
	defer keystoneServer.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		body, _ := io.ReadAll(r.Body)
		if _, _, basic := r.BasicAuth(); basic || string(body) != `"x"` {
			t.Errorf("basic %v, body %s", basic, body)
		}
		if want := accepted.Load(); want != nil && r.Header.Get("X-Auth-Token") != *want {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{}`)
	}))
	defer server.Close()
	c, err := client.New(server.URL, client.Options{KeystoneURL: keystoneServer.URL,
		Account: keystone.Account{User: "u", Secret: func() (string, error) { return "s", nil }}})
	fatal.If(t, err)
	f := func(accepts string, wantGiven, wantRequests int32, wantStatus int) {
		t.Helper()
		accepted.Store(&accepts)
		requests.Store(0)
		err := c.Do(t.Context(), http.MethodPost, "/v1/metric", "x", nil)
		var answer *client.StatusError
		status := http.StatusOK
		if errors.As(err, &answer) {
			status = answer.Status
		} else if err != nil {
			t.Error(err)
		}
		if given.Load() != wantGiven || requests.Load() != wantRequests || status != wantStatus {
			t.Errorf("token %s: %d tokens, want %d; %d requests, want %d; status %d", accepts, given.Load(), wantGiven,
				requests.Load(), wantRequests, status)
		}
	}
	f("t1", 1, 1, http.StatusOK)
	f("t1", 1, 1, http.StatusOK)
	f("t2", 2, 2, http.StatusOK) // the first was revoked
	f("none", 3, 2, http.StatusUnauthorized)
	lasting.Store(30) // about to end
	f("t4", 4, 2, http.StatusOK)
	f("t5", 5, 1, http.StatusOK)
}

// Another host that the server points to sees no token.
func TestTokenStaysWithHost(t *testing.T) {
	var seen atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.Header.Get("X-Auth-Token") != "")
		fmt.Fprint(w, `{}`)
	}))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/here" {
			http.Redirect(w, r, other.URL, http.StatusFound)
			return
		}
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1), http.StatusFound)
	}))
	defer server.Close()
	c, err := client.New(server.URL, client.Options{Token: "t"})
	fatal.If(t, err)
	for path, want := range map[string]bool{"/here": true, "/there": false} {
		if err := c.Do(t.Context(), http.MethodGet, path, nil, nil); err != nil || seen.Load() != want {
			t.Errorf("%s: token seen %v, %v", path, seen.Load(), err)
		}
	}
}

func TestURLErrorHasNoPassword(t *testing.T) {
	for _, base := range []string{"http://me:s3cret@host:port", "ftp://me:s3cret@host", "http://me:s3 cret@host"} {
		if _, err := client.New(base, client.Options{}); err == nil || strings.Contains(err.Error(), "cret") {
			t.Errorf("%s: %v", base, err)
		}
	}
}
