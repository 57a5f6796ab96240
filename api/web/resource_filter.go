package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/model/filter"
	"github.com/gnocco-db/gnocco/storage/index"
)

// RequestFilter reads the filter of a request: its body, or else its parameter filter, or else nil, which lets
// everything through.
func (e *Env) RequestFilter(w http.ResponseWriter, r *http.Request) (*filter.Expr, error) {
	if HasBody(r) {
		body, err := e.DecodeBody(w, r)
		if err != nil {
			return nil, err
		}
		return Node{Value: body}.filter()
	}
	if text := r.URL.Query().Get("filter"); text != "" {
		return parseFilterText(text)
	}
	return nil, nil
}

// filter reads a filter as a tree.
func (in Node) filter() (*filter.Expr, error) {
	e, err := filter.ParseTree(in.Value)
	return e, in.filterFault(err)
}

// parseFilterText reads a filter as text.
func parseFilterText(text string) (*filter.Expr, error) {
	e, err := filter.ParseText(text)
	return e, Node{}.filterFault(err)
}

// filterFault puts the path of a fault in a tree below that of the tree.
func (in Node) filterFault(err error) error {
	var fault *filter.TreeError
	if !errors.As(err, &fault) {
		return err
	}
	for _, step := range fault.Path {
		in = in.At(nil, step)
	}
	return in.Fault("%s", fault.Reason)
}

// FilterScope is what filters and sort keys of a request are understood by.
func (e *Env) FilterScope(kind *model.ResourceType, who *auth.Identity, history bool) filter.Scope {
	scope := filter.Scope{Type: kind, Now: carbonara.FromTime(e.Now()), History: history}
	if who != nil {
		scope.Creator = who.User
	}
	return scope
}

// HasBody reports whether r has a body of a byte at least.
func HasBody(r *http.Request) bool {
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

// SearchFilter reads a filter of resources, as a tree or as text.
func (in Node) SearchFilter() (*filter.Expr, error) {
	if text, ok := in.Value.(string); ok {
		return parseFilterText(text)
	}
	return in.filter()
}

// FindSorted returns the resources, or with history all their states, that a filter matches and the user may search, in
// the order of these attributes (none: the usual one), with their metrics of these names (nil: all). It also returns
// that order.
func (e *Env) FindSorted(ctx context.Context, who *auth.Identity, kind *model.ResourceType, expr *filter.Expr,
	history bool, attributes, names []string) ([]*model.Resource, *filter.Order, error) {
	if len(attributes) == 0 {
		attributes = filter.DefaultOrder
	}
	scope := e.FilterScope(kind, who, history)
	order, err := filter.ParseOrder(attributes, scope)
	if err != nil {
		return nil, nil, err
	}
	q, err := e.SearchQuery(who, expr, scope, names)
	if err != nil {
		return nil, nil, err
	}
	q.Order, q.History, q.Metrics = order, history, true
	resources, err := e.Index.FindResources(ctx, q)
	return resources, order, err
}

// SearchQuery is a query for the resources in a scope that a filter matches and the user may search, and for these
// names of metrics.
func (e *Env) SearchQuery(who *auth.Identity, expr *filter.Expr, scope filter.Scope, names []string) (
	index.ResourceQuery, error) {
	matches, err := e.CompileFilter(expr, scope)
	return index.ResourceQuery{Type: scope.Type.Name, Filter: matches,
		Visible: e.VisibleResources(who, "search resource"), Names: names}, err
}

// CompileFilter checks a filter of a user's request.
func (e *Env) CompileFilter(expr *filter.Expr, scope filter.Scope) (*filter.Filter, error) {
	if err := e.CheckTerms(expr.Terms()); err != nil {
		return nil, err
	}
	return filter.Compile(expr, scope)
}

func (e *Env) CheckTerms(terms int) error {
	if terms <= e.Limits.SearchTerms {
		return nil
	}
	e.instruments.refusedQueries.WithLabelValues("terms").Inc()
	return BadCause("Too many terms", fmt.Sprintf(
		"The number of comparisons is %d: search in parts, or compare with many values by one \"in\"", terms), e.Limits.SearchTerms)
}
