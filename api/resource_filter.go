package api

import (
	"bufio"
	"errors"
	"io"
	"net/http"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/model/filter"
)

// requestFilter reads the filter of a request: its body, or else its parameter filter, or else nil, which lets
// everything through.
func (a *api) requestFilter(w http.ResponseWriter, r *http.Request) (*filter.Expr, error) {
	if hasBody(r) {
		body, err := a.decodeBody(w, r)
		if err != nil {
			return nil, err
		}
		return jsonValue{value: body}.filter()
	}
	if text := r.URL.Query().Get("filter"); text != "" {
		return parseFilterText(text)
	}
	return nil, nil
}

// filter reads a filter as a tree.
func (in jsonValue) filter() (*filter.Expr, error) {
	e, err := filter.ParseTree(in.value)
	return e, in.filterFault(err)
}

// parseFilterText reads a filter as text.
func parseFilterText(text string) (*filter.Expr, error) {
	e, err := filter.ParseText(text)
	return e, jsonValue{}.filterFault(err)
}

// filterFault puts the path of a fault in a tree below that of the tree.
func (in jsonValue) filterFault(err error) error {
	var fault *filter.TreeError
	if !errors.As(err, &fault) {
		return err
	}
	for _, step := range fault.Path {
		in = in.at(nil, step)
	}
	return in.fault("%s", fault.Reason)
}

// filterScope is what filters and sort keys of a request are understood by.
func (a *api) filterScope(kind *model.ResourceType, who *auth.Identity, history bool) filter.Scope {
	scope := filter.Scope{Type: kind, Now: carbonara.FromTime(a.now()), History: history}
	if who != nil {
		scope.Creator = who.User
	}
	return scope
}

// hasBody reports whether r has a body of a byte at least.
func hasBody(r *http.Request) bool {
	if r.ContentLength >= 0 {
		return r.ContentLength > 0
	}
	reader := bufio.NewReader(r.Body)
	_, err := reader.Peek(1)
	r.Body = struct {
		io.Reader
		io.Closer
	}{reader, r.Body}
	return err == nil
}
