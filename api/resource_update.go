package api

import (
	"errors"
	"net/http"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
)

// update changes what the body names; metrics become those that it names.
func (a resourceHandlers) update(w http.ResponseWriter, r *http.Request, who *auth.Identity,
	resource *model.Resource) error {
	if _, err := checkPreconditions(r, resource); err != nil { // before the body is looked at
		return err
	}
	body, err := a.decodeBody(w, r)
	if err != nil {
		return err
	}
	kind, err := a.Index.ResourceType(param(r, "type"))
	if err != nil {
		return err
	}
	now := carbonara.FromTime(a.now())
	in := jsonValue{value: body}
	fields, err := in.fields(resourceKeys(kind, "")...)
	if err != nil {
		return err
	}
	var set *index.MetricSet
	if field, ok := fields["metrics"]; ok {
		if set, err = a.parseMetricSet(field, who); err != nil {
			return err
		}
	}
	if err := parseAttributes(fields, kind, now, &model.Resource{}); err != nil { // a fault is told without a write
		return err
	}
	updated, err := a.Index.UpdateResource(r.Context(), kind.Name, resource.ID, now,
		func(current *model.Resource) (*index.MetricSet, error) {
			if err := a.enforce(who, "update resource", resourceTarget(current)); err != nil {
				return nil, err
			}
			if _, err := checkPreconditions(r, current); err != nil {
				return nil, err
			}
			return set, parseAttributes(fields, kind, now, current)
		})
	if err != nil {
		return refusedParts(err)
	}
	setRevision(w, updated)
	return writeJSON(w, http.StatusOK, showResource(asType(updated, kind.Name)))
}

// refusedParts turns a metric or an archive policy that the body names, and which is missing, into a fault of the body.
func refusedParts(err error) error {
	var object *model.ObjectError
	if errors.As(err, &object) && object.Kind == model.ErrNotFound && object.Noun != model.NounResource &&
		object.Noun != model.NounResourceType {
		return refused(err)
	}
	return err
}

// resourceKeys are what the body of a resource of a type may hold, for jsonValue.fields; those of required attributes
// with a suffix.
func resourceKeys(kind *model.ResourceType, required string) []string {
	keys := []string{"started_at", "ended_at", "user_id", "project_id", "metrics"}
	for _, attribute := range kind.Attributes {
		name := attribute.Name
		if attribute.Required {
			name += required
		}
		keys = append(keys, name)
	}
	return keys
}

// parseAttributes sets what fields name, other than ID and metrics.
func parseAttributes(fields map[string]jsonValue, kind *model.ResourceType, now carbonara.Timestamp,
	to *model.Resource) error {
	if field, ok := fields["started_at"]; ok {
		t, err := field.timestamp(now)
		if err != nil {
			return field.fault("not a valid value")
		}
		to.StartedAt = t
	}
	if field, ok := fields["ended_at"]; ok {
		t, err := field.timestamp(now)
		if err != nil {
			return field.fault("not a valid value")
		}
		to.EndedAt = &t
	}
	if err := parseOwner(fields, "user_id", &to.UserID); err != nil {
		return err
	}
	if err := parseOwner(fields, "project_id", &to.ProjectID); err != nil {
		return err
	}
	for _, attribute := range kind.Attributes {
		field, ok := fields[attribute.Name]
		if !ok {
			continue
		}
		value, err := field.attributeValue(attribute, now)
		if err != nil {
			return err
		}
		to.Attributes.Set(attribute.Name, value)
	}
	return nil
}

// parseOwner sets to if the field is given.
func parseOwner(fields map[string]jsonValue, key string, to **string) error {
	field, ok := fields[key]
	if !ok {
		return nil
	}
	if *to = nil; field.value == nil {
		return nil
	}
	text, err := field.text(255)
	if err != nil {
		return field.fault("not a valid value")
	}
	*to = &text
	return nil
}
