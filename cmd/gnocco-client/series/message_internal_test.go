package series

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/gnocco-db/gnocco/internal/client"
)

// People see neither packages nor addresses of requests, and no JSON.
func TestMessages(t *testing.T) {
	f := func(err error, want string) {
		t.Helper()
		if got := Message(err); got != want {
			t.Errorf("%v\n%s\nwant %s", err, got, want)
		}
	}
	refused := func(status int, text string) error {
		return fmt.Errorf("csvimport: metrics of r: %w", &client.StatusError{Method: "POST",
			URL: "http://h:1/v1/metric/5?x=1", Status: status, Description: text})
	}
	f(refused(http.StatusBadRequest, "Archive policy p does not exist"), "metrics of r: Archive policy p does not exist")
	f(refused(http.StatusBadRequest, `{"cause": "Invalid input", "reason": "required key", "detail": ["a", "b"]}`),
		"metrics of r: Invalid input: required key (a b)")
	f(refused(http.StatusNotFound, "404 Not Found\n\nThe resource could not be found.\n\nNo x\n"), "metrics of r: No x")
	f(refused(http.StatusUnauthorized, "why"), "metrics of r: http://h:1/v1/metric/5 answers 401 Unauthorized")
	f(refused(http.StatusNotFound, ""), "metrics of r: http://h:1/v1/metric/5 answers 404 Not Found")
	f(fmt.Errorf("client: %w", &url.Error{Op: "Get", URL: "http://u@h:1/x?y", Err: errors.New("no route")}),
		"http://h:1: no route")
	s := &Series{ID: "5f2e33a7-6b4e-4d43-9a1e-2a40d3a2b1c9", Resource: "house", Name: "in"}
	f(s.Failed(refused(http.StatusNotFound, "Metric "+s.ID+" does not exist")),
		"house/in: metrics of r: Metric house/in does not exist")
	f(errors.New("backup: datafolder: open x: y"), "open x: y")
}
