package web

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/query"
)

type stalenessKey struct{}

// StalenessOf returns the staleness that the request's client allows (Cache-Control: max-stale, RFC 9111); nil for
// fresh answers only.
func StalenessOf(ctx context.Context) *query.Staleness {
	s, _ := ctx.Value(stalenessKey{}).(*query.Staleness)
	return s
}

// AllowStale lets requests have answers that are as old as they allow, which say so by the header Age.
func AllowStale(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if limit, ok := maxStale(r.Header); ok {
			s := &query.Staleness{Limit: limit}
			w, r = &agingWriter{ResponseWriter: w, staleness: s}, r.WithContext(context.WithValue(r.Context(),
				stalenessKey{}, s))
		}
		next.ServeHTTP(w, r)
	})
}

// maxStale returns what Cache-Control says of max-stale. Without a value any age will do. One that is no number of
// seconds is as if it was not there.
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
	staleness *query.Staleness
	begun     bool
}

func (w *agingWriter) WriteHeader(status int) {
	if age := w.staleness.Age(); !w.begun && age > 0 && status < http.StatusBadRequest {
		seconds := (age + time.Second - 1) / time.Second
		w.Header().Set("Age", strconv.FormatInt(int64(seconds), 10))
	}
	w.begun = w.begun || status >= http.StatusOK
	w.ResponseWriter.WriteHeader(status)
}

func (w *agingWriter) Write(b []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController find what w wraps.
func (w *agingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
