package cluster

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A request that was waiting while the lease was lost gets no answer.
func TestNoAnswerAfterTheLease(t *testing.T) {
	p, err := Open(t.Context(), Options{Data: t.TempDir(), Role: RoleMetricd, Init: true})
	fatal.If(t, err)
	defer func() { _ = p.Close(t.Context()) }()
	handler := p.Fence(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" {
			p.members.session.Lose(errSlowDisk)
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	answer := func(path string) (status int, aborted any) {
		defer func() { aborted = recover() }()
		w := httptest.NewRecorder()
		w.Code = 0
		defer func() { status = w.Code }()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, nil))
		return
	}
	if status, aborted := answer("/"); status != http.StatusAccepted || aborted != nil {
		t.Errorf("with the lease: %d, %v", status, aborted)
	}
	if status, aborted := answer("/late"); status != 0 || aborted != http.ErrAbortHandler {
		t.Errorf("without: %d, %v", status, aborted)
	}
}
