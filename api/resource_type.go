package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// typeHandlers serve resource types.
type typeHandlers struct{ *api }

func (a typeHandlers) list(w http.ResponseWriter, _ *http.Request, _ *auth.Identity) error {
	return web.WriteJSON(w, http.StatusOK, a.Index.ResourceTypes())
}

func (a typeHandlers) get(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	t, err := a.Index.ResourceType(web.Param(r, "name"))
	return web.Answer(w, t, err)
}

func (a typeHandlers) create(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	fields, err := a.DecodeFields(w, r, "name*", "attributes")
	name, attributes := "", []*model.Attribute(nil)
	web.Take(&err, fields, "name", &name, web.AnyText)
	web.Take(&err, fields, "attributes", &attributes, func(in web.Node) ([]*model.Attribute, error) {
		return parseAttributeList(in, false, carbonara.FromTime(a.Now()))
	})
	if err != nil {
		return err
	}
	t, err := model.NewResourceType(name, attributes)
	if err != nil {
		return invalidInput(err)
	}
	if err := a.Index.CreateResourceType(r.Context(), t); err != nil {
		return err
	}
	a.SetLocation(w, r, "resource_type", name)
	return web.WriteJSON(w, http.StatusCreated, t)
}

// update changes attributes by a JSON Patch.
func (a typeHandlers) update(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	name := web.Param(r, "name")
	if _, err := a.Index.ResourceType(name); err != nil {
		return err
	}
	if err := a.Enforce(who, "update resource type", web.NameTarget(name)); err != nil {
		return err
	}
	body, err := a.DecodeBodyOf(w, r, "application/json-patch+json", web.MaxDocumentBytes)
	if err != nil {
		return err
	}
	operations, err := parsePatch(web.Node{Value: body})
	if err != nil {
		return err
	}
	now := carbonara.FromTime(a.Now())
	t, err := a.Index.UpdateResourceType(r.Context(), name, func(old *model.ResourceType) (*model.ResourceType, error) {
		return applyTypePatch(old, operations, now)
	})
	if _, ok := errors.AsType[*model.FieldError](err); ok {
		return invalidInput(err)
	}
	return web.Answer(w, t, err)
}

// applyTypePatch returns what a patch makes of a type.
func applyTypePatch(old *model.ResourceType, operations []patchOperation,
	now carbonara.Timestamp) (*model.ResourceType, error) {
	patched, err := applyPatch(resourceTypeDocument(old), operations)
	if err != nil {
		return nil, err
	}
	attributes := web.Node{}.At(patched["attributes"], "attributes")
	if attributes.Value == nil { // removed as a whole
		attributes.Value = map[string]any{}
	}
	wanted, err := parseAttributeList(attributes, true, now)
	if err != nil {
		return nil, err
	}
	return old.Update(wanted)
}

// resourceTypeDocument is what a patch of t is applied to.
func resourceTypeDocument(t *model.ResourceType) map[string]any {
	var document map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text.AppendJSON(nil, t)))
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		panic("api: " + err.Error()) // it is our own
	}
	return document
}

func (a typeHandlers) delete(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	name := web.Param(r, "name")
	if _, err := a.Index.ResourceType(name); err != nil {
		return err
	}
	if err := a.Enforce(who, "delete resource type", web.NameTarget(name)); err != nil {
		return err
	}
	return web.NoContent(w, a.Index.DeleteResourceType(r.Context(), name))
}

// invalidInput reports a fault in Gnocchi's words.
func invalidInput(err error) error { return web.BadRequest("Invalid input: %s", err) }
