package web

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/query/activity"
)

// AccessLog says which requests are logged once they are answered. The zero value logs none.
type AccessLog struct {
	All  bool          // every request
	Slow time.Duration // requests that took longer, with their queries; 0: none
}

// Enabled reports whether any request is logged.
func (l AccessLog) Enabled() bool { return l.All || l.Slow > 0 }

// Validate returns an error for a negative time.
func (l AccessLog) Validate() error {
	if l.Slow < 0 {
		return errors.New("api: AccessLog.Slow is negative")
	}
	return nil
}

// requestLog gathers the attributes of a request's line in the access log.
type requestLog struct {
	user, project, query string
	reads                *activity.Query // nil: the request reads no archive
}

type requestLogKey struct{}

// requestLogOf returns the log of the request with a context, nil if the request is not logged.
func requestLogOf(ctx context.Context) *requestLog {
	l, _ := ctx.Value(requestLogKey{}).(*requestLog)
	return l
}

// noteUser notes the user of a request.
func noteUser(ctx context.Context, who *auth.Identity) {
	if l := requestLogOf(ctx); l != nil {
		l.user, l.project = who.User, who.ProjectID
	}
}

// NoteQuery notes the query of a request where the URL does not have it: without times for the activity, and whole for
// the access log.
func NoteQuery(ctx context.Context, text string, whole func() string) {
	activity.Of(ctx).Describe(text)
	if l := requestLogOf(ctx); l != nil {
		l.query = whole()
	}
}

// requestIDHeader is a header of the request, or else of this server, which the answer repeats. A request that is
// passed on to another process keeps it.
const requestIDHeader = "X-Request-Id"

var requestID = regexp.MustCompile(`^[A-Za-z0-9._:+/=-]{1,128}$`)

// begin starts the log of a request, if requests are logged.
func (e *Env) begin(w http.ResponseWriter, r *http.Request) (*http.Request, *requestLog) {
	id := r.Header.Get(requestIDHeader)
	if !requestID.MatchString(id) {
		if id = ""; !e.AccessLog.Enabled() {
			return r, nil
		}
		var random [8]byte
		for i := range random {
			random[i] = byte(rand.Uint32())
		}
		id = hex.EncodeToString(random[:])
		r.Header.Set(requestIDHeader, id)
	}
	w.Header().Set(requestIDHeader, id)
	if !e.AccessLog.Enabled() {
		return r, nil
	}
	l := new(requestLog)
	return r.WithContext(context.WithValue(r.Context(), requestLogKey{}, l)), l
}

// maxLoggedQuery is how much of a query is logged.
const maxLoggedQuery = 4 << 10

// logRequest logs a request that is answered.
func (e *Env) logRequest(r *http.Request, l *requestLog, answer *statusWriter, took time.Duration) {
	slow := e.AccessLog.Slow > 0 && took > e.AccessLog.Slow
	if !slow && !e.AccessLog.All {
		return
	}
	attributes := []slog.Attr{
		slog.String("id", r.Header.Get(requestIDHeader)), slog.String("client", r.RemoteAddr),
		slog.String("user", l.user), slog.String("project", l.project), slog.String("method", r.Method),
		slog.String("path", r.URL.Path), slog.String("route", e.route(r)), slog.Int("status", answer.status),
		slog.Float64("ms", float64(took.Microseconds())/1000), slog.Int64("bytes", answer.bytes),
		slog.Int64("metrics_read", l.reads.Metrics()), slog.Int64("groups_read", l.reads.Groups()),
	}
	// traceparent is version-trace-span-flags.
	if parts := strings.Split(r.Header.Get("Traceparent"), "-"); len(parts) >= 4 && len(parts[1]) == 32 {
		attributes = append(attributes, slog.String("trace", parts[1]))
	}
	level, message := slog.LevelInfo, "request"
	if slow {
		level, message = slog.LevelWarn, "slow request"
		query := cmp.Or(l.query, r.URL.RawQuery)
		attributes = append(attributes, slog.String("query", query[:min(len(query), maxLoggedQuery)]))
	}
	e.Logger.LogAttrs(r.Context(), level, message, attributes...)
}
