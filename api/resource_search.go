package api

import (
	"context"
	"net/http"

	"gnocco/api/auth"
	"gnocco/model"
	"gnocco/model/filter"
	"gnocco/storage/index"
)

// search lists the resources that a filter matches, page by page.
func (a resourceHandlers) search(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	if _, err := a.Index.ResourceType(param(r, "type")); err != nil {
		return err
	}
	e, err := a.requestFilter(w, r)
	if err != nil {
		return err
	}
	if w, err = a.turn(w, r, who); err != nil {
		return err
	}
	return a.answerList(w, r, who, "search resource", e)
}

// findResources returns all resources of a type, or with history all their states, that a filter matches and the rule
// shows to who: in the order of their IDs, states oldest first, without their metrics (see index.Store.AddMetrics). It
// is for requests that go on with what they find.
func (a *api) findResources(ctx context.Context, who *auth.Identity, rule, kind string, e *filter.Expr, history bool) ([]*model.Resource, error) {
	resourceType, err := a.Index.ResourceType(kind)
	if err != nil {
		return nil, err
	}
	matches, err := a.compileFilter(e, a.filterScope(resourceType, who, history), who)
	if err != nil {
		return nil, err
	}
	return a.Index.FindResources(ctx, index.ResourceQuery{Type: kind, Filter: matches, History: history, Where: a.visibleResources(who, rule)})
}
