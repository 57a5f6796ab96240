package web_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A part that a handler flushes arrives while the handler goes on, and an answer that is given up ends as a broken one.
func TestCompressedAnswersStream(t *testing.T) {
	read := make(chan struct{})
	server := httptest.NewServer(web.Compress(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		fmt.Fprintln(w, "first")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		<-read
		if r.URL.Path == "/broken" {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprintln(w, "second")
	})))
	defer server.Close()
	for _, path := range []string{"/", "/broken"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		fatal.If(t, err)
		r.Header.Set("Accept-Encoding", "gzip") // else the client would uncompress it by itself
		answer, err := http.DefaultClient.Do(r)
		fatal.If(t, err)
		z, err := gzip.NewReader(answer.Body)
		fatal.If(t, err)
		first := make([]byte, len("first\n"))
		if _, err := io.ReadFull(z, first); err != nil || string(first) != "first\n" {
			t.Fatalf("%q %v", first, err)
		}
		read <- struct{}{}
		rest, err := io.ReadAll(z)
		if err == nil {
			_, err = io.ReadAll(answer.Body)
		}
		if broken := path == "/broken"; broken != (err != nil) || !broken && string(rest) != "second\n" {
			t.Errorf("%s: %q %v", path, rest, err)
		}
		fatal.If(t, answer.Body.Close())
	}
}
