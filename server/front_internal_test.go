package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// A process that starts says that it lives and is not ready. Other requests wait for it, but not for long.
func TestFrontWhileItStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFront("/gnocchi")
		ask := func(path string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			f.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			return w
		}
		for path, want := range map[string]int{"/live": 200, "/ready": 503, "/gnocchi/live": 200,
			"/gnocchi/ready": 503} {
			begun := time.Now()
			if w := ask(path); w.Code != want || time.Since(begun) != 0 {
				t.Errorf("%s: %d after %v, want %d", path, w.Code, time.Since(begun), want)
			}
		}
		begun := time.Now()
		if w := ask("/healthcheck"); w.Code != http.StatusServiceUnavailable || time.Since(begun) != startWait {
			t.Errorf("/healthcheck: %d after %v", w.Code, time.Since(begun))
		}
		begun = time.Now()
		if w := ask("/v1/metric"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" ||
			time.Since(begun) != startWait {
			t.Errorf("%d %v after %v", w.Code, w.Header(), time.Since(begun))
		}
		answered := make(chan int)
		go func() { answered <- ask("/v1/metric").Code }()
		time.Sleep(time.Second)
		f.start(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }),
			func() []string { return nil })
		if status := <-answered; status != http.StatusTeapot {
			t.Errorf("a request that waited: %d", status)
		}
	})
}

// A server without balancers' requests does not wait for balancers.
func TestFrontDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFront("")
		drained := func(want time.Duration) {
			t.Helper()
			begun := time.Now()
			if f.drain(t.Context(), time.Second); time.Since(begun) != want {
				t.Errorf("drained after %v, want %v", time.Since(begun), want)
			}
		}
		drained(0)
		f.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/ready", nil))
		drained(time.Second)
		time.Sleep(watchedFor)
		drained(0)
	})
}
