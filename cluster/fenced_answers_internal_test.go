package cluster

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gnocco-db/gnocco/storage/claim"
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

// suspended is a session whose lease waits for its coordinator.
type suspended struct{ claim.Session }

func (suspended) Valid() bool { return false }

func (suspended) Err() error { return claim.ErrSuspended }

// A process that waits for etcd answers what is asked about itself, and refuses the rest at once.
func TestProcessThatWaits(t *testing.T) {
	p := &Process{members: &membership{session: suspended{}}}
	handler := p.Fence(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	for path, want := range map[string]int{"/live": 200, "/gnocchi/live": 200, "/ready": 200, "/metrics": 200,
		"/v1/metric": 503, "/v1/live/x": 503, "/v1/resource/generic/x/metric/live": 503, "/api/v1/ready": 503, "/": 503} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, nil))
		if w.Code != want || want == 503 && w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}
