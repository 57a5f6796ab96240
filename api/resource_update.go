package api

import (
	"errors"
	"net/http"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
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
	body, err := a.DecodeBody(w, r)
	if err != nil {
		return err
	}
	kind, err := a.Index.ResourceType(web.Param(r, "type"))
	if err != nil {
		return err
	}
	now := carbonara.FromTime(a.Now())
	in := web.Node{Value: body}
	fields, err := in.Fields(resourceKeys(kind, "")...)
	if err != nil {
		return err
	}
	var set *index.MetricSet
	if field, ok := fields["metrics"]; ok {
		if set, err = a.parseMetricSet(r.Context(), field, who); err != nil {
			return err
		}
	}
	if err := parseAttributes(fields, kind, now, &model.Resource{}); err != nil { // a fault is told without a write
		return err
	}
	updated, err := a.Index.UpdateResource(r.Context(), kind.Name, resource.ID, now,
		func(current *model.Resource) (*index.MetricSet, error) {
			if err := a.Enforce(who, "update resource", web.ResourceTarget(current)); err != nil {
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
	return web.WriteJSON(w, http.StatusOK, showResource(asType(updated, kind.Name)))
}

// refusedParts turns a metric or an archive policy that the body names, and which is missing, into a fault of the body.
func refusedParts(err error) error {
	var object *model.ObjectError
	if errors.As(err, &object) && object.Kind == model.ErrNotFound && object.Noun != model.NounResource &&
		object.Noun != model.NounResourceType {
		return web.Refused(err)
	}
	return err
}

// resourceKeys are the keys that the body of a resource of a type may hold, for web.Node.Fields. Required attributes
// have a suffix.
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
func parseAttributes(fields map[string]web.Node, kind *model.ResourceType, now carbonara.Timestamp,
	to *model.Resource) error {
	timestamp := func(field web.Node) (carbonara.Timestamp, error) {
		t, err := field.Timestamp(now)
		if err != nil {
			return 0, field.Fault("not a valid value")
		}
		return t, nil
	}
	var err error
	web.Take(&err, fields, "started_at", &to.StartedAt, timestamp)
	web.Take(&err, fields, "ended_at", &to.EndedAt, web.Pointer(timestamp))
	web.Take(&err, fields, "user_id", &to.UserID, parseOwner)
	web.Take(&err, fields, "project_id", &to.ProjectID, parseOwner)
	if err != nil {
		return err
	}
	for _, attribute := range kind.Attributes {
		field, ok := fields[attribute.Name]
		if !ok {
			continue
		}
		value, err := attributeValue(field, attribute, now)
		if err != nil {
			return err
		}
		to.Attributes.Set(attribute.Name, value)
	}
	return nil
}

// parseOwner reads a user or a project, nil for none.
func parseOwner(field web.Node) (*string, error) {
	if field.Value == nil {
		return nil, nil
	}
	text, err := field.Text(255)
	if err != nil {
		return nil, field.Fault("not a valid value")
	}
	return &text, nil
}
