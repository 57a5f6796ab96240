package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// typeHandlers serve resource types.
type typeHandlers struct{ *api }

func (a typeHandlers) list(w http.ResponseWriter, _ *http.Request, _ *auth.Identity) error {
	return writeJSON(w, http.StatusOK, a.Index.ResourceTypes())
}

func (a typeHandlers) get(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	t, err := a.Index.ResourceType(param(r, "name"))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, t)
}

func (a typeHandlers) create(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	fields, err := a.decodeFields(w, r, "name*", "attributes")
	if err != nil {
		return err
	}
	name, err := fields["name"].text(0)
	if err != nil {
		return err
	}
	var attributes []*model.Attribute
	if field, ok := fields["attributes"]; ok {
		if attributes, err = field.attributes(false, carbonara.FromTime(a.now())); err != nil {
			return err
		}
	}
	t, err := model.NewResourceType(name, attributes)
	if err != nil {
		return invalidInput(err)
	}
	if err := a.Index.CreateResourceType(r.Context(), t); err != nil {
		return err
	}
	a.setLocation(w, r, "resource_type", name)
	return writeJSON(w, http.StatusCreated, t)
}

// update changes attributes by a JSON Patch.
func (a typeHandlers) update(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	name := param(r, "name")
	if _, err := a.Index.ResourceType(name); err != nil {
		return err
	}
	if err := a.enforce(who, "update resource type", nameTarget(name)); err != nil {
		return err
	}
	body, err := a.decodeBodyOf(w, r, "application/json-patch+json", maxDocumentBytes)
	if err != nil {
		return err
	}
	operations, err := parsePatch(jsonValue{value: body})
	if err != nil {
		return err
	}
	now := carbonara.FromTime(a.now())
	t, err := a.Index.UpdateResourceType(r.Context(), name, func(old *model.ResourceType) (*model.ResourceType, error) {
		return applyTypePatch(old, operations, now)
	})
	var field *model.FieldError
	if errors.As(err, &field) {
		return invalidInput(err)
	}
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, t)
}

// applyTypePatch returns what a patch makes of a type.
func applyTypePatch(old *model.ResourceType, operations []patchOperation,
	now carbonara.Timestamp) (*model.ResourceType, error) {
	patched, err := applyPatch(resourceTypeDocument(old), operations)
	if err != nil {
		return nil, err
	}
	attributes := jsonValue{}.at(patched["attributes"], "attributes")
	if attributes.value == nil { // removed as a whole
		attributes.value = map[string]any{}
	}
	wanted, err := attributes.attributes(true, now)
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
	name := param(r, "name")
	if _, err := a.Index.ResourceType(name); err != nil {
		return err
	}
	if err := a.enforce(who, "delete resource type", nameTarget(name)); err != nil {
		return err
	}
	if err := a.Index.DeleteResourceType(r.Context(), name); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// invalidInput reports a fault in Gnocchi's words.
func invalidInput(err error) error { return badRequest("Invalid input: %s", err) }
