package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
)

// A resourceHandler answers for one resource that exists, and whose type the path names.
type resourceHandler func(w http.ResponseWriter, r *http.Request, who *auth.Identity, resource *model.Resource) error

// resourceHandlers serve resources, their history and their metrics.
type resourceHandlers struct{ *api }

// withResource finds the resource that the path names, for users whom the rule lets change it.
func (a *api) withResource(rule string, h resourceHandler) web.UserHandler {
	return a.withResourceFor(h, func(who *auth.Identity, resource *model.Resource) error {
		return a.Enforce(who, rule, web.ResourceTarget(resource))
	})
}

// readingResource finds the resource that the path names, if the user may read it.
func (a *api) readingResource(h resourceHandler) web.UserHandler {
	return a.withResourceFor(h, func(who *auth.Identity, resource *model.Resource) error {
		return a.EnforceRead(who, "get resource", resource)
	})
}

func (a *api) withResourceFor(h resourceHandler, check func(*auth.Identity, *model.Resource) error) web.UserHandler {
	return func(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
		resource, err := a.findResource(r, who)
		if err != nil {
			return err
		}
		if err := check(who, resource); err != nil {
			return err
		}
		return h(w, r, who, resource)
	}
}

// findResource returns the resource that the path names. The caller checks whether the user may see it.
func (a *api) findResource(r *http.Request, who *auth.Identity) (*model.Resource, error) {
	id, err := a.resourceID(r, who)
	if err != nil {
		return nil, err
	}
	return a.Index.Resource(web.Param(r, "type"), id)
}

// resourceID reads type and ID in the path.
func (a *api) resourceID(r *http.Request, who *auth.Identity) (uuid.UUID, error) {
	if _, err := a.Index.ResourceType(web.Param(r, "type")); err != nil {
		return uuid.Nil, err
	}
	text := web.Param(r, "id")
	id, err := model.ResourceID(text, who.User)
	if err != nil {
		return uuid.Nil, model.NotFound(model.NounResource, text)
	}
	return id, nil
}

// listTypes answers where the resources of each type are.
func (a resourceHandlers) listTypes(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	links := map[string]string{}
	for _, kind := range a.Index.ResourceTypes() {
		links[kind.Name] = a.BaseURL(r) + "/v1/resource/" + kind.Name
	}
	return web.WriteJSON(w, http.StatusOK, links)
}

func (a resourceHandlers) get(w http.ResponseWriter, r *http.Request, _ *auth.Identity,
	resource *model.Resource) error {
	notModified, err := checkPreconditions(r, resource)
	if err != nil {
		return err
	}
	setRevision(w, resource)
	if notModified {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return web.WriteJSON(w, http.StatusOK, showResource(asType(resource, web.Param(r, "type"))))
}

func (a resourceHandlers) delete(w http.ResponseWriter, r *http.Request, who *auth.Identity,
	resource *model.Resource) error {
	err := a.Index.DeleteResource(r.Context(), web.Param(r, "type"), resource.ID, func(current *model.Resource) error {
		if err := a.Enforce(who, "delete resource", web.ResourceTarget(current)); err != nil {
			return err
		}
		_, err := checkPreconditions(r, current)
		return err
	})
	return web.NoContent(w, err)
}

func (a resourceHandlers) create(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	kind, err := a.Index.ResourceType(web.Param(r, "type"))
	if err != nil {
		return err
	}
	body, err := a.DecodeBody(w, r)
	if err != nil {
		return err
	}
	resource, metrics, err := a.parse(r.Context(), web.Node{Value: body}, who, kind)
	if err != nil {
		return err
	}
	if err := a.Index.CreateResource(r.Context(), resource, metrics); err != nil {
		return refusedParts(err)
	}
	if created, err := a.Index.Resource(kind.Name, resource.ID); err == nil {
		resource = created // else it ended so long ago that it is deleted already
	}
	a.SetLocation(w, r, "resource", kind.Name, resource.ID.String())
	setRevision(w, resource)
	return web.WriteJSON(w, http.StatusCreated, showResource(resource))
}

// parse reads a new resource and its new metrics; existing ones that it gets stand in its Metrics.
func (a resourceHandlers) parse(ctx context.Context, body web.Node, who *auth.Identity,
	kind *model.ResourceType) (*model.Resource, []*model.Metric, error) {
	fields, err := body.Fields(append(resourceKeys(kind, ""), "id")...)
	if err != nil {
		return nil, nil, err
	}
	set := new(index.MetricSet)
	if field, ok := fields["metrics"]; ok { // Gnocchi's order: metrics before what is not there
		if set, err = a.parseMetricSet(ctx, field, who); err != nil {
			return nil, nil, err
		}
	}
	if fields, err = body.Fields(append(resourceKeys(kind, "*"), "id*")...); err != nil {
		return nil, nil, err
	}
	now := carbonara.FromTime(a.Now())
	resource := &model.Resource{Type: kind.Name, Creator: who.User, StartedAt: now, RevisionStart: now}
	if resource.OriginalID, err = fields["id"].Text(0); err != nil {
		return nil, nil, err
	}
	if resource.ID, err = model.ResourceID(resource.OriginalID, who.User); err != nil {
		return nil, nil, fields["id"].Fault("%s", err)
	}
	if err := parseAttributes(fields, kind, now, resource); err != nil {
		return nil, nil, err
	}
	resource.Metrics = set.Attach
	return resource, set.Create, nil
}

// search lists the resources that a filter matches, page by page.
func (a resourceHandlers) search(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	if _, err := a.Index.ResourceType(web.Param(r, "type")); err != nil {
		return err
	}
	e, err := a.RequestFilter(w, r)
	if err != nil {
		return err
	}
	return a.Evaluate(w, r, who, func(w http.ResponseWriter) error {
		return a.answerList(w, r, who, "search resource", e)
	})
}
