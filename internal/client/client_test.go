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

	"gnocco/internal/client"
)

// The calls that need a Gnocchi to answer are tested with the commands that make them; here is what only a server that misbehaves
// shows.
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
		c, err := client.New(server.URL+"/below/", "somebody")
		if err != nil {
			t.Fatal(err)
		}
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
	c, err := client.New(strings.Replace(server.URL, "//", "//me:secret@", 1), "")
	if err != nil {
		t.Fatal(err)
	}
	err = c.Do(t.Context(), http.MethodGet, "/v1/metric", nil, nil)
	var answer *client.StatusError
	if !errors.As(err, &answer) || answer.Status != http.StatusNotFound || answer.Description != "404 page not found" || strings.Contains(err.Error(), "secret") {
		t.Fatalf("got %v", err)
	}
	if _, err := client.New("gnocco", ""); err == nil {
		t.Error("a URL without a scheme was taken")
	}
}
