package web

import (
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// failureLogPeriod is how often a failure of the same status is told, where many requests fail for one reason: a full
// disk refuses thousands of them a second.
const failureLogPeriod = 10 * time.Second

// failureLog remembers what was told of late.
type failureLog struct {
	mu       sync.Mutex
	told     map[int]time.Time // by status
	withheld map[int]int       // since then
}

// pass reports whether to log a failure now, and how many were withheld since the last one.
func (l *failureLog) pass(status int, now time.Time) (withheld int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last, known := l.told[status]; known && now.Sub(last) < failureLogPeriod {
		l.withheld[status]++
		return 0, false
	}
	if l.told == nil {
		l.told, l.withheld = make(map[int]time.Time), make(map[int]int)
	}
	withheld = l.withheld[status]
	l.told[status], l.withheld[status] = now, 0
	return withheld, true
}

// LogFailure logs requests that failed for no fault of the client's. Each that we have no answer for is an error. Of
// requests that wait for space, time or another server, one in a while is a warning. A request for a method that we do
// not implement is the client's error.
func (e *Env) LogFailure(r *http.Request, answer *Error, err error) {
	level, withheld := slog.LevelError, 0
	switch answer.Status {
	case http.StatusInternalServerError:
	case http.StatusServiceUnavailable, http.StatusInsufficientStorage:
		var ok bool
		if withheld, ok = e.failures.pass(answer.Status, e.Now()); !ok {
			return
		}
		level = slog.LevelWarn
	default:
		return
	}
	e.Logger.Log(r.Context(), level, "request failed", "method", r.Method, "route", e.route(r), "status", answer.Status,
		"withheld", withheld, "error", err)
}
