package api

import (
	"net/http"

	"gnocco/storage/index"
)

// createResources creates the resources of a list, each as createResource takes it: all of them, or none.
func (a *api) createResources(w http.ResponseWriter, r *http.Request, who *Identity) error {
	kind, err := a.Index.ResourceType(param(r, "type"))
	if err != nil {
		return err
	}
	body, err := a.decodeBody(w, r)
	if err != nil {
		return err
	}
	list, ok := body.([]any)
	if !ok {
		return input{value: body}.fault("expected a list")
	}
	created := make([]index.NewResource, len(list))
	for i, item := range list {
		resource, metrics, err := a.parseResource(input{}.at(item, i), who, kind)
		if err != nil {
			return err
		}
		created[i] = index.NewResource{Resource: resource, Metrics: metrics}
	}
	if err := a.Index.CreateResources(r.Context(), created); err != nil {
		return refusedParts(err)
	}
	return writeJSON(w, http.StatusCreated, struct {
		Created int `json:"created"`
	}{len(created)})
}
