package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Tokens of Keystone come from the variables of an openrc file. One that the server takes no more, before its time is
// over, is replaced, however many requests are under way; one that is given by itself is not. A wrong password is tried
// once.
func TestKeystoneTokens(t *testing.T) {
	var tokens, asked, refused, strangers atomic.Int64
	var mu sync.Mutex
	left := make(map[string]int) // how often each token is taken
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v3/auth/tokens", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Auth struct {
				Identity struct {
					Password struct {
						User struct{ Name, Password string }
					}
				}
				Scope struct{ Project struct{ Name string } }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil ||
			body.Auth.Identity.Password.User.Name != "mover" ||
			body.Auth.Identity.Password.User.Password != "s3cret" || body.Auth.Scope.Project.Name != "admin" {
			strangers.Add(1)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		token := fmt.Sprint("token ", tokens.Add(1))
		mu.Lock()
		left[token] = 10
		mu.Unlock()
		w.Header().Set("X-Subject-Token", token)
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(object{"token": object{"expires_at": time.Now().Add(time.Hour)}})
	})
	mux.HandleFunc("GET /v1/status", func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get("X-Auth-Token")
		mu.Lock()
		ok := left[token] > 0 || token == "given"
		left[token]--
		mu.Unlock()
		if !ok {
			refused.Add(1)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		asked.Add(1)
		_, _ = w.Write([]byte(`{"storage": {"summary": {"measures": 0, "metrics": 0}}}`))
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	source := func(variables map[string]string, token string) *restSource {
		t.Helper()
		a := &access{token: token}
		if token == "" {
			a.askKeystone(func(name string) string { return variables[name] })
		}
		s, err := newREST(server.URL, a)
		fatal.If(t, err)
		return s
	}
	variables := map[string]string{"OS_AUTH_URL": server.URL + "/v3", "OS_USERNAME": "mover", "OS_PASSWORD": "s3cret",
		"OS_PROJECT_NAME": "admin", "OS_USER_DOMAIN_NAME": "Default", "OS_PROJECT_DOMAIN_NAME": "Default"}
	s := source(variables, "")
	for range 35 {
		if _, err := s.backlog(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if tokens.Load() != 4 || asked.Load() != 35 || refused.Load() != 3 {
		t.Errorf("%d tokens, %d answers, %d refusals", tokens.Load(), asked.Load(), refused.Load())
	}
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if _, err := s.backlog(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()

	if _, err := source(nil, "given").backlog(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := source(nil, "another").backlog(t.Context()); err == nil {
		t.Error("a token that is given is replaced")
	}
	variables["OS_PASSWORD"] = "wrong"
	if _, err := source(variables, "").backlog(t.Context()); err == nil || strangers.Load() != 1 {
		t.Errorf("a wrong password is tried %d times: %v", strangers.Load(), err)
	}
}
