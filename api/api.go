package api

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/query/correlations"
	"github.com/gnocco-db/gnocco/query/postings"
	evaluation "github.com/gnocco-db/gnocco/query/promql"

	"github.com/go-chi/chi/v5"
)

// api serves the routes. It is shared by all requests; what changes in it has locks of its own.
type api struct {
	Options
	authorizer
	instruments *instruments
	failures    failureLog
	incoming    budget.Pool[incomingScratch]
	outgoing    budget.Pool[outgoingScratch]
	turns       *turns

	reader       *query.Reader
	ingester     *ingest.Ingester
	correlations *correlations.Jobs
	prometheus   budget.Pool[prometheusScratch]
	collision    sync.Once // said of Gnocchi's mapping of Prometheus' series
	newSeries    newSeries
	sentMetadata seriesMetadata
	influx       budget.Pool[influxScratch]
}

// New returns the handler of the whole API. The stores stay the caller's: close them after the server has stopped.
func New(options Options) (http.Handler, error) {
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return nil, err
	}
	a := &api{Options: options, authorizer: authorizer{options.Auth, options.Policy, options.Index}}
	a.reader = &query.Reader{Archives: a.Archives, Resampler: a.Resampler}
	a.Correlations.Budget = a.Budget
	a.correlations = correlations.New(a.reader, a.Correlations)
	a.ingester = ingest.New(ingest.Options{Index: a.Index, Incoming: a.Incoming, Sacks: a.Sacks,
		KnownMetrics: a.KnownMetrics, MaxFuture: a.Limits.MaxFuture, Timeout: appendTimeout, Now: a.now})
	var err error
	if a.instruments, err = newInstruments(options.Registerer); err != nil {
		return nil, err
	}
	kept := a.Budget.MostKept()
	a.incoming.Most, a.prometheus.Most, a.influx.Most = kept, kept, kept
	a.turns = newTurns(&a.Limits, a.instruments)
	router := chi.NewRouter()
	router.Use(a.observe, a.account, origins(a.CORSOrigins).cors, a.sameOrigin(), a.requireText,
		normalizePath, a.allowStale)
	if a.Index == nil {
		router.NotFound(a.Elsewhere.ServeHTTP)
		router.MethodNotAllowed(a.Elsewhere.ServeHTTP)
		a.routesWithoutIndex(router, "")
		if a.Prefix != "" {
			a.routesWithoutIndex(router, a.Prefix)
		}
		return router, nil
	}
	a.warnOfSeriesPolicy()
	router.NotFound(a.public(func(http.ResponseWriter, *http.Request) error {
		return &Error{Status: http.StatusNotFound}
	}))
	router.MethodNotAllowed(a.public(func(w http.ResponseWriter, r *http.Request) error {
		if err := a.checkRouteType(router, r); err != nil {
			return err
		}
		w.Header().Set("Allow", strings.Join(allowedMethods(router, r), ", "))
		return &Error{Status: http.StatusMethodNotAllowed}
	}))
	series := postings.New(a.Index, postings.Options{Bytes: a.LabelBytes, Budget: a.Budget,
		Ceilometer: a.PromQLNames == CeilometerNames})
	promql := promqlHandlers{a, evaluation.New(evaluation.Options{Archives: a.Archives, Series: series,
		Policies: a.Index.ArchivePolicies, MaxSamples: a.QuerySamples, Logger: a.Logger, Now: a.now}), series}
	a.routes(router, "", promql)
	if a.Prefix != "" {
		a.routes(router, a.Prefix, promql)
	}
	return router, nil
}

// A handler answers a request. If it returns an error it has written nothing.
type handler func(w http.ResponseWriter, r *http.Request) error

// A userHandler is a handler that needs to know who sent the request.
type userHandler func(w http.ResponseWriter, r *http.Request, who *auth.Identity) error

// public serves h to everyone, also without credentials.
func (a *api) public(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			a.fail(w, r, err)
		}
	}
}

// acceptJSON is public, for clients that accept JSON.
func (a *api) acceptJSON(h handler) http.HandlerFunc {
	return a.public(func(w http.ResponseWriter, r *http.Request) error {
		// A DELETE has no answer: whatever its client accepts is fine.
		if r.Method != http.MethodDelete && !acceptsJSON(r) {
			return &Error{Status: http.StatusNotAcceptable}
		}
		return h(w, r)
	})
}

// authenticated serves h to users with valid credentials who accept JSON.
func (a *api) authenticated(h userHandler) http.HandlerFunc {
	return a.acceptJSON(a.withIdentity(h))
}

// authenticatedAnyType serves h to users with valid credentials, whatever they accept. It is for answers without
// content, which other databases' protocols have, and for those that choose their type.
func (a *api) authenticatedAnyType(h userHandler) http.HandlerFunc {
	return a.public(a.withIdentity(h))
}

func (a *api) withIdentity(h userHandler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		who, err := a.authenticate(w, r)
		if err != nil {
			a.instruments.countLogin(r, err)
			return err
		}
		return h(w, r, who)
	}
}

// fail answers with err, and logs it if the fault is ours or the machine's.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, text.ErrSent) {
		panic(http.ErrAbortHandler)
	}
	answer := asError(err)
	if r.Context().Err() == nil { // else the client has given up
		a.logFailure(r, answer, err)
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

// lingerTime is for how long the rest of a refused body is read.
const lingerTime = 5 * time.Second

// answerBeforeBody refuses a request whose body the client may still be sending. What comes is thrown away: were the
// connection closed at once, the client would find it reset, rather than the answer.
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

// allowedMethods lists the methods that r's path can be called with, by name.
func allowedMethods(router chi.Routes, r *http.Request) []string {
	path := routePath(r)
	var methods []string
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPatch,
		http.MethodPost, http.MethodPut} {
		if router.Match(chi.NewRouteContext(), method, path) {
			methods = append(methods, method)
		}
	}
	return methods
}

// routePath is the path by which the router matches r.
func routePath(r *http.Request) string {
	if path := chi.RouteContext(r.Context()).RoutePath; path != "" {
		return path
	}
	return r.URL.Path
}
