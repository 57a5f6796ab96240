package client_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A server that has no backfills, or none for the metric or the user, is told from one that fails.
func TestCreateBackfill(t *testing.T) {
	f := func(status int, ok bool) {
		t.Helper()
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
		}))
		defer server.Close()
		c, err := client.New(server.URL, client.Options{})
		fatal.If(t, err)
		_, got, err := c.CreateBackfill(t.Context(), "m")
		if err == nil || got != ok {
			t.Errorf("status %d: %v, %v", status, got, err)
		}
	}
	f(http.StatusBadRequest, false)
	f(http.StatusForbidden, false)
	f(http.StatusNotFound, false)
	f(http.StatusMethodNotAllowed, false)
	f(http.StatusInternalServerError, true)
	f(http.StatusUnauthorized, true)
}
