package api

import (
	"net/http"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
)

// deleteMany deletes the resources that a filter matches, and answers how many. Those that the user may not delete do
// not count as matching: in every mode, where Gnocchi lets everyone delete everyone's in mode basic.
func (a resourceHandlers) deleteMany(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	kind, err := a.Index.ResourceType(web.Param(r, "type"))
	if err != nil {
		return err
	}
	e, err := a.RequestFilter(w, r)
	if err != nil {
		return err
	}
	if e == nil {
		return web.BadRequest("caution: the query can not be empty, or it will delete entire database")
	}
	matches, err := a.CompileFilter(e, a.FilterScope(kind, who, false))
	if err != nil {
		return err
	}
	found, err := a.Index.FindResources(r.Context(), index.ResourceQuery{Type: kind.Name, Filter: matches,
		Visible: func(resource *model.Resource) bool {
			return a.Enforce(who, "delete resources", web.ResourceTarget(resource)) == nil
		}})
	if err != nil {
		return err
	}
	ids := make([]uuid.UUID, len(found))
	for i, resource := range found {
		ids[i] = resource.ID
	}
	deleted, err := a.Index.DeleteResources(r.Context(), ids)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, struct {
		Deleted int `json:"deleted"`
	}{deleted})
}

// createMany creates the resources of a list, each as createResource takes it: all of them, or none.
func (a resourceHandlers) createMany(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	kind, err := a.Index.ResourceType(web.Param(r, "type"))
	if err != nil {
		return err
	}
	body, err := a.DecodeBodyOf(w, r, "application/json", web.MaxBatchBytes)
	if err != nil {
		return err
	}
	list, ok := body.([]any)
	if !ok {
		return web.Node{Value: body}.Fault("expected a list")
	}
	created := make([]index.NewResource, len(list))
	for i, item := range list {
		resource, metrics, err := a.parse(r.Context(), web.Node{}.At(item, i), who, kind)
		if err != nil {
			return err
		}
		created[i] = index.NewResource{Resource: resource, Metrics: metrics}
	}
	if err := a.Index.CreateResources(r.Context(), created); err != nil {
		return refusedParts(err)
	}
	return web.WriteJSON(w, http.StatusCreated, struct {
		Created int `json:"created"`
	}{len(created)})
}
