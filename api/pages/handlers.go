package pages

import (
	"net/http"

	"github.com/gnocco-db/gnocco/api/web"
)

// Handlers answer browsers.
type Handlers struct{ *web.Env }

// Routes are those of a process with an index; "" is the root.
func (a *Handlers) Routes(at func(method, path string, h http.HandlerFunc)) {
	a.RoutesWithoutIndex(at)
	page := both(at)
	page("", consoleForBrowsers(a.AcceptJSON(a.getVersions)))
	page("/openapi.yaml", a.Public(getDescription))
	page("/docs", a.Public(getDocs))
	page("/docs/{file}", a.Public(getDocsFile))
	page("/v1", a.Public(a.redirectToV1))
	page("/v1/", a.AcceptJSON(a.getV1))

	boards := boardHandlers{a.Env}
	at("GET", "/v1/boards", a.Authenticated(boards.list))
	at("POST", "/v1/boards", a.Authenticated(boards.create))
	at("GET", "/v1/boards/{id}", a.Authenticated(boards.get))
	at("PUT", "/v1/boards/{id}", a.Authenticated(boards.replace))
	at("DELETE", "/v1/boards/{id}", a.Authenticated(boards.delete))
}

// RoutesWithoutIndex are those of each process.
func (a *Handlers) RoutesWithoutIndex(at func(method, path string, h http.HandlerFunc)) {
	a.console(both(at))
	at("GET", "/v1/authentication", a.AcceptJSON(a.getAuthentication))
	at("POST", "/v1/session", a.Authenticated(a.postSession))
	at("DELETE", "/v1/session", a.AcceptJSON(a.deleteSession))
}

// both adds HEAD to GET, for those that check whether a page is there. Gnocchi refuses it on what else is below /v1.
func both(at func(method, path string, h http.HandlerFunc)) func(path string, h http.HandlerFunc) {
	return func(path string, h http.HandlerFunc) {
		at("GET", path, h)
		at("HEAD", path, h)
	}
}
