package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// The check of a bucket finds each kind of fault, says what the bucket may be used for, and leaves nothing.
func TestDoctorBucket(t *testing.T) {
	s := serve(t)
	var one sync.Mutex
	var mu sync.Mutex // guards the rest
	last := make(map[string][]byte)
	atomically := func(w http.ResponseWriter, r *http.Request) bool { // as the fake server does not
		one.Lock()
		defer one.Unlock()
		s.fake.ServeHTTP(w, r)
		return true
	}
	check := func(name string, want error, lines string, before func(http.ResponseWriter, *http.Request) bool) {
		t.Helper()
		s.before = before
		var out bytes.Buffer
		p := newProbe(quick(t), nil)
		p.rounds = 3
		err := p.run(t.Context(), &out)
		if !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%s: %v, want %v\n%s", name, err, want, out.String())
		}
		for line := range strings.Lines(lines) {
			if !strings.Contains(out.String(), strings.TrimSpace(line)) {
				t.Errorf("%s: no %q in\n%s", name, line, out.String())
			}
		}
		if s.before = nil; len(s.names(t, "doctor/")) != 0 {
			t.Errorf("%s: %v is left", name, s.names(t, "doctor/"))
		}
	}
	check("behaves", nil, "yes   read after write\nyes   list after write\nyes   If-None-Match\nyes   If-Match\na write took",
		atomically)
	check("ignores conditions", errOneWriter, "warn  If-None-Match     in round 0 32 of 32 writers won\nwarn  If-Match",
		func(w http.ResponseWriter, r *http.Request) bool {
			r.Header.Del("If-None-Match")
			r.Header.Del("If-Match")
			return atomically(w, r)
		})
	winners := 0
	check("lets two win", errOneWriter, "warn  If-None-Match     in round 0 2 of 32 writers won\nyes   If-Match",
		func(w http.ResponseWriter, r *http.Request) bool {
			mu.Lock()
			if r.Header.Get("If-None-Match") != "" && winners < 2 {
				winners++
				r.Header.Del("If-None-Match")
			}
			mu.Unlock()
			return atomically(w, r)
		})
	check("has no conditions", errOneWriter, "warn  If-Match          the server does not have such writes",
		func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("If-None-Match")+r.Header.Get("If-Match") != "" {
				http.Error(w, "", http.StatusNotImplemented)
				return true
			}
			return atomically(w, r)
		})
	check("reads what was before", errUnfit, "no    read after write  in round 0", func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		before := last[r.URL.Path]
		mu.Unlock()
		if r.Method == http.MethodGet && before != nil {
			_, _ = w.Write(before)
			return true
		}
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/read") && before == nil {
			content, err := io.ReadAll(r.Body)
			if err != nil {
				return false
			}
			mu.Lock()
			last[r.URL.Path] = content
			mu.Unlock()
			r.Body = io.NopCloser(bytes.NewReader(content))
		}
		return atomically(w, r)
	})
	check("lists late", errUnfit, "no    list after write  in round 0", func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Query().Get("prefix"), "/list") {
			r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "list%2F", "late%2F", 1)
		}
		return atomically(w, r)
	})
	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "", http.StatusForbidden)
		return true
	}
	if _, err := run("doctor", "bucket", "s3://backups/site"); status(err) != http.StatusForbidden {
		t.Errorf("without rights: %v", err)
	}
}
