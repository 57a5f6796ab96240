package api

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gnocco-db/gnocco/api/promql"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/internal/budget"
)

// account gives each request an account of the memory that requests share, and takes all back at its end.
func (a *api) account(next http.Handler) http.Handler {
	if a.Budget == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := a.Budget.Context(r.Context())
		defer ctx.Close()
		r = r.WithContext(ctx)
		next.ServeHTTP(&accountWriter{ResponseWriter: w, request: r, account: &ctx.Account, refuse: a.refusalOf(r)}, r)
	})
}

// accountWriter takes memory for an answer that is sent as a whole, until the client has read it, or refuses the
// request in its place, unless a text.Writer asked first.
type accountWriter struct {
	http.ResponseWriter
	request *http.Request
	account *budget.Account
	refuse  func(http.ResponseWriter, *http.Request, error)
	begun   bool
	refused bool

	admitted bool // memory is taken for all of the answer
}

func (w *accountWriter) WriteHeader(status int) {
	w.begun = w.begun || status >= http.StatusOK
	if length := w.Header()["Content-Length"]; !w.admitted && len(length) == 1 && len(length[0]) > len("65536") {
		bytes, _ := strconv.Atoi(length[0])
		if err := w.Admit(bytes); err != nil {
			w.refused = true
			w.refuse(w.ResponseWriter, w.request, err)
			return
		}
	}
	w.account.Unreserve() // no more is read
	w.ResponseWriter.WriteHeader(status)
}

// Admit implements text.Admitter.
func (w *accountWriter) Admit(bytes int) error {
	err := w.account.Acquire(budget.Answers, int64(bytes))
	w.admitted = err == nil
	return err
}

func (w *accountWriter) Write(b []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	if w.refused {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *accountWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// refusalOf returns the form in which a request is refused before its route is known.
func (a *api) refusalOf(r *http.Request) func(http.ResponseWriter, *http.Request, error) {
	route, ok := strings.CutPrefix(strings.TrimPrefix(r.URL.Path, a.Prefix), promql.Prefix)
	if ok && route != "/write" && !strings.HasPrefix(route, "/otlp/") && !strings.HasPrefix(route, "/import") {
		return promql.Refuse
	}
	return web.Refuse
}
