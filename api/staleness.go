package api

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Staleness is how old an answer may be, by the client's word (Cache-Control: max-stale, RFC 9111), and how old it is. The context
// of such a request has one; without, answers are fresh or there is none.
type Staleness struct {
	Limit time.Duration
	age   atomic.Int64 // of the oldest part of the answer, ns; 0: all is fresh
}

type stalenessKey struct{}

// StalenessOf returns what the request's client allows, nil for nothing but fresh answers.
func StalenessOf(ctx context.Context) *Staleness {
	s, _ := ctx.Value(stalenessKey{}).(*Staleness)
	return s
}

// WithStaleness returns a context of a request whose answer may be as old as limit.
func WithStaleness(ctx context.Context, limit time.Duration) (context.Context, *Staleness) {
	s := &Staleness{Limit: limit}
	return context.WithValue(ctx, stalenessKey{}, s), s
}

// Use says that a part of the answer is so old.
func (s *Staleness) Use(age time.Duration) {
	age = max(age, 1)
	for {
		old := s.age.Load()
		if int64(age) <= old || s.age.CompareAndSwap(old, int64(age)) {
			return
		}
	}
}

// Age returns how old the oldest part is; 0 if all is fresh.
func (s *Staleness) Age() time.Duration { return time.Duration(s.age.Load()) }

// allowStale lets requests have answers that are as old as they allow, which say so by the header Age.
func (a *api) allowStale(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if limit, ok := maxStale(r.Header); ok {
			ctx, s := WithStaleness(r.Context(), limit)
			w, r = &agingWriter{ResponseWriter: w, staleness: s}, r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	})
}

// maxStale returns what Cache-Control says of max-stale. Without a value any age will do. One that is no number of seconds is as
// if it was not there.
func maxStale(header http.Header) (limit time.Duration, ok bool) {
	for _, line := range header.Values("Cache-Control") {
		for directive := range strings.SplitSeq(line, ",") {
			name, value, valued := strings.Cut(strings.TrimSpace(directive), "=")
			if !strings.EqualFold(name, "max-stale") {
				continue
			}
			if !valued {
				return math.MaxInt64, true
			}
			seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31)
			return time.Duration(seconds) * time.Second, err == nil
		}
	}
	return 0, false
}

// agingWriter adds the age to an answer that is not fresh.
type agingWriter struct {
	http.ResponseWriter
	staleness *Staleness
	begun     bool
}

// WriteHeader implements http.ResponseWriter.
func (w *agingWriter) WriteHeader(status int) {
	if age := w.staleness.Age(); !w.begun && age > 0 && status < http.StatusBadRequest {
		seconds := (age + time.Second - 1) / time.Second
		w.Header().Set("Age", strconv.FormatInt(int64(seconds), 10))
	}
	w.begun = w.begun || status >= http.StatusOK
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *agingWriter) Write(b []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController find what w wraps.
func (w *agingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
