package api

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/model/filter"
	"github.com/gnocco-db/gnocco/query"
)

// history shows the states that a resource has been in. Faults of the query are reported before those of the resource.
func (a resourceHandlers) history(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	values := r.URL.Query()
	var details bool
	if err := query.ParseBool(values, "details", &details); err != nil {
		return err
	}
	p, err := a.ParsePage(values, "revision_start:asc", "started_at:asc")
	if err != nil {
		return err
	}
	show := func(w http.ResponseWriter, r *http.Request, who *auth.Identity, resource *model.Resource) error {
		return a.showHistory(w, r, who, resource, details, p)
	}
	return a.readingResource(show)(w, r, who)
}

func (a resourceHandlers) showHistory(w http.ResponseWriter, r *http.Request, who *auth.Identity,
	resource *model.Resource, details bool, p web.Page) error {
	kind, err := a.Index.ResourceType(web.Param(r, "type"))
	if err != nil {
		return err
	}
	order, err := filter.ParseOrder(p.Sort, filter.Scope{Type: kind, Creator: who.User,
		Now: carbonara.FromTime(a.Now()), History: true})
	if err != nil {
		return err
	}
	states, err := a.Index.History(r.Context(), kind.Name, resource.ID)
	if err != nil {
		return err
	}
	var after *model.Resource
	if p.Marker != "" {
		for _, state := range states {
			if revisionMarker(state) == strings.ToLower(p.Marker) {
				after = state
			}
		}
		if after == nil {
			return badPagination("Invalid marker: `" + p.Marker + "'")
		}
	}
	page := filter.NewPage(order.Compare, p.Limit, after)
	for _, state := range states {
		page.Add(state)
	}
	shown := make([]resourceJSON, 0, len(states))
	for _, state := range page.Items() {
		state.Metrics = resource.Metrics
		if !details {
			state = asType(state, kind.Name)
		}
		shown = append(shown, showResource(state))
	}
	if len(shown) > 0 && len(shown) >= p.Limit {
		a.SetLink(w, r, r.URL.Query(), p, revisionMarker(shown[len(shown)-1].Resource))
	}
	return web.WriteJSON(w, http.StatusOK, shown)
}

// revisionMarker identifies a state among the states of all resources.
func revisionMarker(r *model.Resource) string {
	return fmt.Sprintf("%s@%d", r.ID, filter.RevisionNumber(r))
}
