package keystone_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/internal/keystone"
)

// An answer is read up to its bound: one that does not end takes no more memory.
func TestAnswersAreBounded(t *testing.T) {
	for size, fits := range map[int]bool{4 << 20: true, 4<<20 + 1: false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"token":"`+strings.Repeat("x", size-len(`{"token":""}`))+`"}`)
		}))
		account := keystone.Account{User: "u", Secret: func() (string, error) { return "p", nil }}
		var answer struct{ Token string }
		_, status, err := keystone.Create(t.Context(), server.Client(), server.URL, &account, &answer)
		if (err == nil) != fits || fits && (status != http.StatusCreated || answer.Token == "") {
			t.Errorf("%d bytes: %d, %v", size, status, err)
		}
		server.Close()
	}
}
