package api

import (
	"net/http"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/storage/index"
)

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
		resource, metrics, err := a.parse(web.Node{}.At(item, i), who, kind)
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
