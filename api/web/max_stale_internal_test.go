package web

import (
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestMaxStale(t *testing.T) {
	f := func(want time.Duration, wantOK bool, lines ...string) {
		t.Helper()
		if got, ok := maxStale(http.Header{"Cache-Control": lines}); got != want && wantOK || ok != wantOK {
			t.Errorf("%q: %v, %v", lines, got, ok)
		}
	}
	f(0, false)
	f(0, false, "no-cache, max-age=5")
	f(math.MaxInt64, true, "max-stale")
	f(math.MaxInt64, true, "no-transform", "no-cache , Max-Stale")
	f(time.Minute, true, "max-age=0, max-stale=60")
	f(time.Minute, true, `max-stale="60"`)
	f(0, true, "max-stale=0")
	f(0, false, "max-stale=")
	f(0, false, "max-stale=-1")
	f(0, false, "max-stale=soon")
	f(0, false, "max-stale=99999999999999999999")
}

// Answers say their age if they have one, and are no error.
func TestAge(t *testing.T) {
	f := func(want, header string, answer http.HandlerFunc) {
		t.Helper()
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if header != "" {
			r.Header.Set("Cache-Control", header)
		}
		w := httptest.NewRecorder()
		AllowStale(answer).ServeHTTP(w, r)
		if got := w.Header().Get("Age"); got != want {
			t.Errorf("%s: age %q, want %q", header, got, want)
		}
	}
	f("", "", func(w http.ResponseWriter, r *http.Request) {
		if StalenessOf(r.Context()) != nil {
			t.Error("stale, unasked")
		}
	})
	f("", "max-stale", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusOK) })
	f("7", "max-stale", func(w http.ResponseWriter, r *http.Request) {
		StalenessOf(r.Context()).Use(6001 * time.Millisecond)
		StalenessOf(r.Context()).Use(time.Second)
		_, _ = w.Write([]byte("[]"))
	})
	f("1", "max-stale=9", func(w http.ResponseWriter, r *http.Request) {
		StalenessOf(r.Context()).Use(0)
		w.WriteHeader(http.StatusOK)
	})
	f("", "max-stale", func(w http.ResponseWriter, r *http.Request) {
		StalenessOf(r.Context()).Use(time.Second)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
}
