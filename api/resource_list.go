package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/model/filter"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/storage/index"
)

// resourceList is what a list of resources is asked for.
type resourceList struct {
	kind    *model.ResourceType
	filter  *filter.Filter
	sees    func(*model.Resource) bool // nil: all
	order   *filter.Order
	page    web.Page
	history bool     // with past states
	details bool     // with the attributes that kind does not have
	attrs   []string // to show; nil: all
}

// list lists the resources of a type, page by page. A nil who sees all.
func (a resourceHandlers) list(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	return a.answerList(w, r, who, "list resource", nil)
}

// answerList answers with the resources that a filter and a rule let through.
func (a resourceHandlers) answerList(w http.ResponseWriter, r *http.Request, who *auth.Identity, rule string,
	e *filter.Expr) error {
	values := r.URL.Query()
	list, err := a.parseList(values, web.Param(r, "type"), who, e)
	if err != nil {
		return err
	}
	list.sees = a.VisibleResources(who, rule)
	found, err := a.listPage(r.Context(), list)
	if err != nil {
		return err
	}
	shown := make([]resourceJSON, len(found))
	for i, resource := range found {
		if !list.details {
			resource = asType(resource, list.kind.Name)
		}
		shown[i] = resourceJSON{Resource: resource, only: list.attrs}
	}
	if len(found) > 0 && len(found) >= list.page.Limit {
		a.SetLink(w, r, values, list.page, list.marker(found[len(found)-1]))
	}
	return writeResources(w, shown)
}

func (a resourceHandlers) parseList(values url.Values, kind string, who *auth.Identity,
	e *filter.Expr) (*resourceList, error) {
	list := new(resourceList)
	var err error
	if list.kind, err = a.Index.ResourceType(kind); err != nil {
		return nil, err
	}
	err = cmp.Or(query.ParseBool(values, "details", &list.details), query.ParseBool(values, "history", &list.history))
	if err != nil {
		return nil, err
	}
	if list.page, err = a.ParsePage(values, filter.DefaultOrder...); err != nil {
		return nil, err
	}
	for _, name := range values["attrs"] {
		if name != "" {
			list.attrs = append(list.attrs, name)
		}
	}
	scope := a.FilterScope(list.kind, who, list.history)
	if list.order, err = filter.ParseOrder(list.page.Sort, scope); err != nil {
		return nil, err
	}
	list.filter, err = a.CompileFilter(e, scope)
	return list, err
}

// marker is what the next page begins after.
func (l *resourceList) marker(last *model.Resource) string {
	if l.history {
		return revisionMarker(last)
	}
	return last.ID.String()
}

// listPage returns the resources on the page, in order, with their metrics if these are to be shown.
func (a resourceHandlers) listPage(ctx context.Context, list *resourceList) ([]*model.Resource, error) {
	var after *model.Resource
	if list.page.Marker != "" {
		var err error
		if after, err = a.findMarker(ctx, list); err != nil {
			return nil, err
		}
	}
	return a.Index.FindResources(ctx, index.ResourceQuery{Type: list.kind.Name, Filter: list.filter, Order: list.order,
		Limit: list.page.Limit, After: after, History: list.history, Visible: list.sees,
		Metrics: list.attrs == nil || slices.Contains(list.attrs, "metrics")})
}

// findMarker returns the resource, or its state, that the page before ended with.
func (a resourceHandlers) findMarker(ctx context.Context, list *resourceList) (*model.Resource, error) {
	text, revision, hasRevision := strings.Cut(list.page.Marker, "@")
	invalid := badPagination("Invalid marker: `" + list.page.Marker + "'")
	id, err := model.ParseUUID(text)
	if err != nil || hasRevision != list.history {
		return nil, invalid
	}
	states, err := a.statesOf(ctx, list.kind.Name, id, list.history)
	if err != nil {
		return nil, err
	}
	for _, state := range states {
		found := !list.history || revisionMarker(state) == id.String()+"@"+revision
		if found && (list.sees == nil || list.sees(state)) {
			return state, nil
		}
	}
	return nil, invalid
}

// statesOf returns one resource, with its past states if history; none if there is no such resource.
func (a resourceHandlers) statesOf(ctx context.Context, kind string, id uuid.UUID,
	history bool) ([]*model.Resource, error) {
	if history {
		states, err := a.Index.History(ctx, kind, id)
		if errors.Is(err, model.ErrNotFound) {
			return nil, nil
		}
		return states, err
	}
	r, err := a.Index.Resource(kind, id)
	if errors.Is(err, model.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []*model.Resource{r}, nil
}
