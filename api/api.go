package api

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
)

// api serves the routes. It is shared by all requests; what changes in it has locks of its own.
type api struct {
	Options
	metrics  *metrics
	failures failureLog
	incoming scratchPool[incomingScratch]
	outgoing scratchPool[outgoingScratch]

	known        *knownMetrics
	correlations *correlationJobs
	prometheus   scratchPool[prometheusScratch]
	influx       scratchPool[influxScratch]
}

// New returns the handler of the whole API. The stores stay the caller's: close them after the server has stopped.
func New(options Options) (http.Handler, error) {
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return nil, err
	}
	a := &api{Options: options, known: newKnownMetrics(options.KnownMetrics), correlations: newCorrelationJobs()}
	var err error
	if a.metrics, err = newMetrics(options.Registerer); err != nil {
		return nil, err
	}
	router := chi.NewRouter()
	router.Use(a.observe, a.cors, a.requireText, trimSlash, a.allowStale)
	if a.Index == nil {
		router.NotFound(a.Elsewhere.ServeHTTP)
		router.MethodNotAllowed(a.Elsewhere.ServeHTTP)
		a.routesApart(router, "")
		if a.Prefix != "" {
			a.routesApart(router, a.Prefix)
		}
		return router, nil
	}
	router.NotFound(a.open(func(http.ResponseWriter, *http.Request) error { return &Error{Status: http.StatusNotFound} }))
	router.MethodNotAllowed(a.open(func(w http.ResponseWriter, r *http.Request) error {
		if err := a.checkRouteType(router, r); err != nil {
			return err
		}
		w.Header().Set("Allow", strings.Join(allowedMethods(router, r), ", "))
		return &Error{Status: http.StatusMethodNotAllowed}
	}))
	a.routes(router, "")
	if a.Prefix != "" {
		a.routes(router, a.Prefix)
	}
	return router, nil
}

// A handler answers a request, or returns why it does not, having written nothing.
type handler func(w http.ResponseWriter, r *http.Request) error

// A userHandler is a handler that needs to know who sent the request.
type userHandler func(w http.ResponseWriter, r *http.Request, who *Identity) error

// open serves h to everyone, also without credentials.
func (a *api) open(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			a.fail(w, r, err)
		}
	}
}

// json is open, for who accepts JSON.
func (a *api) json(h handler) http.HandlerFunc {
	return a.open(func(w http.ResponseWriter, r *http.Request) error {
		// A DELETE answers nothing: whatever its client accepts is fine.
		if r.Method != http.MethodDelete && !acceptsJSON(r) {
			return &Error{Status: http.StatusNotAcceptable}
		}
		return h(w, r)
	})
}

// as serves h to who has credentials.
func (a *api) as(h userHandler) http.HandlerFunc {
	return a.json(func(w http.ResponseWriter, r *http.Request) error {
		who, err := a.authenticate(w, r)
		if err != nil {
			return err
		}
		return h(w, r, who)
	})
}

// fail answers with err. It is where errors are logged: those that are our own fault, or the machine's.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	answer := asError(err)
	if r.Context().Err() == nil { // else the client has given up
		a.logFailure(r, answer, err)
	}
	if answer.Status == http.StatusRequestEntityTooLarge {
		w.Header().Set("Connection", "close") // rather than to read the rest
	}
	answer.write(w, r)
}

// allowedMethods lists the methods that r's path can be called with, by name.
func allowedMethods(router chi.Routes, r *http.Request) []string {
	path := routePath(r)
	var methods []string
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPatch, http.MethodPost, http.MethodPut} {
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
