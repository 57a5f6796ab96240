package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/model"
)

// A resourceHandler answers for one resource that exists, and whose type the path names.
type resourceHandler func(w http.ResponseWriter, r *http.Request, who *Identity, resource *model.Resource) error

// withResource finds the resource that the path names, for its creator and admin.
func (a *api) withResource(h resourceHandler) userHandler {
	return func(w http.ResponseWriter, r *http.Request, who *Identity) error {
		resource, err := a.findResource(r, who)
		if err != nil {
			return err
		}
		if !who.Owns(resource.Creator) {
			return errForbidden
		}
		return h(w, r, who, resource)
	}
}

// findResource returns the resource that the path names. Who may see it is the caller's to check.
func (a *api) findResource(r *http.Request, who *Identity) (*model.Resource, error) {
	id, err := resourceID(r, who)
	if err != nil {
		return nil, err
	}
	return a.Index.Resource(param(r, "type"), id)
}

// resourceID reads type and ID in the path.
func resourceID(r *http.Request, who *Identity) (uuid.UUID, error) {
	if err := checkResourceType(param(r, "type")); err != nil {
		return uuid.Nil, err
	}
	text := param(r, "id")
	id, err := model.ResourceID(text, who.User)
	if err != nil {
		return uuid.Nil, model.NotFound(model.NounResource, text)
	}
	return id, nil
}

func checkResourceType(kind string) error {
	if kind != model.GenericType {
		return model.NotFound(model.NounResourceType, kind)
	}
	return nil
}

// resourceJSON is a resource as the API shows it.
type resourceJSON struct {
	ID                 uuid.UUID            `json:"id"`
	OriginalID         string               `json:"original_resource_id"`
	Type               string               `json:"type"`
	Creator            string               `json:"creator"`
	CreatedByUserID    string               `json:"created_by_user_id"`
	CreatedByProjectID string               `json:"created_by_project_id"`
	UserID             *string              `json:"user_id"`
	ProjectID          *string              `json:"project_id"`
	StartedAt          string               `json:"started_at"`
	EndedAt            *string              `json:"ended_at"`
	RevisionStart      string               `json:"revision_start"`
	RevisionEnd        *string              `json:"revision_end"`
	Metrics            map[string]uuid.UUID `json:"metrics,omitzero"`
}

func showResource(r *model.Resource) *resourceJSON {
	user, project, _ := strings.Cut(r.Creator, ":")
	shown := &resourceJSON{
		ID: r.ID, OriginalID: r.OriginalID, Type: r.Type,
		Creator: r.Creator, CreatedByUserID: user, CreatedByProjectID: project,
		UserID: r.UserID, ProjectID: r.ProjectID,
		StartedAt: showTime(r.StartedAt), EndedAt: showTimeOrNull(r.EndedAt),
		RevisionStart: showTime(r.RevisionStart), RevisionEnd: showTimeOrNull(r.RevisionEnd),
		Metrics: r.Metrics,
	}
	if shown.Metrics == nil {
		shown.Metrics = map[string]uuid.UUID{}
	}
	return shown
}

// showTime writes t as resources do: to the microsecond, without a fraction if that is zero.
func showTime(t carbonara.Timestamp) string {
	layout := "2006-01-02T15:04:05.000000+00:00"
	if t%carbonara.Timestamp(time.Second) < carbonara.Timestamp(time.Microsecond) {
		layout = "2006-01-02T15:04:05+00:00"
	}
	return t.Time().Format(layout)
}

func showTimeOrNull(t *carbonara.Timestamp) *string {
	if t == nil {
		return nil
	}
	text := showTime(*t)
	return &text
}

// listResourceTypes answers where the resources of each type are.
func (a *api) listResourceTypes(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]string{model.GenericType: a.baseURL(r) + "/v1/resource/" + model.GenericType})
}

func (a *api) listResources(w http.ResponseWriter, r *http.Request) error {
	kind := param(r, "type")
	if err := checkResourceType(kind); err != nil {
		return err
	}
	query := r.URL.Query()
	p, err := a.parsePage(query, "id:asc")
	if err != nil {
		return err
	}
	var marker uuid.UUID
	if p.marker != "" {
		if marker, err = model.ParseUUID(p.marker); err != nil {
			return badPagination("Invalid marker: `" + p.marker + "'")
		}
	}
	resources, err := a.Index.ListResources(r.Context(), p.limit, marker)
	if err != nil {
		return err
	}
	shown := make([]*resourceJSON, len(resources))
	for i, resource := range resources {
		shown[i] = showResource(resource)
	}
	if len(shown) > 0 && len(shown) >= p.limit {
		a.setLink(w, r, query, p, shown[len(shown)-1].ID.String())
	}
	return writeJSON(w, http.StatusOK, shown)
}

func (a *api) getResource(w http.ResponseWriter, _ *http.Request, _ *Identity, resource *model.Resource) error {
	setRevision(w, resource)
	return writeJSON(w, http.StatusOK, showResource(resource))
}

func (a *api) deleteResource(w http.ResponseWriter, r *http.Request, _ *Identity, resource *model.Resource) error {
	if err := a.Index.DeleteResource(r.Context(), resource.ID); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *api) createResource(w http.ResponseWriter, r *http.Request, who *Identity) error {
	kind := param(r, "type")
	if err := checkResourceType(kind); err != nil {
		return err
	}
	body, err := a.decodeBody(w, r)
	if err != nil {
		return err
	}
	now := carbonara.FromTime(a.Now())
	resource, metrics, err := a.parseResource(input{value: body}, who, now)
	if err != nil {
		return err
	}
	resource.Type, resource.RevisionStart = kind, now
	if err := a.Index.CreateResource(r.Context(), resource, metrics); err != nil {
		if errors.Is(err, model.ErrNotFound) { // a metric or an archive policy that the body names
			return refused(err)
		}
		return err
	}
	if resource, err = a.Index.Resource(kind, resource.ID); err != nil {
		return err
	}
	a.setLocation(w, r, "resource", kind, resource.ID.String())
	setRevision(w, resource)
	return writeJSON(w, http.StatusCreated, showResource(resource))
}

// parseResource reads a new resource and its new metrics; existing ones that it gets stand in its Metrics.
func (a *api) parseResource(body input, who *Identity, now carbonara.Timestamp) (*model.Resource, []*model.Metric, error) {
	fail := func(err error) (*model.Resource, []*model.Metric, error) { return nil, nil, err }
	fields, err := body.fields("id*", "started_at", "ended_at", "user_id", "project_id", "metrics")
	if err != nil {
		return fail(err)
	}
	resource := &model.Resource{Creator: who.User, StartedAt: now}
	if resource.OriginalID, err = fields["id"].textOrNumber(); err != nil {
		return fail(err)
	}
	if resource.ID, err = model.ResourceID(resource.OriginalID, who.User); err != nil {
		return fail(fields["id"].fault("%s", err))
	}
	if field, ok := fields["started_at"]; ok {
		if resource.StartedAt, err = field.timestamp(now); err != nil {
			return fail(err)
		}
	}
	if field, ok := fields["ended_at"]; ok {
		endedAt, err := field.timestamp(now)
		if err != nil {
			return fail(err)
		}
		resource.EndedAt = &endedAt
	}
	for key, to := range map[string]**string{"user_id": &resource.UserID, "project_id": &resource.ProjectID} {
		if field, ok := fields[key]; ok && field.value != nil {
			text, err := field.text(255)
			if err != nil {
				return fail(err)
			}
			*to = &text
		}
	}
	var metrics []*model.Metric
	if field, ok := fields["metrics"]; ok {
		if metrics, resource.Metrics, err = a.parseNamedMetrics(field, who, resource.ID); err != nil {
			return fail(err)
		}
	}
	return resource, metrics, nil
}

// timestamp returns a point in time, in any form that measures take.
func (in input) timestamp(now carbonara.Timestamp) (carbonara.Timestamp, error) {
	text, err := in.textOrNumber()
	if err != nil {
		return 0, err
	}
	t, err := model.ParseTimestamp(text, now)
	if err != nil {
		return 0, in.fault("%s", err)
	}
	return t, nil
}

// textOrNumber returns a string, or a number as it was written.
func (in input) textOrNumber() (string, error) {
	if number, ok := in.value.(json.Number); ok {
		return number.String(), nil
	}
	return in.text(0)
}
