package main_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Two senders that push the same series are named with the flag that makes one of them count.
func TestStatusTellsOfPairs(t *testing.T) {
	s := serve(t)
	const warning = "two senders push the same series, such as x: see --replica-labels"
	f := func(want bool) {
		t.Helper()
		_, stderr, status := run(t, "", "status", "--url", s.url)
		if status != 0 || strings.Contains(stderr, warning) != want {
			t.Errorf("status %d, %s", status, stderr)
		}
	}
	f(false)
	for i := range 16 {
		at := 1767225600_000 + 15_000*i
		s.call(http.MethodPost, "/api/v1/import/prometheus", fmt.Sprintf("x 1 %d\nx 1 %d\n", at, at+4_000),
			http.StatusNoContent, nil)
	}
	f(true)
	if !strings.Contains(s.logged(), "two senders seem to push the same series") {
		t.Errorf("log: %s", s.logged())
	}
}
