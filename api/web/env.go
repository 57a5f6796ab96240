package web

import (
	"cmp"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/query/activity"
)

// Env has the shared parts of all protocols' handlers: permissions, the limits of a request, the process's log and
// metrics. All requests share it; its parts that change have locks of their own.
type Env struct {
	Authorizer
	MaxBodyBytes int64  // of a request
	MaxLimit     int    // most items of one page, and the default
	Prefix       string // where the API is found a second time; "" for nowhere
	ProxyHeaders bool   // believe Forwarded and X-Forwarded-*
	Limits       Limits
	AccessLog    AccessLog
	Budget       *budget.Budget    // nil: no bound
	Activity     *activity.Tracker // nil: one of its own
	Logger       *slog.Logger
	Now          func() time.Time
	instruments  *instruments
	turns        *turns
	failures     failureLog
}

// NewEnv completes e.
func NewEnv(e *Env, registerer prometheus.Registerer) *Env {
	if e.Activity == nil {
		e.Activity = activity.New(1 << 20)
	}
	e.instruments = newInstruments(registerer)
	e.turns = newTurns(&e.Limits, e.instruments)
	return e
}

// A handler answers a request. If it returns an error it has written nothing.
type handler func(w http.ResponseWriter, r *http.Request) error

// A UserHandler is a handler that needs to know who sent the request.
type UserHandler func(w http.ResponseWriter, r *http.Request, who *auth.Identity) error

// Public serves h to everyone, also without credentials.
func (e *Env) Public(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			e.Fail(w, r, err)
		}
	}
}

// AcceptJSON is public, for clients that accept JSON.
func (e *Env) AcceptJSON(h handler) http.HandlerFunc {
	return e.Public(func(w http.ResponseWriter, r *http.Request) error {
		// A DELETE has no answer, so its client may accept any type.
		if r.Method != http.MethodDelete && !AcceptsJSON(r) {
			return &Error{Status: http.StatusNotAcceptable}
		}
		return h(w, r)
	})
}

// Authenticated serves h to users with valid credentials who accept JSON.
func (e *Env) Authenticated(h UserHandler) http.HandlerFunc { return e.AcceptJSON(e.WithIdentity(h)) }

// AuthenticatedRows is Authenticated for answers of rows, which AcceptedRows can write for other clients.
func (e *Env) AuthenticatedRows(h UserHandler) http.HandlerFunc {
	return e.Public(func(w http.ResponseWriter, r *http.Request) error {
		if AcceptedRows(r) == nil {
			return &Error{Status: http.StatusNotAcceptable}
		}
		return e.WithIdentity(h)(w, r)
	})
}

// AuthenticatedAnyType serves h to users with valid credentials, with any types that they accept. It is for answers
// without content, which other databases' protocols have, and for those that choose their type.
func (e *Env) AuthenticatedAnyType(h UserHandler) http.HandlerFunc {
	return e.Public(e.WithIdentity(h))
}

func (e *Env) WithIdentity(h UserHandler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		who, err := e.Authenticate(w, r)
		if err != nil {
			e.instruments.countLogin(r, err)
			return err
		}
		return h(w, r, who)
	}
}

// Authorized serves h to users whom the rule permits for any object of the request. Handlers enforce the rules that
// depend on a target.
func (e *Env) Authorized(rule string, h UserHandler) http.HandlerFunc {
	return e.Authenticated(func(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
		if err := e.Enforce(who, rule, nil); err != nil {
			return err
		}
		return h(w, r, who)
	})
}

// AuthorizedList serves a list of the elements that the rule lets the user see: h calls visibleResources or
// visibleMetrics. If everyone sees all of it, no credentials are needed and h gets no user.
func (e *Env) AuthorizedList(rule string, h UserHandler) http.HandlerFunc {
	if e.unrestricted(rule) {
		return e.AcceptJSON(func(w http.ResponseWriter, r *http.Request) error { return h(w, r, nil) })
	}
	return e.Authenticated(h)
}

// Fail answers with err, and logs it if the fault is ours or the machine's.
func (e *Env) Fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, text.ErrSent) {
		panic(http.ErrAbortHandler)
	}
	answer := AsError(err)
	if r.Context().Err() == nil { // else the client has given up
		e.LogFailure(r, answer, err)
	}
	switch answer.Status {
	case http.StatusRequestEntityTooLarge:
		w.Header().Set("Connection", "close")
		answerBeforeBody(w, r, answer)
		return
	case http.StatusServiceUnavailable:
		answerBeforeBody(w, r, answer)
		return
	case http.StatusRequestTimeout:
		w.Header().Set("Connection", "close") // rather than to read the rest
	}
	answer.write(w, r)
}

// FailAs logs an error and answers it by a function of a protocol of its own, with a status and a sentence.
func (e *Env) FailAs(w http.ResponseWriter, r *http.Request, err error, answer func(status int, text string)) {
	known := AsError(err)
	if r.Context().Err() == nil { // else the client has given up
		e.LogFailure(r, known, err)
	}
	if known.Status == http.StatusServiceUnavailable || known.Status == http.StatusTooManyRequests {
		after := strconv.Itoa(max(int(math.Ceil(known.After.Seconds())), 1))
		w.Header().Set("Retry-After", cmp.Or(w.Header().Get("Retry-After"), after))
	}
	shown := Error{Detail: Bounded(known.Detail)}
	answer(known.Status, cmp.Or(shown.Description(), http.StatusText(known.Status)))
}

// lingerTime is for how long the rest of a refused body is read.
const lingerTime = 5 * time.Second

// answerBeforeBody refuses a request whose body the client may still be sending. The rest of the body is discarded: if
// the connection closed at once, the client would find it reset, rather than the answer.
func answerBeforeBody(w http.ResponseWriter, r *http.Request, answer *Error) {
	connection := http.NewResponseController(w)
	if r.ContentLength == 0 || r.Header.Get("Expect") != "" || connection.EnableFullDuplex() != nil {
		answer.write(w, r)
		return
	}
	answer.write(w, r)
	if connection.Flush() != nil {
		return
	}
	buffer := make([]byte, 16<<10)
	for end := time.Now().Add(lingerTime); time.Now().Before(end); {
		if _, err := r.Body.Read(buffer); err != nil {
			return
		}
	}
}
