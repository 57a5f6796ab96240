package web

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gnocco-db/gnocco/api/text"
)

// An answer that fails after a part of it was sent does not look like a whole one: the client's reading fails.
func TestCutAnswer(t *testing.T) {
	server := httptest.NewServer(new(Env).Public(func(w http.ResponseWriter, r *http.Request) error {
		out := text.NewWriter(w, nil)
		out.Raw(string(make([]byte, 200_000)))
		out.Flush()
		out.Fail(ErrQueryTimeout)
		err := out.Finish()
		if !errors.Is(err, text.ErrSent) || !errors.Is(err, ErrQueryTimeout) {
			t.Errorf("error %v", err)
		}
		return err
	}))
	defer server.Close()
	answer, err := http.Get(server.URL)
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	if err == nil {
		t.Error("the client takes the part for the whole")
	}
}
